# SPDX-License-Identifier: MIT
"""Limits on hostile files, answers and arguments: memory and time of the whole process tree, and what is said of them."""

import json
import os
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

import paceline_cli as cli

STORED = Path(__file__).parent / "data/training_run"
MOST_MB, MOST_S = 700, 60
NEST = 20_000_000  # brackets


class Limits(cli.CliTest):
    def bounded(self, *arguments, codes=(2,), seconds=MOST_S, words=()):
        """The output of a command that takes little memory and time, though what it reads is large."""
        with open(self.folder / "out", "wb") as out:
            process = self.start(*arguments, stdout=out, stderr=subprocess.STDOUT)
        waited = subprocess.Popen(["sleep", str(seconds)])
        try:
            while True:
                pid, status, used = os.wait4(-1, 0)
                if pid == waited.pid:
                    self.fail(f"{arguments}: more than {seconds} s")
                if pid == process.pid:
                    break
        finally:
            waited.kill()
            waited.returncode = -9
        process.returncode = os.waitstatus_to_exitcode(status)
        out = (self.folder / "out").read_text(errors="replace")
        self.assertIn(process.returncode, codes, out[-500:])
        self.assertLess(used.ru_maxrss / 1024, MOST_MB, arguments)
        self.assertLess(len(out), 100_000)
        for word in [*cli.FORBIDDEN, "json.exception"]:
            self.assertNotIn(word, out)
        for word in words:
            self.assertIn(word, out)
        return out

    def copy_of_run(self):
        shutil.copytree(STORED, self.folder / "run")
        return self.folder / "run"

    def test_brackets_without_end_in_every_kind_of_json(self):
        run = self.copy_of_run()
        nest = "[" * NEST
        self.write("machine.json", nest)
        self.write("nest.jsonl", '{"paceline_monitor": 1, "host": "h"}\n' + nest + "\n")
        self.write("engine.json", '{"a":' * 1000 + "1" + "}" * 1000)
        self.write("hf/config.json", '{"model_type":' + nest[:10_000_000])
        for arguments, words in ((("validate", "--expect", "machine.json"), ("machine.json",)),
                                 (("monitor", "--replay", "nest.jsonl"), ("line 2 is no JSON",)),
                                 (("build", "--engine", "tensorrt", "--model", "x.onnx", "--config", "engine.json", "-o", "x.plan"), ("nested deeper than 64 levels",)),
                                 (("infer", "--model", "hf"), ("config.json",))):
            self.bounded(*arguments, codes=(1, 2), words=words)
        (run / "run_summary.json").write_text(nest)
        self.bounded("report", "--source", run, words=("run_summary.json", "nested deeper than 64 levels"))

    def test_a_host_that_prints_without_end_is_ended(self):
        for name, text in (("endless", "exec yes '{'"), ("quiet", "exec yes >&2"), ("wide", "printf '{\\n\"machine\":\"'; head -c 300000000 /dev/zero | tr '\\0' x")):
            script = self.write(name, f"#!/bin/sh\n{text}\n")
            script.chmod(0o755)
            out = self.bounded("validate", "--hosts", "a", "--rsh", script, codes=(5,), seconds=30)
            self.assertRegex(out, r"a +printed more than 16\.8 MB")

    def test_a_file_of_openvino_that_cannot_be_one(self):
        for gib, size in ((50, "53.7 GB"), (2, "2.15 GB")):
            with open(self.folder / "big.xml", "wb") as file:  # the library's own reader takes its beginning for a network, and reads all of it
                file.write(b'<?xml version="1.0"?>\n<net name="x" version="11">\n<layers>\n')
                file.truncate(gib << 30)
            self.bounded("infer", "--engine", "openvino", "--model", "big.xml", words=(f"has {size}, and at most 268 MB are read",))

    def test_an_array_that_says_it_is_large(self):
        with zipfile.ZipFile(self.folder / "x.npz", "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("input.npy", b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (251658240, 4), }".ljust(117) + b"\n")
        raw = bytearray((self.folder / "x.npz").read_bytes())
        at = raw.rindex(b"PK\x01\x02")
        raw[at + 24:at + 28] = (0xF0000000 + 128).to_bytes(4, "little")  # as the header says, and too much for its few bytes
        (self.folder / "x.npz").write_bytes(raw)
        self.bounded("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--load-inputs", "x.npz", codes=(2, 5), words=("directory is damaged",))

    def test_a_recording_of_empty_lines(self):
        self.write("r.jsonl", '{"paceline_monitor": 1, "host": "a"}\n' + "\n" * 60_000_000)
        self.bounded("monitor", "--replay", "r.jsonl", words=("line 2 is no JSON",))

    def test_a_figure_that_is_no_figure_costs_no_memory(self):
        def spoiled(value):
            if isinstance(value, dict):
                return {key: spoiled(one) for key, one in value.items()}
            if isinstance(value, list):
                return [spoiled(one) for one in value]
            return figure if isinstance(value, float) else value
        for name, figures in (("training_run", (1.7e308, 1e-300)), ("run", (1e299, -1e250)), ("0.1.0/comm", (1.7e308,)), ("0.1.0/server", (1e299,))):
            run = shutil.copytree(STORED.parent / name, self.folder / name)
            whole = {file: json.loads(file.read_text()) for file in run.rglob("*.json")}
            for figure in figures:  # an axis with 1.7e308 on it would end at infinity
                for file, content in whole.items():
                    file.write_text(json.dumps(spoiled(content)))
                for ending in ("html", "md", "csv"):
                    written = self.folder / f"{name.replace('/', '-')}{figure}.{ending}"
                    self.bounded("report", "--source", run, "-o", written, codes=(0,))
                    self.assertNotRegex(written.read_text(), r"[0-9]{40}", written)
                self.assertNotRegex(self.bounded("report", "--source", run, "--format", "text", codes=(0,)), r"[0-9]{40}")

    def test_mistakes_without_end_are_cut_off(self):
        self.write("plan.yaml", "kind: inference\nmodels: [tiny_cnn]\n" + "".join(f"kee{i}: 1\n" for i in range(100_000)))
        self.write("engine.json", "{" + ",".join(f'"kee{i}": 1' for i in range(100_000)) + "}")
        further = "further mistakes are not shown"
        self.bounded("run", "plan.yaml", "--dry-run", words=("unknown key 'kee0'", further, "101 errors"))
        self.bounded("build", "--engine", "tensorrt", "--model", "x.onnx", "--config", "engine.json", "-o", "x.plan", words=(further,))
        self.bounded("run", "--dry-run", *(f"--kee{i}" for i in range(20_000)), words=(further,))

    def test_a_list_that_is_longer_than_any_plan(self):
        for values in ("x," * 1_200_000, ",".join(f"m{i}.onnx" for i in range(150_000))):
            self.write("plan.yaml", f"kind: inference\nmodels: [{values}]\n")
            self.bounded("run", "plan.yaml", "--dry-run", seconds=20, words=("'models' lists 1", "values, and a plan has at most 100000 cases", "1 error, nothing was run"))

    def test_mistakes_of_a_long_list_are_cut_off(self):
        self.write("plan.yaml", "kind: inference\nmodels: [" + ",".join(f"m{i}" for i in range(5000)) + "]\n")
        self.bounded("run", "plan.yaml", "--dry-run", words=("'m99'", "4899 further mistakes are not shown", "5000 errors, nothing was run"))

    def test_a_long_list_costs_its_length(self):
        self.write("plan.yaml", "kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [1, 2, 3]\n")
        self.bounded("run", "plan.yaml", "--dry-run", "--only", ",".join(map(str, range(1, 20_001))), words=("--only 4: no such case",))

    def test_json_for_a_terminal_has_no_control_characters(self):
        self.run_cli("monitor", "--record", "r.jsonl", "--count", "1", "--quiet")
        head, line = (self.folder / "r.jsonl").read_text().splitlines()[:2]
        snapshot = json.loads(line)
        name = "A\x9b31mB\u202eC\x7fD"
        snapshot["runs"] = [{"process_id": 1, "folder": "/x", "experiment": name, "label": "l", "kind": "timed", "number": 1, "of": 1, "phase": ""}]
        self.write("e.jsonl", head + "\n" + json.dumps(snapshot) + "\n")
        out = self.run_cli("monitor", "--replay", "e.jsonl", "--json").out
        self.assertIn(r"A\u009b31mB\u202eC\u007fD", out)
        self.assertEqual(json.loads(out.splitlines()[0])["runs"][0]["experiment"], name)

    def test_json_of_a_profile_has_none_either(self):
        name = "gemm\x9b\u2066\x7f"
        self.write("k.csv", f'"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n"0","{name}","1000"\n')
        out = self.run_cli("profile", "--from", "k.csv", "--json").out
        self.assertIn(r"gemm\u009b\u2066\u007f", out)
        self.assertEqual(json.loads(out)["kernels"][0]["name"], name)

    def test_a_recording_does_not_follow_a_link(self):
        os.symlink(self.folder / "elsewhere", self.folder / "m.jsonl")
        self.assert_error(self.run_cli("monitor", "--record", "m.jsonl", "--count", "1", "--quiet"), 2, "m.jsonl", "it is a link")
        self.assertFalse((self.folder / "elsewhere").exists())


if __name__ == "__main__":
    unittest.main()
