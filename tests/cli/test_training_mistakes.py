# SPDX-License-Identifier: MIT
"""Mistakes of a person about training: said before anything starts, in one message, with exit code 2; options that do nothing are named."""

import struct
import unittest

import paceline_cli as cli
from test_accuracy import npy_bytes
from test_training_data import TrainingData, png


class Refused(cli.CliTest):
    """Flags of `paceline train` and lines of a plan, in one message each."""

    def refuse(self, flag, *words):
        with self.subTest(flag=flag):
            result = self.run_cli("train", "--model", "tiny_cnn", *([flag] if isinstance(flag, str) else flag))
            self.assert_error(result, 2, *words)
            self.assert_nothing_ran()

    def test_numbers(self):
        for flag, *words in (
                ("--lr=1e400", "training.lr", "'1e400'", "from 0 to 1000"), ("--lr=nan", "training.lr", "'nan'", "from 0 to 1000"),
                ("--lr=-1", "training.lr", "'-1'", "from 0 to 1000"), ("--training.betas=1,1", "training.betas", "below 1"),
                ("--training.betas=0.9", "two numbers", "0.9"), ("--batch=-1", "'-1'", "from 1 to"), ("--ranks=0", "'0'", "from 1 to"),
                ("--ranks=1000000", "'1000000'", "from 1 to 65536"), ("--ranks=99999999999999999999999", "out of range", "from 1 to 65536"),
                ("--steps=0", "'0'", "from 1 to"), ("--steps=1.5", "whole number", "from 1 to"), ("--weight-decay=-1", "'-1'", "from 0 to 1"),
                ("--training.dropout=1.5", "'1.5'", "neither true nor false"), ("--momentum=nan", "'nan'", "from 0 to 1"),
                ("--batch=60000", "60000 samples", "50000"), ("--epochs=", "empty", "a whole number")):
            self.refuse(flag, *words)

    def test_classes(self):
        for flag, *words in (("--num-classes=1", "'1'", "from 2 to 1000000"), ("--num-classes=three", "'three'", "whole number")):
            self.refuse(flag, *words)

    def test_model_files_of_users(self):
        self.write("mine.pt", "x")
        result = self.run_cli("train", "--model", "mine.pt")
        self.assert_error(result, 2, "'mine.pt' is a file", "safetensors.torch.save_file(model.state_dict(), 'w.safetensors')", "--weights w.safetensors", "paceline infer --model mine.pt")
        self.assert_nothing_ran()

    def test_faults_that_cannot_come(self):
        self.refuse("--inject=bad", "inject 'bad'", "kill:rank=1,step=50")
        self.refuse("--inject=kill:rank=7,step=3", "there is no rank 7", "the only one is rank 0")
        self.refuse(["--ranks=2", "--inject=kill:rank=2,step=3"], "there is no rank 2", "from 0 to 1")
        self.refuse(["--steps=4", "--warmup=1", "--inject=nan:step=5"], "there is no step 5", "from 0 to 4")

    def test_paths(self):
        folder, file = self.folder / "folder", self.write("file", "x")
        folder.mkdir()
        (self.folder / "loop").symlink_to("loop")
        for source, path, *words in (
                ("image_folder", file, "is a file", "takes a folder"), ("npz", folder, "is a folder", "takes a file"),
                ("token_file", folder, "is a folder"), ("image_folder", folder, "contains no folders", "one folder of pictures per class"), ("cifar100", "gone.tgz", "'gone.tgz' does not exist"), ("npz", "/dev/null", "neither"),
                ("npz", self.folder / "loop", "cannot be read"), ("npz", "x" * 5000, "cannot be read")):
            self.refuse([f"--data.source={source}", f"--data.path={path}"], "data.path", *words)

    def test_plans(self):
        for line, *words in (("data: 3", "p.yaml:3:7", "section"), ("training: [lr]", "p.yaml:3:11"), ("gpu_counts: {a: 1}", "p.yaml:3:13"),
                             ("training: {lr: fast}", "p.yaml:3:16", "'fast'"), ("ddp: {enabled: maybe}", "'maybe'", "auto"),
                             ("inject: [1]", "p.yaml:3:9"), ("training: {beta: [0.9, 0.9]}", "did you mean"),
                             ("checkpoint: {dir: {}}", "p.yaml:3"), ("inject: 'kill:rank=3'", "p.yaml:3:9", "there is no rank 3")):
            with self.subTest(line=line):
                self.write("p.yaml", f"kind: training\nmodel: tiny_cnn\n{line}\n")
                self.assert_error(self.run_cli("run", "p.yaml"), 2, *words)
                self.assert_nothing_ran()

    def test_one_process_for_two_ranks(self):
        self.refuse(["--in-process", "--ranks=2"], "--in-process", "--ranks 1")


