# SPDX-License-Identifier: MIT
"""Reports of two real runs on an H200, cut to a few cases: memory, power cap."""

import csv
import fcntl
import io
import json
import os
import pty
import shutil
import struct
import termios
import unittest
from pathlib import Path

import paceline_cli as cli

DATA = Path(__file__).resolve().parent / "data"
CAPPED = "the GPU was at its power cap in 50 % of the samples"


class DeviceReport(cli.CliTest):
    def setUp(self):
        super().setUp()
        for name in ("h200_training", "h200_inference"):
            shutil.copytree(DATA / name, self.folder / name)

    def render(self, run, form):
        result = self.run_cli("report", "-s", run, "-f", form)
        self.assert_code(result, 0)
        return result.out

    def test_the_memory_of_a_case_is_the_devices(self):
        text = self.render("h200_training", "text")
        self.assertIn("GPU memory", text.splitlines()[0] + text.splitlines()[1])
        self.assertIn("12.1 GB", text)
        self.assertRegex(text.splitlines()[1], "GPU memory  +host memory")
        self.assertRegex(text, "12.1 GB  +1.66 GB")
        markdown = self.render("h200_training", "markdown")
        self.assertIn("| GPU memory | host memory |", markdown)
        self.assertIn("| 12.1 GB | 1.66 GB |", markdown)
        self.assertIn("| 490 MB (738 MB reserved) | ", self.render("h200_inference", "markdown"))
        for row in csv.DictReader(io.StringIO(self.render("h200_training", "csv"))):
            self.assertAlmostEqual(float(row["memory_mb"]), 12127.71, delta=0.01)
            self.assertAlmostEqual(float(row["host_memory_mb"]), 1657, delta=2)
        rows = list(csv.DictReader(io.StringIO(self.render("h200_inference", "study"))))
        self.assertEqual([round(float(row["memory_mb"])) for row in rows], [490, 338, 281])

    def test_the_page_draws_and_words_it(self):
        result = self.run_cli("report", "-s", "h200_inference", "-f", "html", "-o", "page.html")
        self.assert_code(result, 0)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("MB of GPU memory in tensors", page)
        self.assertRegex(page, r"From 281 MB \(.*\) to 490 MB \(.*\): the most that tensors held of the GPU.*s memory")
        self.assertNotIn("MB above the state before load", page)

    def test_labels_say_what_differs(self):
        for width in ("80", "120"):
            for run, shared, own in (("h200_training", "resnet50 · train · b256 · r1 · channels_last · cuda", ["amp ", "bf16 "]),
                                     ("h200_inference", "resnet50 · b32 · cuda", ["eager fp32 ", "eager amp_fp16 "])):
                lines = self.render_at(width, run).splitlines()
                self.assertNotRegex("\n".join(lines), r"\w…\w")
                rows = [line for line in lines[:6] if any(line.startswith(label) for label in own)]
                self.assertEqual(len(rows), 2, lines[:6])
                self.assertEqual(lines[0], shared)
        markdown = self.render("h200_training", "markdown")
        self.assertIn("resnet50 · train · b256 · r1 · channels\\_last · cuda\n\n| case |", markdown)
        self.assertIn("\n| amp |", markdown)

    def render_at(self, width, run):
        """On a terminal of so many columns."""
        pid, fd = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(width), 0, 0))
            os.chdir(self.folder)
            os.execve(cli.BINARY, [cli.BINARY, "report", "-s", run, "-f", "text", "--no-color"], {**self.env, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
        text = b""
        try:
            while chunk := os.read(fd, 65536):
                text += chunk
        except OSError:
            pass
        os.close(fd)
        self.assertEqual(os.waitpid(pid, 0)[1], 0, text)
        return text.decode("utf-8").replace("\r", "")

    def test_the_power_cap_reaches_grade_and_findings(self):
        text = self.render("h200_training", "text")
        self.assertIn(CAPPED, text)
        self.assertIn("the GPU of rank 0 was at its power cap in 50 % of the samples (mean clock 1961 MHz)", " ".join(text.split()))
        capped, free = json.loads(self.render("h200_training", "json"))["cases"]
        self.assertEqual((capped["grade"], capped["grade_reasons"].count(CAPPED)), ("B", 1))
        self.assertEqual((free["grade"], free["grade_reasons"]), ("A", []))
        self.assertEqual(capped["grade_reasons"], [CAPPED])
        said = "resnet50 train amp b256 r1 channels_last cuda: the device decides: 100.0 % of the wall time; GPU of rank 0: 1961 MHz, power cap in 50 % of the samples"
        self.assertIn(said, " ".join(text.split()))

    def test_the_device_decides_grades(self):
        text = " ".join(self.render("h200_inference", "text").split())
        self.assertIn("The device decides the grades of 3 cases: device time is 99.5 to 99.7 % of their wall time.", text)
        for one in json.loads(self.render("h200_inference", "json"))["cases"]:
            for host in ("cost of timing", "spinning thread"):
                self.assertNotIn(host, " ".join(one["grade_reasons"]))
        self.assertEqual(self.run_cli("report", "-s", "h200_inference", "-f", "html", "-o", "page.html").code, 0)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("Grade: the device decides: 99.7 % of the wall time.", page)
        self.assertIn("it does not count, because the device decides", page)

    def test_training_stores_the_memory_of_every_rank(self):
        result = self.run_cli("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--device", "cpu", "--ranks", "2", "--steps", "5",
                              "--warmup-steps", "1", "--allow-noisy", "--idle-wait-s", "0", env={"SPIN_TENSOR_BYTES": "1000000"})
        self.assert_code(result, 0)
        case, = self.summary()["cases"]
        self.assertEqual((case["memory"]["tensor_peak_bytes"], case["memory"]["reserved_peak_bytes"]), (1000000, 2000000))
        self.assertEqual([rank["device_peak_bytes"] for rank in case["training"][0]["ranks"]], [1000000, 1000000])
        self.assert_code(self.run_cli("report", "-s", self.only_run(), "-f", "html", "-o", "ranks.html"), 0)
        self.assertIn("GPU memory", (self.folder / "ranks.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    cli.main()
