# SPDX-License-Identifier: MIT
"""Training on real files: scikit-learn's digits as its PyPI package ships them, pictures in folders, and what is said of files that are
missing or damaged."""

import gzip
import itertools
import json
import os
import pickle
import struct
import subprocess
import unittest
import zipfile
import zlib
from pathlib import Path

import paceline_cli as cli
from test_accuracy import npy_bytes

DIGITS = Path(os.environ.get("PACELINE_PYTHON_PACKAGES", "")) / "sklearn/datasets/data/digits.csv.gz"


def png(width, height, colour):
    """A picture of one colour."""
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(colour) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def shapes_of(file):
    """Names and shapes of a safetensors file, whose tensors fill it without a gap."""
    content = file.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__")
    ends = sorted(entry["data_offsets"] for entry in header.values())
    assert ends[0][0] == 0 and all(a[1] == b[0] for a, b in itertools.pairwise(ends)) and ends[-1][1] == len(content) - 8 - length
    return {name: entry["shape"] for name, entry in header.items()}


def resnet50_shapes(classes):
    """Names and shapes of torchvision.models.resnet50(num_classes=classes).state_dict()."""
    shapes = {"conv1.weight": [64, 3, 7, 7], "fc.weight": [classes, 2048], "fc.bias": [classes]}

    def norm(name, width):
        shapes.update({f"{name}.{part}": [width] for part in ("weight", "bias", "running_mean", "running_var")})
        shapes[f"{name}.num_batches_tracked"] = []

    norm("bn1", 64)
    before = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), 1):
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            for place, (out, inner, side) in enumerate(((width, before, 1), (width, width, 3), (4 * width, width, 1)), 1):
                shapes[f"{name}.conv{place}.weight"] = [out, inner, side, side]
                norm(f"{name}.bn{place}", out)
            if block == 0:
                shapes[f"{name}.downsample.0.weight"] = [4 * width, before, 1, 1]
                norm(f"{name}.downsample.1", 4 * width)
            before = 4 * width
    return shapes


class TrainingData(cli.CliTest):
    """Data are read before a trainer sees them: the spin plug-in's, which learns nothing from them."""

    PLUGIN = ["--plugin", cli.SPIN]

    def train(self, source, path, *arguments, model="tiny_cnn", batch=4, code=0, env=None):
        given = ["--data.path", str(path)] if path else []
        result = self.run_cli("train", *self.PLUGIN, "--model", model, "--device", "cpu", "--batch-size", batch, "--threads", "1", "--steps", "4", "--warmup-steps", "1",
                              "--idle-wait-s", "0", "--allow-noisy", "-q", "--data.source", source, *given, *arguments, env=env)
        self.assert_code(result, code)
        return result

    def case(self):
        return self.summary()["cases"][0]

    def reason(self):
        self.assertEqual(self.case()["outcome"], "failed")
        return self.case()["reason"]

    def write_npz(self, x, y):
        path = self.folder / "set.npz"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.npy", x)
            if y is not None:
                archive.writestr("y.npy", y)
        return path