class OneProcess(cli.CliTest):
    """By LibTorch, which the calling process loads."""

    def test_one_rank_trains_in_the_calling_process(self):
        result = self.run_cli("train", "--model", "tiny_cnn", "--device=cpu", "--batch-size", 2, "--steps", 3, "--threads", 1, "--idle-wait-s", "0", "--allow-noisy", "--in-process")
        self.assert_code(result, 0)
        training = self.summary()["cases"][0]["training"][0]
        self.assertEqual(len(training["ranks"]), 1)
        self.assertFalse(training["ddp"])


class Impossible(cli.CliTest):
    """Requests for what this machine lacks skip the case, with its reason; no rank is started."""

    def skip(self, *arguments):
        result = self.run_cli("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", *arguments)
        self.assert_code(result, 77)
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "skipped")
        return case["reason"]

    def test_more_ranks_than_the_memory_holds(self):
        reason = self.skip("--device=cpu", "--ranks=65536", "--batch=1", "--data.synthetic_samples=65536")  # 4.2 TB
        self.assertIn("65536 ranks of tiny_cnn need at least", reason)
        self.assertIn("this machine has", reason)

    def test_nccl_on_the_cpu_is_gloo(self):
        result = self.run_cli("train", "--model", "tiny_cnn", "--backend=nccl", "--device=cpu", "--ranks=2", "--dry-run")
        self.assert_code(result, 0)
        self.assertIn("it uses gloo", result.err)


class WithoutEffect(cli.CliTest):
    def test_options_that_do_nothing_are_named_in_one_line(self):
        result = self.run_cli("train", "--model", "tiny_cnn", "--device=cpu", "--dry-run", "--training.betas=0.5,0.9", "--training.eps=1e-4",
                              "--data.source=synthetic", "--data.path=x", "--ddp.static_graph")
        self.assert_code(result, 0)
        lines = [line for line in result.err.splitlines() if "no effect here" in line]
        self.assertEqual(len(lines), 1, str(result))
        for words in ("training.betas, training.eps (sgd has none)", "data.path (synthetic data have no files)",
                      "ddp.static_graph (the case runs without DDP)"):
            self.assertIn(words, lines[0])
        self.assertNotIn("no effect", result.out)

    def test_nothing_is_said_of_what_works(self):
        result = self.run_cli("train", "--model", "tiny_cnn", "--device=cpu", "--dry-run", "--ranks=2", "--momentum=0.8", "--ddp.static_graph")
        self.assert_code(result, 0)
        self.assertNotIn("no effect", result.err)


