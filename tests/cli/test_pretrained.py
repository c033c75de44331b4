# SPDX-License-Identifier: MIT
"""Folders as Hugging Face's save_pretrained writes them: their outputs against the published formulas in plain Python."""

import io
import json
import math
import pickle
import random
import struct
import sys
import types
import unittest
import zipfile
from collections import OrderedDict

import paceline_cli as cli
from transformer_files import safetensors

LAYERS, WIDTH, HEADS, INNER, VOCABULARY, POSITIONS, LABELS = 2, 8, 2, 12, 20, 9, 3
IMAGE, PATCH, CHANNELS = 8, 4, 3
QUICK = ["--iterations", "3", "--repetitions", "1", "--accuracy-samples", "2", "--batch", "2", *cli.QUICK]
TOLERANCE = 1e-4

BERT = {"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": LAYERS, "hidden_size": WIDTH, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-3,
        "hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False, "classifier_dropout": None, "pad_token_id": 0}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2Model"], "n_layer": LAYERS, "n_embd": WIDTH, "n_head": HEADS, "n_inner": None,
        "vocab_size": VOCABULARY, "n_positions": POSITIONS, "layer_norm_epsilon": 1e-3, "activation_function": "gelu_new"}
VIT = {"model_type": "vit", "architectures": ["ViTModel"], "num_hidden_layers": LAYERS, "hidden_size": WIDTH, "num_attention_heads": HEADS,
       "intermediate_size": INNER, "image_size": IMAGE, "patch_size": PATCH, "num_channels": CHANNELS, "layer_norm_eps": 1e-3,
       "hidden_act": "gelu", "qkv_bias": True, "id2label": {str(i): f"label {i}" for i in range(LABELS)}}


def linear_names(name, out, into):
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def norm_names(name):
    return {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}


def bert_shapes(prefix=""):
    shapes = {f"{prefix}embeddings.{n}_embeddings.weight": (rows, WIDTH)
              for n, rows in (("word", VOCABULARY), ("position", POSITIONS), ("token_type", 2))}
    shapes |= norm_names(f"{prefix}embeddings.LayerNorm")
    for i in range(LAYERS):
        layer = f"{prefix}encoder.layer.{i}"
        for part in ("query", "key", "value"):
            shapes |= linear_names(f"{layer}.attention.self.{part}", WIDTH, WIDTH)
        shapes |= linear_names(f"{layer}.attention.output.dense", WIDTH, WIDTH) | norm_names(f"{layer}.attention.output.LayerNorm")
        shapes |= linear_names(f"{layer}.intermediate.dense", INNER, WIDTH) | linear_names(f"{layer}.output.dense", WIDTH, INNER)
        shapes |= norm_names(f"{layer}.output.LayerNorm")
    return shapes | linear_names(f"{prefix}pooler.dense", WIDTH, WIDTH)


def gpt2_shapes(prefix=""):
    shapes = {f"{prefix}wte.weight": (VOCABULARY, WIDTH), f"{prefix}wpe.weight": (POSITIONS, WIDTH)}
    for i in range(LAYERS):
        layer = f"{prefix}h.{i}"
        for name, into, out in (("attn.c_attn", WIDTH, 3 * WIDTH), ("attn.c_proj", WIDTH, WIDTH), ("mlp.c_fc", WIDTH, 4 * WIDTH),
                                ("mlp.c_proj", 4 * WIDTH, WIDTH)):
            shapes |= {f"{layer}.{name}.weight": (into, out), f"{layer}.{name}.bias": (out,)}
        shapes |= norm_names(f"{layer}.ln_1") | norm_names(f"{layer}.ln_2")
    return shapes | norm_names(f"{prefix}ln_f")


