# SPDX-License-Identifier: MIT
"""Transformers with random weights, as files: a folder as save_pretrained writes it, and ONNX files in the operators that PyTorch's exporter
writes for an encoder (operator set 12) and a decoder (17). No package but the standard library is needed."""

import dataclasses
import json
import math
import random
import struct

import onnx_files as of


@dataclasses.dataclass
class Size:
    layers: int = 2
    width: int = 32
    heads: int = 4
    words: int = 50
    tokens: int = 8
    labels: int = 12


def safetensors(tensors):
    """tensors: name: (shape, values)."""
    header, data = {"__metadata__": {"format": "pt"}}, []
    begin = 0
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, begin + 4 * len(values)]}
        begin += 4 * len(values)
        data.append(struct.pack(f"<{len(values)}f", *values))
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(data)


def write_integers(file, size, rows, values):
    """An integer a token as a NumPy file."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({rows}, {size.tokens}), }}".ljust(117) + "\n"
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}q", *values))


def write_ids(file, size, rows, seed):
    """Random tokens."""
    draw = random.Random(seed)
    write_integers(file, size, rows, [draw.randrange(size.words) for _ in range(rows * size.tokens)])


def write_mask(file, size, rows):
    """Nothing is masked."""
    write_integers(file, size, rows, [1] * (rows * size.tokens))


def write_bert_folder(folder, size, seed=1):
    draw, tensors = random.Random(seed), {}

    def values(name, *shape, scale, middle=0.0):
        tensors[name] = (shape, [draw.gauss(middle, scale) for _ in range(math.prod(shape))])

    def linear(name, out, into):
        values(f"{name}.weight", out, into, scale=1 / math.sqrt(into))
        values(f"{name}.bias", out, scale=0.1)

    def norm(name):
        values(f"{name}.weight", size.width, scale=0.1, middle=1.0)
        values(f"{name}.bias", size.width, scale=0.1)

    for table, rows in (("word", size.words), ("position", size.tokens), ("token_type", 2)):
        values(f"embeddings.{table}_embeddings.weight", rows, size.width, scale=1)
    norm("embeddings.LayerNorm")
    for i in range(size.layers):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", size.width, size.width)
        linear(f"{layer}.attention.output.dense", size.width, size.width)
        linear(f"{layer}.intermediate.dense", 4 * size.width, size.width)
        linear(f"{layer}.output.dense", size.width, 4 * size.width)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    linear("pooler.dense", size.width, size.width)
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(safetensors(tensors))
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": size.layers, "hidden_size": size.width,
        "num_attention_heads": size.heads, "intermediate_size": 4 * size.width, "vocab_size": size.words, "type_vocab_size": 2,
        "max_position_embeddings": size.tokens, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}))


class Exported:
    """A transformer under construction, ids [batch, tokens] in, one row of scores per sequence (or token) out."""

    def __init__(self, size, opset, batch="batch", seed=1):
        self.size, self.opset, self.batch, self.draw = size, opset, batch, random.Random(seed)
        self.nodes, self.tensors, self.count = [], [], 0

    def node(self, op, *inputs, outputs=1, **attributes):
        self.count += 1
        names = [f"/{op}_{self.count}_output_{i}" for i in range(outputs)]
        self.nodes.append(of.node(op, inputs, names, name=f"/{op}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name, shape, scale=1.0, middle=0.0, values=None):
        self.tensors.append(of.weights(name, shape, values or [self.draw.gauss(middle, scale) for _ in range(math.prod(shape))]))
        return name

    def integers(self, *values):
        name = f"integers_{len(self.tensors)}"
        self.tensors.append(of.typed_weights(name, (len(values),), values, of.INT64, "q"))
        return name

    def linear(self, x, name, into, out):
        product = self.node("MatMul", x, self.constant(f"{name}.weight", (into, out), 1 / math.sqrt(into)))
        return self.node("Add", self.constant(f"{name}.bias", (out,), 0.1), product)

    def norm(self, x, name):
        scale, shift = self.constant(f"{name}.weight", (self.size.width,), 0.1, 1.0), self.constant(f"{name}.bias", (self.size.width,), 0.1)
        if self.opset >= 17:
            return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)
        centred = self.node("Sub", x, self.node("ReduceMean", x, axes=[2], keepdims=1))
        square = self.node("Pow", centred, self.constant(f"{name}.two", (), values=[2.0]))
        variance = self.node("Add", self.node("ReduceMean", square, axes=[2], keepdims=1), self.constant(f"{name}.eps", (), values=[1e-5]))
        return self.node("Add", self.node("Mul", self.node("Div", centred, self.node("Sqrt", variance)), scale), shift)

    def gelu(self, x, name):
        erf = self.node("Erf", self.node("Div", x, self.constant(f"{name}.root", (), values=[math.sqrt(2)])))
        product = self.node("Mul", x, self.node("Add", erf, self.constant(f"{name}.one", (), values=[1.0])))
        return self.node("Mul", product, self.constant(f"{name}.half", (), values=[0.5]))

    def split_heads(self, x, perm):
        s = self.size
        return self.node("Transpose", self.node("Reshape", x, self.integers(0, s.tokens, s.heads, s.width // s.heads)), perm=perm)

    def attention(self, x, name, together, causal):
        s = self.size
        if together:
            joined = self.linear(x, f"{name}.qkv", s.width, 3 * s.width)
            parts = (self.node("Split", joined, self.integers(s.width, s.width, s.width), outputs=3, axis=2) if self.opset >= 13
                     else self.node("Split", joined, outputs=3, axis=2, split=[s.width] * 3))
        else:
            parts = [self.linear(x, f"{name}.{part}", s.width, s.width) for part in ("query", "key", "value")]
        query, value = self.split_heads(parts[0], [0, 2, 1, 3]), self.split_heads(parts[2], [0, 2, 1, 3])
        scores = self.node("MatMul", query, self.split_heads(parts[1], [0, 2, 3, 1]))
        scores = self.node("Div", scores, self.constant(f"{name}.scale", (), values=[math.sqrt(s.width / s.heads)]))
        if causal:
            mask = [0.0 if j <= i else -1e4 for i in range(s.tokens) for j in range(s.tokens)]
            scores = self.node("Add", scores, self.constant(f"{name}.mask", (1, 1, s.tokens, s.tokens), values=mask))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=3 if self.opset < 13 else -1), value)
        return self.linear(self.node("Reshape", self.node("Transpose", mixed, perm=[0, 2, 1, 3]), self.integers(0, s.tokens, s.width)),
                           f"{name}.out", s.width, s.width)

    def embed(self):
        s = self.size
        words = self.node("Gather", self.constant("words", (s.words, s.width)), "ids")
        return self.node("Add", words, self.constant("positions", (1, s.tokens, s.width)))

    def write(self, file, scores, shape):
        self.nodes.append(of.node("Identity", [scores], ["scores"], name="/last"))
        file.write_bytes(of.model(self.nodes, (("ids", (self.batch, self.size.tokens), of.INT64),), (("scores", shape),), self.tensors,
                                  opset=self.opset, version=7 if self.opset < 15 else 8))


def write_encoder(file, size, opset=12, batch="batch"):
    """Norm after each part, as BERT; the scores are those of the first token."""
    m = Exported(size, opset, batch)
    x = m.norm(m.embed(), "norm")
    for i in range(size.layers):
        x = m.norm(m.node("Add", m.attention(x, f"{i}.attention", False, False), x), f"{i}.norm1")
        up = m.gelu(m.linear(x, f"{i}.up", size.width, 4 * size.width), f"{i}.gelu")
        x = m.norm(m.node("Add", m.linear(up, f"{i}.down", 4 * size.width, size.width), x), f"{i}.norm2")
    m.tensors.append(of.typed_weights("first", (), [0], of.INT64, "q"))
    scores = m.node("Gemm", m.node("Gather", x, "first", axis=1), m.constant("head", (size.labels, size.width), 1 / math.sqrt(size.width)),
                    m.constant("head.bias", (size.labels,), 0.1), transB=1)
    m.write(file, scores, (batch, size.labels))


def write_decoder(file, size, opset=17, batch="batch"):
    """Norm before each part and a causal mask, as GPT; scores of every token."""
    m = Exported(size, opset, batch)
    x = m.embed()
    for i in range(size.layers):
        x = m.node("Add", x, m.attention(m.norm(x, f"{i}.norm1"), f"{i}.attention", True, True))
        up = m.gelu(m.linear(m.norm(x, f"{i}.norm2"), f"{i}.up", size.width, 4 * size.width), f"{i}.gelu")
        x = m.node("Add", x, m.linear(up, f"{i}.down", 4 * size.width, size.width))
    scores = m.node("MatMul", m.norm(x, "norm"), m.constant("head", (size.width, size.labels), 1 / math.sqrt(size.width)))
    m.write(file, scores, (batch, size.tokens, size.labels))