class Damaged(TrainingData):
    """Files that hold no data: exit code 2, the file named, and no advice to measure the same again."""

    def damaged(self, source, path, *words, arguments=()):
        name = f"out{len(list(self.folder.glob('out*')))}"
        result = self.train(source, path, "--output-dir", name, *arguments, code=2)
        case = self.summary(self.only_run(name))["cases"][0]
        self.assertEqual(case["outcome"], "failed")
        for word in (path.name, *words):
            self.assertIn(word, case["reason"])
        self.assertNotIn("?.", result.err + result.out)
        return case

    def test_a_row_that_is_not_a_number(self):
        pixels = [float(v) for v in range(80)]
        pixels[9] = float("nan")
        self.damaged("npz", self.write_npz(npy_bytes(pixels, (20, 4), "<f4", "f"), npy_bytes([1] * 20, (20,), "<i8", "q")), "row 2", "NaN")

    def test_archives_that_are_cut_off(self):
        whole = self.write_npz(npy_bytes([0] * 80, (20, 4), "|u1", "B"), npy_bytes([1] * 20, (20,), "<i8", "q")).read_bytes()
        path = self.folder / "cut.npz"
        for content in (whole[:len(whole) // 2], whole[:10], b"", b"\0" * 100):
            path.write_bytes(content)
            self.damaged("npz", path)

    def test_pictures_that_are_cut_off(self):
        folder = self.folder / "pictures"
        for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(png(40, 40, (1, 2, 3)))
        for content in (b"", png(40, 40, (1, 2, 3))[:60], b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1 << 30, 1 << 30, 8, 2, 0, 0, 0)):
            (folder / "b/2.png").write_bytes(content)
            self.damaged("image_folder", folder, "b/2.png")

    def test_a_published_file_that_is_cut_off(self):
        (self.folder / "cifar").mkdir()
        path = self.folder / "cifar/train.bin"
        path.write_bytes(bytes(3074 * 10 - 1))
        result = self.run_cli("train", *self.PLUGIN, "--model", "resnet50", "--device=cpu", "--batch-size", 1, "--steps", 1, "--idle-wait-s", "0", "--data.source=cifar100",
                              f"--data.path={path.parent}")
        self.assert_code(result, 2)
        case = self.summary()["cases"][0]
        for words in ("train.bin", "30739 bytes are no whole records", "cut off"):
            self.assertIn(words, case["reason"])

    def advice(self, name):
        """Returns the advice in a failed run's findings."""
        summary = self.summary(self.only_run(name))
        self.assertEqual(summary["cases"][0]["reason_code"], "config", summary["cases"][0]["reason"])
        return " ".join(finding["advice"] for finding in summary["findings"])

    def test_a_wrong_option_is_to_be_changed_and_not_measured_again(self):
        """A batch larger than the data set: --resume could not change it."""
        folder = self.folder / "img"
        for name in ("a/1.png", "b/1.png"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(png(40, 40, (1, 2, 3)))
        self.train("image_folder", folder, "--output-dir", "small", batch=64, code=2)
        self.assertIn("use a smaller --batch-size", self.summary(self.only_run("small"))["cases"][0]["reason"])
        self.assertIn("Change the option that the reason names, and start a new run", self.advice("small"))
        self.assertNotIn("paceline run --resume", self.advice("small"))

    def test_a_checkpoint_of_another_training_is_no_file_to_mend(self):
        saved = ["--checkpoint.dir", self.folder / "saved"]
        plain = ["train", *self.PLUGIN, "--model", "tiny_cnn", "--device=cpu", "--batch-size", 4, "--steps", 2, "--threads", 1, "--idle-wait-s", "0", "--allow-noisy", *saved]
        self.assert_code(self.run_cli(*plain, "--output-dir", "first"), 0)
        self.assert_code(self.run_cli(*plain, "--checkpoint.resume", "--training.optimizer", "adamw", "--output-dir", "other"), 2)
        self.assertNotIn("Fix what the reason", self.advice("other"))
        self.assertIn("start a new run", self.advice("other"))

    def test_one_class(self):
        path = self.write_npz(npy_bytes(list(range(80)), (20, 4), "|u1", "B"), npy_bytes([1] * 20, (20,), "<i8", "q"))
        result = self.run_cli("train", *self.PLUGIN, "--model", "tiny_cnn", "--device=cpu", "--batch-size", 4, "--steps", 2, "--idle-wait-s", "0", "--allow-noisy",
                              "--data.source=npz", f"--data.path={path}", "--threads=1")
        self.assert_code(result, 0)
        self.assertIn("nothing to learn", result.out)


if __name__ == "__main__":
    cli.main()