def vit_shapes(prefix=""):
    shapes = {f"{prefix}embeddings.cls_token": (1, 1, WIDTH), f"{prefix}embeddings.position_embeddings": (1, (IMAGE // PATCH) ** 2 + 1, WIDTH),
              f"{prefix}embeddings.patch_embeddings.projection.weight": (WIDTH, CHANNELS, PATCH, PATCH),
              f"{prefix}embeddings.patch_embeddings.projection.bias": (WIDTH,)}
    for i in range(LAYERS):
        layer = f"{prefix}encoder.layer.{i}"
        for part in ("query", "key", "value"):
            shapes |= linear_names(f"{layer}.attention.attention.{part}", WIDTH, WIDTH)
        shapes |= linear_names(f"{layer}.attention.output.dense", WIDTH, WIDTH) | linear_names(f"{layer}.intermediate.dense", INNER, WIDTH)
        shapes |= linear_names(f"{layer}.output.dense", WIDTH, INNER)
        shapes |= norm_names(f"{layer}.layernorm_before") | norm_names(f"{layer}.layernorm_after")
    return shapes | norm_names(f"{prefix}layernorm")


def size(shape):
    return math.prod(shape)


def random_tensors(shapes, seed=1):
    """name: (shape, values); norms around 1, so that nothing vanishes."""
    draw = random.Random(seed)
    return {name: (shape, [draw.uniform(-0.6, 0.6) + ("norm" in name.lower() or ".ln_" in name) * name.endswith("weight") for _ in range(size(shape))])
            for name, shape in shapes.items()}


def npz(path):
    """name: (shape, values) of float32 and int64 arrays."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            length = struct.unpack("<H", content[8:10])[0]
            header = content[10:10 + length].decode()
            shape = tuple(int(w) for w in header.split("'shape': (")[1].split(")")[0].split(",") if w.strip())
            code, width = ("q", 8) if "i8" in header else ("f", 4)
            data = content[10 + length:]
            found[name.removesuffix(".npy")] = shape, list(struct.unpack(f"<{len(data) // width}{code}", data))
    return found


class Reference:
    """The published formulas on lists of rows; `t`: tensors of the file without their prefix."""

    def __init__(self, tensors, prefix, eps=1e-3, tanh=False):
        self.t = {name.removeprefix(prefix): value for name, value in tensors.items()}
        self.eps, self.tanh = eps, tanh

    def rows(self, name):
        shape, values = self.t[name]
        wide = size(shape[1:])
        return [values[i:i + wide] for i in range(0, len(values), wide)]

    def linear(self, x, name):
        weight, bias = self.rows(f"{name}.weight"), self.t[f"{name}.bias"][1]
        return [[sum(a * b for a, b in zip(row, w)) + c for w, c in zip(weight, bias)] for row in x]

    def conv1d(self, x, name):
        """GPT-2's layer, whose weight is stored the other way round."""
        columns = list(zip(*self.rows(f"{name}.weight")))
        return [[sum(a * b for a, b in zip(row, w)) + c for w, c in zip(columns, self.t[f"{name}.bias"][1])] for row in x]

    def norm(self, x, name):
        weight, bias = self.t[f"{name}.weight"][1], self.t[f"{name}.bias"][1]
        out = []
        for row in x:
            mean = sum(row) / len(row)
            deviation = math.sqrt(sum((v - mean) ** 2 for v in row) / len(row) + self.eps)
            out.append([(v - mean) / deviation * w + b for v, w, b in zip(row, weight, bias)])
        return out

    def gelu(self, x):
        exact = lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2)))
        approximate = lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))
        return [[(approximate if self.tanh else exact)(v) for v in row] for row in x]

    @staticmethod
    def attention(query, key, value, seen):
        """`seen(i, j)`: whether token i may look at token j."""
        each = WIDTH // HEADS
        out = [[0.0] * WIDTH for _ in query]
        for begin in range(0, WIDTH, each):
            part = slice(begin, begin + each)
            for i, q in enumerate(query):
                scores = [sum(a * b for a, b in zip(q[part], k[part])) / math.sqrt(each) if seen(i, j) else -math.inf for j, k in enumerate(key)]
                weights = [math.exp(s - max(scores)) for s in scores]
                for c in range(begin, begin + each):
                    out[i][c] = sum(w * v[c] for w, v in zip(weights, value)) / sum(weights)
        return out

    def bert(self, ids, mask):
        words, places, kinds = (self.rows(f"embeddings.{n}_embeddings.weight") for n in ("word", "position", "token_type"))
        x = self.norm([add(add(words[t], places[i]), kinds[0]) for i, t in enumerate(ids)], "embeddings.LayerNorm")
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}"
            q, k, v = (self.linear(x, f"{layer}.attention.self.{part}") for part in ("query", "key", "value"))
            mixed = self.linear(self.attention(q, k, v, lambda _, j: mask[j]), f"{layer}.attention.output.dense")
            x = self.norm(add_rows(mixed, x), f"{layer}.attention.output.LayerNorm")
            down = self.linear(self.gelu(self.linear(x, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
            x = self.norm(add_rows(down, x), f"{layer}.output.LayerNorm")
        return x

    def pooled(self, x):
        return [[math.tanh(v) for v in row] for row in self.linear(x[:1], "pooler.dense")]

    def masked_lm(self, x):
        x = self.norm(self.gelu(self.linear(x, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
        words, bias = self.rows("embeddings.word_embeddings.weight"), self.t["cls.predictions.bias"][1]
        return [[sum(a * b for a, b in zip(row, w)) + c for w, c in zip(words, bias)] for row in x]

    def gpt2(self, ids):
        x = [add(self.rows("wte.weight")[t], self.rows("wpe.weight")[i]) for i, t in enumerate(ids)]
        for i in range(LAYERS):
            layer = f"h.{i}"
            joined = self.conv1d(self.norm(x, f"{layer}.ln_1"), f"{layer}.attn.c_attn")
            q, k, v = ([row[n * WIDTH:(n + 1) * WIDTH] for row in joined] for n in range(3))
            x = add_rows(x, self.conv1d(self.attention(q, k, v, lambda i, j: j <= i), f"{layer}.attn.c_proj"))
            up = self.gelu(self.conv1d(self.norm(x, f"{layer}.ln_2"), f"{layer}.mlp.c_fc"))
            x = add_rows(x, self.conv1d(up, f"{layer}.mlp.c_proj"))
        return self.norm(x, "ln_f")

    def next_tokens(self, x):
        return [[sum(a * b for a, b in zip(row, w)) for w in self.rows("wte.weight")] for row in x]

    def vit(self, image):
        """`image`: channels x height x width, flat."""
        filters, bias = self.rows("embeddings.patch_embeddings.projection.weight"), self.t["embeddings.patch_embeddings.projection.bias"][1]
        x = [self.t["embeddings.cls_token"][1]]
        for top in range(0, IMAGE, PATCH):
            for left in range(0, IMAGE, PATCH):
                patch = [image[(c * IMAGE + top + dy) * IMAGE + left + dx] for c in range(CHANNELS) for dy in range(PATCH) for dx in range(PATCH)]
                x.append([sum(a * b for a, b in zip(patch, f)) + c for f, c in zip(filters, bias)])
        places = self.t["embeddings.position_embeddings"][1]
        x = [add(row, places[i * WIDTH:(i + 1) * WIDTH]) for i, row in enumerate(x)]
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}"
            before = self.norm(x, f"{layer}.layernorm_before")
            q, k, v = (self.linear(before, f"{layer}.attention.attention.{part}") for part in ("query", "key", "value"))
            x = add_rows(x, self.linear(self.attention(q, k, v, lambda i, j: True), f"{layer}.attention.output.dense"))
            up = self.gelu(self.linear(self.norm(x, f"{layer}.layernorm_after"), f"{layer}.intermediate.dense"))
            x = add_rows(x, self.linear(up, f"{layer}.output.dense"))
        return self.norm(x, "layernorm")


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def add_rows(a, b):
    return [add(x, y) for x, y in zip(a, b)]


class Storage:
    """The numbers of a tensor, which torch.save keeps beside the pickle."""

    def __init__(self, key, count):
        self.key, self.count = key, count


class Stored:
    def __init__(self, storage, shape):
        self.storage, self.shape = storage, shape

    def __reduce__(self):
        strides = tuple(size(self.shape[i + 1:]) for i in range(len(self.shape)))
        return sys.modules["torch._utils"]._rebuild_tensor_v2, (self.storage, 0, tuple(self.shape), strides, False, OrderedDict())


class TorchPickler(pickle.Pickler):
    def persistent_id(self, obj):
        kind = sys.modules["torch"].FloatStorage
        return ("storage", kind, obj.key, "cpu", obj.count) if isinstance(obj, Storage) else None


def torch_save(tensors):
    """Writes a state_dict as torch.save does, without PyTorch."""
    def _rebuild_tensor_v2():
        pass
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    torch._utils, utils._rebuild_tensor_v2 = utils, _rebuild_tensor_v2
    sys.modules |= {"torch": torch, "torch._utils": utils}
    try:
        state = OrderedDict((name, Stored(Storage(str(i), len(values)), shape)) for i, (name, (shape, values)) in enumerate(tensors.items()))
        content, pickled = io.BytesIO(), io.BytesIO()
        TorchPickler(pickled, protocol=2).dump(state)
        with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("archive/data.pkl", pickled.getvalue())
            for i, (shape, values) in enumerate(tensors.values()):
                archive.writestr(f"archive/data/{i}", struct.pack(f"<{len(values)}f", *values))
            archive.writestr("archive/version", "3\n")
        return content.getvalue()
    finally:
        del sys.modules["torch"], sys.modules["torch._utils"]


class Pretrained(cli.CliTest):
    def model(self, name, config, tensors):
        self.write(f"{name}/config.json", json.dumps(config))
        (self.folder / name / "model.safetensors").write_bytes(safetensors(tensors))
        return name

    def bert(self, name="bert-small", architecture="BertModel", prefix="", extra=None, config=()):
        tensors = random_tensors(bert_shapes(prefix) | (extra or {}))
        return self.model(name, BERT | {"architectures": [architecture]} | dict(config), tensors), tensors

    def gpt2(self, name="gpt2-small", architecture="GPT2Model", prefix="", config=()):
        tensors = random_tensors(gpt2_shapes(prefix))
        return self.model(name, GPT2 | {"architectures": [architecture]} | dict(config), tensors), tensors

    def vit(self, name="vit-small", architecture="ViTModel", prefix="", extra=None, config=()):
        tensors = random_tensors(vit_shapes(prefix) | (extra or {}))
        return self.model(name, VIT | {"architectures": [architecture]} | dict(config), tensors), tensors

    def run_model(self, *arguments, out="out", tokens=5):
        length = ["--sequence-length", tokens] if tokens else []
        result = self.run_cli("infer", *arguments, *length, *QUICK, "--dump-outputs", f"{out}-dump", "-o", out)
        self.assert_code(result, 0)
        case = self.summary(self.only_run(out))["cases"][0]
        self.assertEqual((case["outcome"], case["correctness"]["passed"]), ("ok", True), case)
        return case

    def samples(self, out="out"):
        """(inputs by name, outputs) of each sample that was dumped."""
        found = []
        for file in sorted(self.folder.glob(f"{out}-dump/*/outputs-*.npz")):
            inputs, outputs = npz(file.with_name(file.name.replace("outputs", "inputs"))), list(npz(file).values())
            self.assertEqual(len(outputs), 1)
            shape, values = outputs[0]
            for i in range(shape[0]):
                each = {name: v[i * len(v) // s[0]:(i + 1) * len(v) // s[0]] for name, (s, v) in inputs.items()}
                found.append((each, (shape[1:], values[i * size(shape[1:]):(i + 1) * size(shape[1:])])))
        self.assertTrue(found)
        return found

    def assert_equal_to(self, expected, out="out"):
        """`expected` makes rows from the inputs of one sample."""
        for inputs, (shape, values) in self.samples(out):
            rows = expected(inputs)
            self.assertEqual(size(shape), sum(map(len, rows)))
            wanted = [v for row in rows for v in row]
            self.assertGreater(max(map(abs, wanted)), 0.1)
            self.assertLess(max(abs(a - b) for a, b in zip(values, wanted)), TOLERANCE)

    def test_bert_hidden_states(self):
        name, tensors = self.bert()
        case = self.run_model("--model", name)
        self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]))
        self.assertTrue(case["case_id"].startswith("bert-small"), case["case_id"])
        said = case["effective_settings"]
        self.assertEqual(said["weights_left_out"], "pooler.dense.bias, pooler.dense.weight")
        pooler = WIDTH * WIDTH + WIDTH
        self.assertEqual(int(said["parameters"]), sum(size(s) for s, _ in tensors.values()) - pooler)
        tokens = 5
        macs = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER) * tokens + LAYERS * 2 * tokens * tokens * WIDTH
        self.assertEqual(case["flops"]["model_flops_per_item"], 2 * macs)

    def test_tokens_that_are_masked_are_not_seen(self):
        name, tensors = self.bert()
        ids, mask = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 0]], [[1, 1, 1, 0, 0], [1, 0, 1, 1, 1]]
        for word, rows in (("ids", ids), ("mask", mask)):
            header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 5), }"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<10q", *sum(rows, []))
            (self.folder / f"{word}.npy").write_bytes(data)
        self.run_model("--model", name, "--load-inputs", "input_ids:ids.npy,attention_mask:mask.npy")
        self.assertEqual(sorted(i["attention_mask"] for i, _ in self.samples()), sorted(mask))
        self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]))

    def test_bert_with_its_heads(self):
        classifier = linear_names("classifier", LABELS, WIDTH)
        scores = linear_names("cls.predictions.transform.dense", WIDTH, WIDTH) | norm_names("cls.predictions.transform.LayerNorm")
        scores |= {"cls.predictions.bias": (VOCABULARY,), "cls.seq_relationship.weight": (2, WIDTH)}
        labels = {"id2label": {str(i): str(i) for i in range(LABELS)}}
        cases = (("BertForMaskedLM", scores, {"hidden_act": "gelu_new"}, lambda r, x: r.masked_lm(x)),
                 ("BertForSequenceClassification", classifier, labels, lambda r, x: r.linear(r.pooled(x), "classifier")),
                 ("BertForTokenClassification", classifier, labels, lambda r, x: r.linear(x, "classifier")))
        for architecture, extra, config, head in cases:
            with self.subTest(architecture):
                name, tensors = self.bert(architecture, architecture, "bert.", extra, config)
                self.run_model("--model", name, out=architecture)
                r = Reference(tensors, "bert.", tanh=architecture == "BertForMaskedLM")
                self.assert_equal_to(lambda i, r=r, head=head: head(r, r.bert(i["input_ids"], i["attention_mask"])), architecture)

    def test_norms_of_older_files_are_named_gamma_and_beta(self):
        _, tensors = self.bert()
        older = {n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v for n, v in tensors.items()}
        self.run_model("--model", self.model("older", BERT, older))
        self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]))

    def test_gpt2(self):
        for architecture, prefix in (("GPT2Model", ""), ("GPT2LMHeadModel", "transformer.")):
            with self.subTest(architecture):
                name, tensors = self.gpt2(architecture, architecture, prefix)
                self.run_model("--model", name, out=architecture)
                r = Reference(tensors, prefix, tanh=True)
                head = r.next_tokens if prefix else lambda x: x
                self.assert_equal_to(lambda i, r=r, head=head: head(r.gpt2(i["input_ids"])), architecture)

    def test_vit(self):
        for architecture, prefix, extra in (("ViTModel", "", linear_names("pooler.dense", WIDTH, WIDTH)),
                                            ("ViTForImageClassification", "vit.", linear_names("classifier", LABELS, WIDTH))):
            with self.subTest(architecture):
                name, tensors = self.vit(architecture, architecture, prefix, extra)
                self.run_model("--model", name, out=architecture, tokens=None)
                r = Reference(tensors, prefix)
                head = (lambda x, r=r: r.linear(x[:1], "classifier")) if prefix else (lambda x: x)
                self.assert_equal_to(lambda i, r=r, head=head: head(r.vit(i["pixel_values"])), architecture)

    def test_a_folder_with_the_name_of_a_built_in_model_is_asked_about(self):
        folder = self.gpt2("gpt2")[0]
        self.assertEqual(folder, "gpt2")
        self.assert_error(self.run_cli("infer", "--model", "gpt2", *QUICK), 2, "built-in model and a folder", "./gpt2")
        self.run_model("--model", "./gpt2")

    def test_a_family_takes_the_config_beside_its_weights(self):
        for name, tensors, family, run in ((*self.bert(), "bert", lambda r, i: r.bert(i["input_ids"], i["attention_mask"])),
                                           (*self.gpt2(), "gpt2", lambda r, i: r.gpt2(i["input_ids"]))):
            with self.subTest(family):
                case = self.run_model("--model", family, "--weights", f"{name}/model.safetensors", "--engine", "torchscript", out=family)
                self.assert_equal_to(lambda i, t=tensors, run=run: run(Reference(t, "", tanh=family == "gpt2"), i), family)
                self.assertIn(name, case["case_id"])

    def test_other_engines_get_it_as_a_file(self):
        for engine in ("onnxruntime", "openvino"):
            for name, tensors, run, tokens in (
                    (*self.bert(), lambda r, i: r.bert(i["input_ids"], i["attention_mask"]), 5), (*self.gpt2(), lambda r, i: r.gpt2(i["input_ids"]), 5),
                    (*self.vit(), lambda r, i: r.vit(i["pixel_values"]), None)):
                with self.subTest(engine=engine, model=name):
                    out = f"{engine}-{name}"
                    self.run_model("--model", name, "--engine", engine, out=out, tokens=tokens)
                    self.assert_equal_to(lambda i, t=tensors, run=run: run(Reference(t, "", tanh="input_ids" in i and len(i) == 1), i), out)

    def test_export_writes_it_as_a_file(self):
        name, tensors = self.gpt2(architecture="GPT2LMHeadModel", prefix="transformer.")
        done = self.run_cli("export", "--model", name, "--out", "gpt2.onnx", "--dynamic-batch", "--sequence-length", "5", "--json")
        self.assert_code(done, 0)
        self.assertEqual(json.loads(done.out)["inputs"], "input_ids:Nx5:int64")
        self.assertNotIn(str(self.folder).encode(), (self.folder / "gpt2.onnx").read_bytes())
        case = self.run_model("--model", "gpt2.onnx", "--accuracy-reference", "onnxruntime", tokens=None)
        self.assertEqual(case["outcome"], "ok")
        r = Reference(tensors, "transformer.", tanh=True)
        inputs, (_, values) = self.samples()[0]
        self.assertLess(max(inputs["input_ids"]), VOCABULARY)
        wanted = [v for row in r.next_tokens(r.gpt2(inputs["input_ids"])) for v in row]
        self.assertLess(max(abs(a - b) for a, b in zip(values, wanted, strict=True)), TOLERANCE)

    def refused(self, *arguments, words, code=2):
        result = self.run_cli("infer", *arguments, *QUICK, "-o", "refused")
        self.assert_error(result, code, *words)
        self.assert_nothing_ran("refused")

    def test_unsupported_settings_are_named(self):
        cases = (("bert", {"hidden_act": "silu"}, ["hidden_act", '"silu"', "gelu"]),
                 ("bert", {"position_embedding_type": "relative_key"}, ["position_embedding_type", "absolute"]),
                 ("bert", {"is_decoder": True}, ["is_decoder is true"]),
                 ("bert", {"architectures": ["BertForQuestionAnswering"]}, ["BertForQuestionAnswering", "BertForMaskedLM"]),
                 ("bert", {"architectures": ["BertForMaskedLM"], "tie_word_embeddings": False}, ["tie_word_embeddings is false"]),
                 ("bert", {"model_type": "deberta"}, ["deberta", "bert, gpt2, vit", "optimum-cli"]),
                 ("bert", {"model_type": None}, ["no model_type", "optimum-cli"]),
                 ("bert", {"num_attention_heads": 3}, ["hidden_size 8 is not a multiple of num_attention_heads 3"]),
                 ("bert", {"num_hidden_layers": "2"}, ['num_hidden_layers is "2"']),
                 ("bert", {"hidden_size": -8}, ["hidden_size is -8"]),
                 ("bert", {"vocab_size": 1e30}, ["vocab_size is 1e+30"]),
                 ("bert", {"layer_norm_eps": 0}, ["layer_norm_eps is 0"]),
                 ("bert", {"quantization_config": {"bits": 4}}, ["quantization_config"]),
                 ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, ["scale_attn_by_inverse_layer_idx"]),
                 ("gpt2", {"activation_function": "relu"}, ["activation_function", "relu"]),
                 ("vit", {"qkv_bias": False}, ["qkv_bias is false"]), ("vit", {"patch_size": 3}, ["image_size 8 is not a multiple of patch_size 3"]))
        for family, config, words in cases:
            with self.subTest(config):
                name, _ = getattr(self, family)("bad", config=config)
                self.refused("--model", name, words=["'bad'", "config.json", *words])

    def test_a_config_that_is_no_json(self):
        for text in ("", "{", "[1]", "\x00", '{"model_type": "bert"'):
            with self.subTest(repr(text)):
                self.write("bad/config.json", text)
                self.refused("--model", "bad", words=["bad/config.json", "not a JSON object"])

    def test_a_folder_without_weights(self):
        self.write("empty/config.json", json.dumps(BERT))
        self.refused("--model", "empty", words=["no model.safetensors", "save_pretrained"])
        _, tensors = self.bert("full")
        self.run_model("--model", "empty", "--weights", "full/model.safetensors")
        self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]))

    def test_weights_in_parts_are_put_together(self):
        name, tensors = self.bert()
        (self.folder / name / "model.safetensors").unlink()
        parts = [dict(list(tensors.items())[i::2]) for i in range(2)]
        names = [f"model-0000{i + 1}-of-00002.safetensors" for i in range(2)]
        for part, file in zip(parts, names):
            (self.folder / name / file).write_bytes(safetensors(part))
        index = {"metadata": {}, "weight_map": {tensor: file for part, file in zip(parts, names) for tensor in part}}
        self.write(f"{name}/model.safetensors.index.json", json.dumps(index))
        for engine in ("eager", "onnxruntime"):
            with self.subTest(engine=engine):
                self.run_model("--model", name, "--engine", engine, out=engine)
                self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]), engine)
        for change, words in (({"weight_map": {"a": "../x"}}, "no file beside it"), ([], "no weight_map"),
                              ({"weight_map": index["weight_map"] | {"a": names[0]}}, "but that file does not contain it")):
            with self.subTest(words):
                self.write(f"{name}/model.safetensors.index.json", json.dumps(change))
                self.assert_code(self.run_cli("infer", "--model", name, *QUICK, "-o", words[:5]), 2)
                self.assertIn(words, self.summary(self.only_run(words[:5]))["cases"][0]["reason"])
        self.write(f"{name}/model.safetensors.index.json", json.dumps(index))
        (self.folder / name / names[1]).unlink()
        self.assert_code(self.run_cli("infer", "--model", name, *QUICK, "-o", "gone"), 2)
        self.assertIn(names[1], self.summary(self.only_run("gone"))["cases"][0]["reason"])

    def test_pytorch_model_bin_is_read(self):
        name, tensors = self.bert()
        (self.folder / name / "model.safetensors").unlink()
        (self.folder / name / "pytorch_model.bin").write_bytes(torch_save(tensors))
        self.run_model("--model", name)
        self.assert_equal_to(lambda i: Reference(tensors, "").bert(i["input_ids"], i["attention_mask"]))

    def test_a_pickle_that_is_no_archive_is_named_with_the_way_out(self):
        name, _ = self.bert()
        (self.folder / name / "model.safetensors").unlink()
        (self.folder / name / "pytorch_model.bin").write_bytes(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.")
        self.assert_code(self.run_cli("infer", "--model", name, *QUICK, "-o", "old"), 2)
        reason = self.summary(self.only_run("old"))["cases"][0]["reason"]
        self.assertIn("before PyTorch 1.6", reason)
        self.assertIn("torch.save(torch.load(", reason)

    def test_a_family_without_a_config(self):
        self.write("plain.safetensors", "")
        self.refused("--model", "bert", words=["'bert'", "config.json beside its weights"])
        self.refused("--model", "vit", "--weights", "plain.safetensors", words=["'plain.safetensors' has none beside it"])
        self.gpt2("other")
        self.refused("--model", "bert", "--weights", "other/model.safetensors", words=["that of a gpt2"])

    def test_weights_that_do_not_fit_are_named(self):
        _, tensors = self.bert()
        _, images = self.vit()
        name = "encoder.layer.1.output.dense.weight"
        query = "encoder.layer.0.attention.attention.query.weight"
        cases = ((BERT, {n: v for n, v in tensors.items() if n != name}, f"lack {name}"),
                 (BERT, tensors | {name: ((INNER, WIDTH), tensors[name][1])}, f"{name} is [12,8] in the file, the model needs [8,12]"),
                 (BERT, tensors | {"adapter.weight": ((1,), [0.0])}, "contain adapter.weight"),
                 (BERT | {"num_hidden_layers": LAYERS + 1}, tensors, "lack encoder.layer.2."),
                 (VIT, {n: v for n, v in images.items() if n != query}, f"lack {query}"),
                 (VIT, images | {query: ((4, WIDTH), images[query][1][:32])}, f"{query} is [4,8] in the file, the model needs [8,8]"))
        for number, (config, content, words) in enumerate(cases):
            with self.subTest(words):
                self.model("bad", config, content)
                self.assert_code(self.run_cli("infer", "--model", "bad", *QUICK, "-o", f"out{number}"), 2)
                self.assertIn(words, self.summary(self.only_run(f"out{number}"))["cases"][0]["reason"])

    def test_training_takes_built_in_models(self):
        name, _ = self.bert()
        result = self.run_cli("train", "--model", name, "--steps", "1")
        self.assertNotEqual(result.code, 0)
        self.assertIn("training takes the built-in models", result.out + result.err)


if __name__ == "__main__":
    unittest.main()