class Digits(TrainingData):
    PLUGIN = []  # LibTorch learns

    def setUp(self):
        super().setUp()
        if not DIGITS.is_file():
            raise unittest.SkipTest("no package with labelled pictures: scripts/setup.sh --checks installs scikit-learn's")
        rows = [[int(float(v)) for v in line.split(",")] for line in gzip.decompress(DIGITS.read_bytes()).decode().splitlines()]
        self.count = len(rows)
        pixels = [v for row in rows for v in row[:64]]
        self.set = self.write_npz(npy_bytes(pixels, (len(rows), 8, 8), "|u1", "B"),
                                  npy_bytes([row[64] for row in rows], (len(rows),), "<i8", "q"))

    def test_accuracy_rises_on_two_ranks(self):
        self.train("npz", self.set, "--ranks", "2", "--epochs", "3", "--lr", "0.01", batch=16)
        epochs = [json.loads(line) for line in (self.only_run() / "metrics_epoch.jsonl").read_text().splitlines()]
        self.assertEqual([e["samples"] for e in epochs], [self.count // 32 * 32] * 3)
        self.assertLess(epochs[0]["accuracy"], epochs[1]["accuracy"])
        self.assertGreater(epochs[2]["accuracy"], 0.9)
        self.assertLess(epochs[2]["loss"], epochs[0]["loss"] / 2)


class PictureFolders(TrainingData):
    def setUp(self):
        super().setUp()
        for place, colour in enumerate(((200, 30, 30), (30, 30, 200))):
            for number in range(12):
                file = self.folder / f"pictures/class{place}/{number}.png"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(png(40 + number, 50, colour))


class LearntPictures(PictureFolders):
    PLUGIN = []  # LibTorch learns

    def test_folders_are_classes(self):
        (self.folder / "pictures/.ipynb_checkpoints").mkdir()
        for name in (".ipynb_checkpoints/0-checkpoint.png", "class1/._0.png", "class1/0.webp"):
            (self.folder / "pictures" / name).write_bytes(b"x")
        self.train("image_folder", self.folder / "pictures", "--epochs", "15", "--lr", "0.003")
        rest = "1 .webp, 1 hidden file, 1 hidden folder (.ipynb_checkpoints)"
        self.assertIn("data: 2 classes, 24 pictures; left out: " + rest, self.case()["training"][0]["notes"])
        epochs = [json.loads(line) for line in (self.only_run() / "metrics_epoch.jsonl").read_text().splitlines()]
        self.assertEqual([e["samples"] for e in epochs], [24] * 15)
        self.assertGreater(epochs[-1]["accuracy"], 0.9, [e["accuracy"] for e in epochs])  # red or blue
        self.assertGreater(self.case()["training"][0]["loader_samples_per_s"], 0)

    def test_held_out_pictures_are_looked_at_after_each_epoch(self):
        whole = self.folder / "whole"
        whole.mkdir()
        (self.folder / "pictures").rename(whole / "train")
        for place, colour in enumerate(((200, 30, 30), (30, 30, 200))):
            for number in range(5):
                file = whole / f"val/class{place}/{number}.png"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(png(44, 50, colour))
        result = self.run_cli("train", "--model", "tiny_cnn", "--device", "cpu", "--batch-size", "4", "--threads", "1", "--steps", "4", "--warmup-steps", "1", "--idle-wait-s",
                              "0", "--allow-noisy", "--data.source", "image_folder", "--data.path", whole, "--epochs", "15", "--lr", "0.003")
        self.assert_code(result, 0)
        epochs = [json.loads(line) for line in (self.only_run() / "metrics_epoch.jsonl").read_text().splitlines()]
        self.assertEqual([e["samples"] for e in epochs], [24] * 15)
        self.assertEqual([e["eval_samples"] for e in epochs], [8] * 15)  # ten, in batches of four
        self.assertGreater(epochs[-1]["eval_accuracy"], 0.9)
        self.assertLess(epochs[-1]["eval_loss"], epochs[0]["eval_loss"])
        self.assertIn("epoch 14: held-out loss", result.out + result.err)
        self.assertEqual(self.case()["stats"]["n"], 4)

    def test_any_number_of_classes(self):
        """The file of weights has the names and shapes of torchvision's state dict."""
        for number in range(12):
            file = self.folder / f"pictures/class2/{number}.png"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(png(40, 50, (30, 200, 30)))
        for model, wanted in (("tiny_cnn", {"fc.weight": [3, 2048], "fc.bias": [3]}), ("resnet50", resnet50_shapes(3))):
            with self.subTest(model=model):
                saved = self.folder / model
                self.train("image_folder", self.folder / "pictures", "--num-classes", "3", "--checkpoint.dir", saved, "--output-dir", f"of_{model}", model=model)
                shapes = shapes_of(saved / "last.safetensors")
                self.assertEqual({name: shapes.get(name) for name in wanted}, wanted)
                if model == "resnet50":
                    self.assertEqual(set(shapes), set(wanted))

    def test_weights_load_in_python_and_here(self):
        whole = self.folder / "whole"
        whole.mkdir()
        (self.folder / "pictures").rename(whole / "train")
        for place, colour in enumerate(((200, 30, 30), (30, 30, 200))):
            file = whole / f"val/class{place}/0.png"
            file.parent.mkdir(parents=True)
            for number in range(4):
                file.with_name(f"{number}.png").write_bytes(png(44, 50, colour))
        saved = self.folder / "saved"
        self.train("image_folder", whole, "--epochs", "6", "--lr", "0.003", "--num-classes", "2", "--checkpoint.dir", saved)
        epochs = [json.loads(line) for line in (self.only_run() / "metrics_epoch.jsonl").read_text().splitlines()]
        best = json.loads((saved / "checkpoint_best.json").read_text())
        self.assertEqual(best["eval_accuracy"], max(e["eval_accuracy"] for e in epochs))
        self.assertEqual(best["epoch"], next(e["epoch"] for e in epochs if e["eval_accuracy"] == best["eval_accuracy"]))
        self.assertTrue(any(note.startswith("weights: last.safetensors in ") for note in self.case()["training"][0]["notes"]))
        self.assertEqual(sorted(path.name for path in saved.glob("*.safetensors")), ["checkpoint_best.safetensors", "last.safetensors"])
        for name in ("last", "checkpoint_best"):
            file = saved / f"{name}.safetensors"
            self.assertEqual(shapes_of(file)["fc.weight"], [2, 2048])
            self.train("image_folder", whole, "--num-classes", "2", "--weights", file, "--output-dir", f"from_{name}")
            first = next(iter((self.only_run(f"from_{name}") / "metrics_epoch.jsonl").read_text().splitlines()))
            self.assertLess(json.loads(first)["loss"], epochs[0]["loss"])
        self.load_in_python(saved / "last.safetensors")

    def load_in_python(self, file):
        """By safetensors' own reader, where a Python here has it."""
        script = "import sys; from safetensors import safe_open; print(sorted(safe_open(sys.argv[1], 'np').keys())[0])"
        done = subprocess.run(["python3", "-c", script, file], capture_output=True, text=True, check=False, env=self.env)
        if "ModuleNotFoundError" in done.stderr:
            self.skipTest("no Python with safetensors")
        self.assertEqual(done.stdout.strip(), "bn1.bias", done.stderr)

    def test_evaluation_does_not_change_training(self):
        whole = self.folder / "whole"
        whole.mkdir()
        (self.folder / "pictures").rename(whole / "train")
        (whole / "val/class1").mkdir(parents=True)
        for number in range(8):
            (whole / f"val/class1/{number}.png").write_bytes(png(40, 50, (9, 9, 9)))
        losses = []
        for every in ("0", "1"):
            self.train("image_folder", whole, "--epochs", "3", "--ranks", "2", "--eval.every-epochs", every, "--output-dir", every)
            lines = [json.loads(line) for line in (self.only_run(every) / "metrics_epoch.jsonl").read_text().splitlines()]
            self.assertEqual({"eval_loss" in line for line in lines}, {every == "1"})
            losses.append([line["loss"] for line in lines])
        self.assertEqual(losses[0], losses[1])


class Pictures(PictureFolders):
    def test_a_picture_that_cannot_be_read_is_named(self):
        (self.folder / "pictures/class1/3.png").write_bytes(b"no picture")
        for workers in ("0", "2"):
            with self.subTest(workers=workers):
                self.train("image_folder", self.folder / "pictures", "--data.workers", workers, "--steps", "20", "--output-dir", workers, code=2)
                case = self.summary(self.only_run(workers))["cases"][0]
                self.assertEqual(case["outcome"], "failed")
                self.assertIn("class1/3.png", case["reason"])

    def test_more_classes_than_the_model_tells_apart(self):
        for place in range(2, 12):
            file = self.folder / f"pictures/class{place}/0.png"
            file.parent.mkdir()
            file.write_bytes(png(40, 50, (9, 9, 9)))
        self.train("image_folder", self.folder / "pictures", code=2)
        for word in ("pictures", "12", "10", "--num-classes 12"):
            self.assertIn(word, self.reason())

    def test_more_samples_a_step_than_there_are(self):
        self.train("image_folder", self.folder / "pictures", "--ranks", "2", batch=16, code=2)
        self.assertIn("24 samples", self.reason())
        self.assertIn("takes 32", self.reason())


def pickled_cifar(label_key, labels):
    """A file of CIFAR's Python version, as Python 2 wrote it for torchvision to unpickle."""
    text = lambda words: b"U" + bytes([len(words)]) + words.encode()
    pixels = b"".join(bytes([8 * label]) * 3072 for label in labels)
    return (b"\x80\x02}q\x01(" + text(label_key) + b"]q\x02(" + b"".join(b"K" + bytes([label]) for label in labels) + b"e" + text("data")
            + b"cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nK\0\x85" + text("b") + b"\x87R(K\x01J" + struct.pack("<i", len(labels))
            + b"M\0\x0c\x86cnumpy\ndtype\n" + text("u1") + b"K\0K\x01\x87R(K\x03" + text("|") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T"
            + struct.pack("<I", len(pixels)) + pixels + b"tbu.")


class Cifar(TrainingData):
    def setUp(self):
        super().setUp()
        for number in range(1, 6):
            self.write_batch("cifar-10-batches-py", f"data_batch_{number}", "labels", [number, 0, 9, 3])

    def write_batch(self, folder, name, label_key, labels):
        (self.folder / "data" / folder).mkdir(parents=True, exist_ok=True)
        (self.folder / "data" / folder / name).write_bytes(pickled_cifar(label_key, labels))

    def test_the_files_are_what_python_reads(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy here")
        read = pickle.loads((self.folder / "data/cifar-10-batches-py/data_batch_2").read_bytes(), encoding="latin1")
        self.assertEqual(read["labels"], [2, 0, 9, 3])
        self.assertEqual((read["data"].shape, read["data"].dtype, int(read["data"][2, 5])), ((4, 3072), numpy.uint8, 72))

    def test_cifar_10_as_torchvision_unpacks_it(self):
        self.train("cifar10", self.folder / "data", "--epochs", "1", "--steps", "5", "--warmup-steps", "0")
        epoch = json.loads((self.only_run() / "metrics_epoch.jsonl").read_text().splitlines()[0])
        self.assertEqual(epoch["samples"], 20)

    def test_cifar_100_as_torchvision_unpacks_it(self):
        self.write_batch("cifar-100-python", "train", "fine_labels", [1, 9] * 8)
        self.train("cifar100", self.folder / "data", model="resnet50", code=0)

    def test_a_batch_that_is_missing(self):
        (self.folder / "data/cifar-10-batches-py/data_batch_4").unlink()
        self.train("cifar10", self.folder / "data", code=2)
        self.assertIn("data_batch_4' is missing", self.reason())

    def test_a_pickle_that_calls(self):
        (self.folder / "data/cifar-10-batches-py/data_batch_1").write_bytes(b"\x80\x02cos\nsystem\nU\x05touch\x85R.")
        self.train("cifar10", self.folder / "data", code=2)
        self.assertIn("'os.system', which is never loaded", self.reason())


class Refusals(TrainingData):
    def test_cifar_that_is_not_there_and_cannot_be_fetched(self):
        tools = self.folder / "no_tools"
        tools.mkdir()
        self.train("cifar100", None, model="resnet50", code=2, env={"PATH": str(tools)})
        for word in ("cifar-100-binary.tar.gz", "https://www.cs.toronto.edu/", str(self.folder / "cache"), "data.path"):
            self.assertIn(word, self.reason())

    def test_an_archive_that_is_not_the_published_one(self):
        archive = self.folder / "cifar-100-binary.tar.gz"
        archive.write_bytes(gzip.compress(b"something else"))
        self.train("cifar100", archive, model="resnet50", code=2)
        self.assertIn("168513733", self.reason())

    def test_a_model_of_fewer_classes_than_cifar(self):
        self.train("cifar100", None, code=2)
        for word in ("100 classes", "and the model 10", "--num-classes 100"):
            self.assertIn(word, self.reason())

    def test_labels_beyond_the_model(self):
        self.train("npz", self.write_npz(npy_bytes([0] * 80, (20, 4), "|u1", "B"), npy_bytes([11] * 20, (20,), "<i8", "q")), code=2)
        for word in ("set.npz", "11", "10"):
            self.assertIn(word, self.reason())

    def test_an_archive_without_labels(self):
        self.train("npz", self.write_npz(npy_bytes([0] * 80, (20, 4), "|u1", "B"), None), code=2)
        self.assertIn("no array 'y'", self.reason())

    def test_tokens_for_a_model_of_images(self):
        tokens = self.folder / "a.bin"
        tokens.write_bytes(bytes(200))
        self.train("token_file", tokens, code=77)
        self.assertIn("token_file", self.case()["reason"])


if __name__ == "__main__":
    cli.main()
