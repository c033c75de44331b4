# SPDX-License-Identifier: MIT
"""The LibTorch plug-in through the binary: model and weight files that are wrong, accuracy, what this CPU cannot do."""

import json
import os
import resource
import struct
import unittest
import zipfile
from pathlib import Path

import paceline_cli as cli

ARGUMENTS = ["--iterations", "3", "-q", "--threads", "1", *cli.QUICK]


def torchscript(path, body):
    """The smallest TorchScript archive: one module, no parameters, `forward(x)` returns `body`."""
    code = ("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
            f"  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return {body}\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("m/data.pkl", b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x89sb.")
        archive.writestr("m/code/__torch__.py", code)
        archive.writestr("m/constants.pkl", b"\x80\x02).")
        archive.writestr("m/version", "3\n")


def safetensors(path, shapes, cut=0):
    """Zeros of the given shapes; `cut` bytes are missing at the end."""
    header, size = {}, 0
    for name, shape in shapes.items():
        count = 4
        for dimension in shape:
            count *= dimension
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [size, size + count]}
        size += count
    text = json.dumps(header).encode()
    content = struct.pack("<Q", len(text)) + text + bytes(size)
    path.write_bytes(content[:len(content) - cut])


def npy(path, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape!r}, }}".ljust(117).encode() + b"\n"
    count = 4
    for dimension in shape:
        count *= dimension
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(count))


class Torch(cli.CliTest):
    def tiny(self, *arguments):
        return self.run_cli("infer", "--model", "tiny_cnn", *ARGUMENTS, *arguments)

    def file(self, name, *arguments, shapes="input:2x4"):
        return self.run_cli("infer", "--model", name, "--shapes", shapes, *ARGUMENTS, *arguments)

    def test_a_traced_file_runs_in_the_precision_that_is_asked_for(self):
        """torch.jit.trace wrote TF32, trials and determinism into the call; where outputs deviate, that is said."""
        torchscript(self.folder / "traced.pt", "torch._convolution(x, torch.ones([4, 3, 3, 3]), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, "
                                               "True, True, False, True)")
        npy(self.folder / "zeros.npy", (2, 4, 6, 6))
        for engine in ("eager", "torchscript"):
            with self.subTest(engine=engine):
                self.assert_code(self.file("traced.pt", "--engine", engine, shapes="x:2x3x8x8"), 0)
                case = self.summary()["cases"][0]
                settings = case["effective_settings"]
                self.assertIn("allow_tf32 on in 1 of 1 calls, benchmark on in 1 of 1 calls, deterministic on in 1 of 1", settings["torchscript_switches_in_file"])
                if engine == "eager":
                    self.assertIn("allow_tf32 on in 0 of 1 calls, benchmark on in 0 of 1 calls, deterministic on in 0 of 1", settings["torchscript_switches"])
                self.assertEqual([share["precision"] for share in case["precision"]["executed"]], ["fp32"])
                cli.shutil.rmtree(self.folder / "results")
                result = self.file("traced.pt", "--engine", engine, "--accuracy-reference", "zeros.npy", "--accuracy-samples", "2", shapes="x:2x3x8x8")
                self.assert_code(result, 1)
                reason = self.summary()["cases"][0]["reason"]
                self.assertIn("its file allows TF32 in 1 of 1 convolutions", reason)
                self.assertIn("--precision tf32", reason)
                cli.shutil.rmtree(self.folder / "results")

    def refused(self, result, *words, reason_code="data", below="results"):
        """The file is the user's mistake: exit 2, one case, one reason."""
        self.assert_code(result, 2)
        case = self.summary(self.only_run(below))["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", reason_code))
        for word in words:
            self.assertIn(word, case["reason"])
        self.assertEqual(result.err.count("! "), 1, result.err)
        self.assertNotIn("Exception raised from", result.err)

    def test_operators_of_a_library_are_loaded_before_the_file(self):
        library = os.environ["PACELINE_TEST_OPERATORS"]
        torchscript(self.folder / "m.pt", "ops.paceline_test.twice(x)")
        self.refused(self.file("m.pt"), "needs paceline_test::twice", "--load-library FILE", reason_code="config")
        for engine in ("eager", "torchscript"):
            with self.subTest(engine=engine):
                self.assert_code(self.file("m.pt", "--engine", engine, "--load-library", library, "-o", engine), 0)
        self.write("p.yaml", f"kind: inference\nmodels: [m.pt]\nshapes: 'input:2x4'\nload_libraries: [{json.dumps(library)}]\niterations: 3\n")
        self.assert_code(self.run_cli("run", "p.yaml", *cli.QUICK, "-o", "plan"), 0)
        self.assert_error(self.file("m.pt", "--load-library", "gone.so"), 2, "library 'gone.so'", "does not exist")
        self.write("text.so", "no library")
        self.refused(self.file("m.pt", "--load-library", "text.so", "-o", "text"), "cannot load library", reason_code="config", below="text")

    def test_built_in_model_on_both_engines(self):
        self.assert_code(self.tiny("--engine", "eager,torchscript", "--batch", "1,2", "-r", "2"), 0)
        summary = self.summary()
        self.assertEqual(len(summary["cases"]), 4)
        for case in summary["cases"]:
            self.assertEqual((case["outcome"], case["stats"]["n"], case["throughput"]["item"]), ("ok", 6, "images"))
            self.assertTrue(case["correctness"]["checked"] and case["correctness"]["passed"])
            self.assertGreaterEqual(case["correctness"]["samples"], 8)
            self.assertEqual(case["effective_settings"]["threads"], "1")
            self.assertGreater(case["flops"]["model_flops_per_item"], 1e6)

    def test_output_outside_its_tolerance(self):
        result = self.tiny("--precision", "bf16", "--accuracy.max_rel_err", "1e-12")
        case = self.summary()["cases"][0]
        if case["outcome"] == "skipped":
            self.skipTest(case["reason"])
        self.assert_code(result, 1)
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "accuracy"))
        self.assertGreater(case["correctness"]["max_rel_err"], 1e-12)

    def test_precision_this_cpu_does_not_have(self):
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if "avx512_fp16" in flags or "amx_fp16" in flags:
            self.skipTest("this CPU has fp16")
        result = self.tiny("--precision", "fp16")
        self.assert_code(result, 77)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "unsupported"))
        self.assertIn("fp16", case["reason"])
        self.assertEqual(self.tiny("--precision", "fp16,fp32", "-o", "both").code, 0)

    def test_torchscript_file(self):
        torchscript(self.folder / "ok.pt", "torch.mul(x, x)")
        self.assert_code(self.file("ok.pt"), 0)
        case = self.summary()["cases"][0]
        self.assertTrue(case["correctness"]["passed"])

    def test_truncated_torchscript(self):
        torchscript(self.folder / "ok.pt", "torch.mul(x, x)")
        content = (self.folder / "ok.pt").read_bytes()
        (self.folder / "cut.pt").write_bytes(content[:len(content) // 2])
        self.refused(self.file("cut.pt"), "cut.pt", "cannot be read as TorchScript")

    def test_empty_and_foreign_files(self):
        for name, content in (("empty.pt", b""), ("text.pt", b"hello"), ("zip.pt", b"PK\x03\x04" + bytes(100))):
            (self.folder / name).write_bytes(content)
            self.refused(self.file(name), name)
            cli.shutil.rmtree(self.folder / "results")

    def test_shapes_that_do_not_fit_the_model(self):
        torchscript(self.folder / "m.pt", "torch.reshape(x, [2, 3])")
        self.refused(self.file("m.pt"), "cannot run on these inputs", "[2, 3]", reason_code="config")

    def test_wrong_number_of_inputs(self):
        torchscript(self.folder / "m.pt", "torch.mul(x, x)")
        self.refused(self.file("m.pt", shapes="a:2x4,b:2x4"), reason_code="config")

    def test_an_output_may_be_the_input(self):
        """Its memory is what the engine reads: overwriting it must not make a right model wrong."""
        torchscript(self.folder / "view.pt", "torch.reshape(x, [2, 4])")
        for engine in ("eager", "torchscript"):
            self.assert_code(self.file("view.pt", "--engine", engine, "-o", engine), 0)

    def test_weights_without_code(self):
        for name in ("weights.pth", "weights.jit"):
            with zipfile.ZipFile(self.folder / name, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr("weights/data.pkl", b"\x80\x02}.")
                archive.writestr("weights/version", "3\n")
            self.refused(self.file(name), name, "torch.save", "torch.jit.save")
            cli.shutil.rmtree(self.folder / "results")

    def test_torchscript_under_another_suffix(self):
        torchscript(self.folder / "m.jit", "torch.mul(x, x)")
        for engine in ("eager", "torchscript"):
            self.assert_code(self.file("m.jit", "--engine", engine, "-o", engine), 0)
            self.assertEqual(self.summary(self.only_run(engine))["cases"][0]["outcome"], "ok")

    def test_file_without_shapes(self):
        torchscript(self.folder / "m.pt", "torch.mul(x, x)")
        self.assert_error(self.run_cli("infer", "--model", "m.pt", *ARGUMENTS), 2, "m.pt", "'x' [not in the file]", "--shapes 'x:{batch}xDIM', with the sizes of the model")
        self.assert_nothing_ran()

    def test_truncated_safetensors(self):
        safetensors(self.folder / "w.safetensors", {"conv1.weight": [16, 3, 3, 3]}, cut=7)
        self.refused(self.tiny("--weights", "w.safetensors"), "w.safetensors")

    def test_invalid_safetensors(self):
        for content in (b"", b"1234", b"\xff" * 64, struct.pack("<Q", 5) + b"{[}]!"):
            (self.folder / "w.safetensors").write_bytes(content)
            self.refused(self.tiny("--weights", "w.safetensors"), "w.safetensors", "not a usable safetensors file")
            cli.shutil.rmtree(self.folder / "results")

    def test_weights_of_another_model(self):
        safetensors(self.folder / "w.safetensors", {"conv1.weight": [3, 3]})
        self.refused(self.tiny("--weights", "w.safetensors"), "conv1.weight", "[3,3]", "[16,3,3,3]")
        cli.shutil.rmtree(self.folder / "results")
        safetensors(self.folder / "w.safetensors", {"conv1.weight": [16, 3, 3, 3], "layer9.weight": [2]})
        self.refused(self.tiny("--weights", "w.safetensors"), "w.safetensors")

    def test_loaded_inputs_of_a_wrong_shape(self):
        npy(self.folder / "x.npy", (8, 3, 5))
        self.assert_error(self.tiny("--load-inputs", "x.npy"), 2, "x.npy", "[8, 3, 5]")
        (self.folder / "x.npy").write_bytes(b"no array")
        self.assert_error(self.tiny("--load-inputs", "x.npy"), 2, "x.npy", "magic bytes")

    def test_image_folder_without_images(self):
        (self.folder / "images").mkdir()
        self.refused(self.tiny("--image-dir", "images"), "images")
        cli.shutil.rmtree(self.folder / "results")
        (self.folder / "images" / "a.jpg").write_bytes(b"no image")
        self.refused(self.tiny("--image-dir", "images"), "a.jpg")

    PEAK = ["infer", "--model", "tiny_cnn", "--iterations", "3", "--idle-wait-s", "0", "--allow-noisy", "--warmup", "1", "--threads", "1", "-v"]

    def peaks_file(self):
        return Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json"

    def kept_peaks(self):
        """Returns those of arithmetic; those of copies are kept too, where nothing disturbed them."""
        return {key: entry for key, entry in json.loads(self.peaks_file().read_text(encoding="utf-8")).items() if "; copies; " not in key}

    def assert_raised_where_a_case_passes_it(self):
        """A cached peak that is too low is measured again."""
        file = self.peaks_file()
        slow = {key: {"flops_per_s": 1e3, "source": "a slow minute"} for key in self.kept_peaks()}
        file.write_text(json.dumps(slow), encoding="utf-8")
        result = self.run_cli(*self.PEAK, "-o", "raised")
        self.assertEqual(result.out.count("multiply-adds fp32 1 threads   done"), 1, "once, at the end")
        self.assertIn("is raised from 0 GFLOP/s", result.out + result.err)
        flops = self.summary(self.only_run("raised"))["cases"][0]["flops"]
        self.assertGreater(flops["peak_measured_flops_per_s"], 1e8)
        self.assertLess(flops["share_of_measured_peak"], 1)
        self.assertRegex(flops["peak_source"], "^a plain loop of multiply-adds .* in fp32, 1 threads")
        for entry in self.kept_peaks().values():
            self.assertEqual(entry["flops_per_s"], flops["peak_measured_flops_per_s"])

    def test_peak_is_measured_once_after_the_cases_and_again_where_one_passes_it(self):
        first = self.run_cli(*self.PEAK, "--batch", "1,2", "-o", "first")
        self.assert_code(first, 0)
        self.assertEqual(first.out.count("multiply-adds fp32"), 1, "two cases of one precision share the peak")
        self.assertLess(first.out.rindex("rep 1"), first.out.index("multiply-adds fp32"), "the peak was measured before the cases")
        peaks = [case["flops"] for case in self.summary(self.only_run("first"))["cases"]]
        self.assertGreater(peaks[0]["peak_measured_flops_per_s"], 1e8)
        self.assertGreater(peaks[0]["peak_spread"], 0)
        self.assertEqual(peaks[0]["peak_measured_flops_per_s"], peaks[1]["peak_measured_flops_per_s"])
        for peak in peaks:
            self.assertAlmostEqual(peak["share_of_measured_peak"], peak["achieved_flops_per_s"] / peak["peak_measured_flops_per_s"], places=9)
        self.assertEqual([entry["spread"] for entry in self.kept_peaks().values()], [peaks[0]["peak_spread"]])
        for case in self.summary(self.only_run("first"))["cases"]:  # a roofline has both
            (arithmetic, copies), = [device["peaks"] for device in case["device_peaks"]]
            self.assertRegex(case["device_peaks"][0]["device"], ", 1 thread$")
            self.assertEqual(arithmetic["per_s"], case["flops"]["peak_measured_flops_per_s"])
            self.assertEqual((copies["operation"], copies["variant"]), ("copy", "within_device"))
            self.assertGreater(copies["per_s"], 1e6)
            self.assertGreater(case["flops"]["flops_per_byte"], 1)
        again = self.run_cli(*self.PEAK, "-o", "again")
        self.assertNotIn("multiply-adds fp32", again.out)
        flops = self.summary(self.only_run("again"))["cases"][0]["flops"]
        self.assertEqual(flops["peak_measured_flops_per_s"], peaks[0]["peak_measured_flops_per_s"])
        self.assert_raised_where_a_case_passes_it()

    def test_a_bad_input_is_reported_before_any_peak_is_measured(self):
        npy(self.folder / "x.npy", (8, 3, 5))
        result = self.run_cli(*self.PEAK, "--load-inputs", "x.npy")
        self.assert_code(result, 2)
        self.assertNotIn("peak_", result.out)

    def test_a_damaged_cache_of_peaks_is_no_error(self):
        for content in ("", "{", "[1]", '{"x": 3}', "null"):
            file = Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
            result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "5",
                                  "--idle-wait-s", "0", "--allow-noisy", "--warmup", "1")
            self.assert_code(result, 0)

    def test_a_precision_whose_instructions_are_taken_away_is_skipped(self):
        """LibTorch would emulate bf16; a CPU that never had it is told apart."""
        for variable in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"):
            result = self.run_cli("infer", "--model", "tiny_cnn", "--precision", "bf16", f"--env.{variable}=AVX2", "--iterations", "3", "--idle-wait-s", "0",
                                  "--allow-noisy", "--warmup", "1", "--measure-peak=false", "-o", variable)
            case = self.summary(self.only_run(variable))["cases"][0]
            self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "unsupported"), str(result))
            flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
            if "avx512_bf16" in flags or "amx_bf16" in flags:
                self.assertIn(f"{variable}=AVX2 takes away", case["reason"])

    def test_a_limit_on_the_address_space_is_no_missing_library(self):
        limit = 300 << 20
        result = self.run_cli("infer", "--model", "tiny_cnn", "--engine", "eager", "--device", "cpu", *ARGUMENTS,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_code(result, 5)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "oom"), case["reason"])
        self.assertIn("limited to 315 MB (ulimit -v)", case["reason"])

    def test_plugin_is_described(self):
        text = self.run_cli("validate").out
        self.assertRegex(text, r"PASS +plug-in torch .*engines eager torchscript")
        self.assertEqual(os.path.basename(cli.BINARY), "paceline")


if __name__ == "__main__":
    cli.main()
