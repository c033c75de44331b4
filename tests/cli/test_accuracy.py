# SPDX-License-Identifier: MIT
"""The accuracy gate: answers and labels, claims with their exit codes, expected outputs of the user's. The spin engine gives back
the four numbers of each input, so what is expected is known."""

import base64
import struct
import unittest
import zipfile

import paceline_cli as cli

CLASSES = 4


def rows(count, flipped=()):
    """Class scores whose largest is at i % 4 (at the next place for those flipped); every row is different."""
    out = []
    for i in range(count):
        answer = (i + 1) % CLASSES if i in flipped else i % CLASSES
        out.append([10.0 + i * 0.01 if k == answer else 0.001 * k for k in range(CLASSES)])
    return out


def npy_bytes(values, shape, code="<f4", kind="f"):
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{kind}", *values)


def matrix(lines):
    return npy_bytes([v for line in lines for v in line], (len(lines), len(lines[0])))


class Accuracy(cli.CliTest):
    def given(self, inputs, expected=None):
        (self.folder / "in.npy").write_bytes(matrix(inputs))
        (self.folder / "ref.npy").write_bytes(matrix(inputs if expected is None else expected))

    def check(self, *arguments, engine="spin", **options):
        return self.infer("--load-inputs", "in.npy", "--accuracy-reference", "ref.npy", "--accuracy-samples", 600, *arguments,
                          engine=engine, iterations=3, **options)

    def case(self):
        return self.summary()["cases"][0]

    def assert_failed(self, result, code, reason_code, *words):
        self.assert_code(result, code)
        case = self.case()
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", reason_code), str(result))
        for word in words:
            self.assertIn(word, case["reason"])
        return case


class Answers(Accuracy):
    def test_same_answers_pass(self):
        self.given(rows(64))
        result = self.check("--batch", "8")
        self.assert_code(result, 0)
        c = self.case()["correctness"]
        self.assertEqual((c["passed"], c["judged_by"], c["samples"], c["samples_asked"]), (True, "answers", 64, 600))
        self.assertEqual(c["top1"]["value"], 1)
        self.assertAlmostEqual(c["top1"]["ci_low"], 0.025 ** (1 / 64), 9)
        self.assertEqual(c["reference"], "expected outputs of ref.npy")
        self.assertEqual(c["inputs"], "load_inputs in.npy")
        self.assertIn("top-1 kept", result.out)

    def test_changed_answers_fail(self):
        self.given(rows(64), rows(64, flipped=range(16)))
        result = self.check("--accuracy.max_changed", "0.1")
        case = self.assert_failed(result, 1, "accuracy", "top-1 answer changes for 25 %", "more than the 10 % accepted")
        self.assertIsNone(case["headline"]["p50_ns"]["value"])

    def test_a_few_changes_are_reported_with_their_interval(self):
        self.given(rows(64), rows(64, flipped=[0, 20]))
        self.assert_code(self.check("--accuracy.max_changed", "0.1", "--accuracy.max_rel_err", "2", "--accuracy.centred_cosine", "-1"), 0)
        texts = " ".join(f["text"] for f in self.summary()["findings"])
        self.assertIn("changes the top-1 answer of spin x.spin load_inputs=in.npy at batch 1 for 3.1 % (0.38–11 %) of 64 inputs", texts)

    def test_outputs_of_fp32_are_judged_too(self):
        self.given(rows(64), [[4 * v for v in row] for row in rows(64)])
        self.assert_failed(self.check(), 1, "accuracy", "max error 0.75 exceeds")

    def test_nan_fails_with_a_reference_too(self):
        self.given(rows(8))
        self.assert_failed(self.check(engine="fault", env={"SPIN_FAULT": "nan"}), 1, "accuracy", "NaN")

    def test_more_samples_than_given_are_not_invented(self):
        self.given(rows(10))
        self.assert_code(self.check("--batch", "8"), 0)
        self.assertEqual(self.case()["correctness"]["samples"], 10)

    def test_generated_inputs_are_64_and_two_batches(self):
        for arguments, samples in (([], 64), (["-r", "1"], 64), (["--batch", "64"], 128), (["--batch", "64", "--accuracy-samples", "64"], 64)):
            with self.subTest(arguments=arguments):
                folder = f"generated{samples}-{len(arguments)}"
                self.assert_code(self.infer("-o", folder, *arguments), 0)
                c = self.summary(self.only_run(folder))["cases"][0]["correctness"]
                self.assertEqual((c["checked"], c["samples"], c["inputs"]), (False, samples, "random, seed 1"))


class Claims(Accuracy):
    def claim(self, *arguments, **options):
        result = self.check("--accuracy-claim", "0.005", "--accuracy.max_rel_err", "2", "--accuracy.centred_cosine", "-1",
                            "--junit", "j.xml", *arguments, **options)
        return result, self.case()["correctness"]["claim"], [gate["verdict"] for gate in self.summary()["gates"]]

    def test_enough_inputs(self):
        self.given(rows(598))
        result, claim, gates = self.claim("--batch", "23")
        self.assert_code(result, 0)
        self.assertEqual((claim["verdict"], claim["basis"], gates), ("passed", "answers", ["met"]))
        self.assertLess(claim["bound"], 0.005)

    def test_too_few_inputs_cannot_claim(self):
        self.given(rows(64))
        result, claim, gates = self.claim()
        self.assert_code(result, 3)
        self.assertEqual((claim["verdict"], claim["inputs_needed"], gates), ("cannot_claim", 598, ["cannot_say"]))
        self.assertEqual(self.case()["outcome"], "ok")
        self.assertIn("598 distinct inputs without a change carry the claim", result.out)
        self.assertEqual(self.summary()["exit_code"], 3)
        self.assertIn("<error ", (self.folder / "j.xml").read_text(encoding="utf-8"))

    def test_the_same_input_again_is_no_evidence(self):
        self.given([rows(1)[0]] * 600)
        result, claim, _ = self.claim()
        self.assert_code(result, 3)
        self.assertEqual((claim["verdict"], self.case()["correctness"]["samples"]), ("cannot_claim", 1))

    def test_one_flip_in_600(self):
        self.given(rows(600), rows(600, flipped=[77]))
        result, claim, _ = self.claim("--batch", "25")
        self.assert_code(result, 3)
        self.assertGreater(claim["inputs_needed"], 600)

    def test_many_flips_fail(self):
        self.given(rows(600), rows(600, flipped=range(100, 120)))
        result, claim, gates = self.claim("--batch", "25")
        self.assert_failed(result, 1, "accuracy", "top-1 changes by 0.5 % or more")
        self.assertEqual((claim["verdict"], gates), ("failed", ["missed"]))

    def test_without_a_reference(self):
        self.assert_code(self.infer("--accuracy-claim", "0.005"), 3)
        self.assertIn("no reference", self.case()["correctness"]["claim"]["detail"])

    def test_fixed_iterations_alone_are_no_reason_for_3(self):
        self.given(rows(64))
        self.assert_code(self.check(), 0)


class Labels(Accuracy):
    def labels(self, count, wrong=()):
        return "".join(f"{(i + 2 if i in wrong else i) % CLASSES}\n" for i in range(count))

    def test_change_of_accuracy(self):
        self.given(rows(600, flipped=range(10, 50)), rows(600))  # the engine is wrong on 40
        self.write("labels.txt", self.labels(600))
        result = self.check("--labels", "labels.txt", "--accuracy-claim", "0.005", "--accuracy.max_changed", "0.5",
                            "--accuracy.max_rel_err", "2", "--accuracy.centred_cosine", "-1", "--batch", "25")
        self.assert_failed(result, 1, "accuracy", "top-1 accuracy goes from 100 % to 93.3 %", "40 lost, 0 gained")
        labelled = self.case()["correctness"]["labelled"]
        self.assertAlmostEqual(labelled["change"]["value"], -40 / 600, 12)
        self.assertEqual(labelled["change"]["ci_method"], "tango_score")
        right = base64.b64decode(labelled["answers"]["right_base64"])
        self.assertEqual([i for i in range(600) if not right[i // 8] >> i % 8 & 1], list(range(10, 50)))
        self.assertRegex(labelled["answers"]["inputs_sha256"], "^[0-9a-f]{64}$")

    def test_other_answers_that_are_as_often_right(self):
        self.given(rows(600), rows(600, flipped=[5]))
        self.write("labels.txt", self.labels(600, wrong=[5]))  # both are wrong there
        result = self.check("--labels", "labels.txt", "--accuracy-claim", "0.005", "--accuracy.max_rel_err", "2",
                            "--accuracy.centred_cosine", "-1", "--batch", "25")
        self.assert_code(result, 0)
        c = self.case()["correctness"]
        self.assertEqual((c["claim"]["verdict"], c["claim"]["basis"], c["labelled"]["change"]["value"]), ("passed", "labels", 0))

    def test_array_of_labels(self):
        self.given(rows(8))
        (self.folder / "labels.npy").write_bytes(npy_bytes([i % CLASSES for i in range(8)], (8,), "<i8", "q"))
        self.assert_code(self.check("--labels", "labels.npy"), 0)
        self.assertEqual(self.case()["correctness"]["labelled"]["top1"]["value"], 1)

    def test_labels_that_do_not_fit_into_memory_end_their_case_alone(self):
        self.given(rows(8))
        with open(self.folder / "labels.npy", "wb") as file:  # its values are a hole
            file.write(npy_bytes([], (10 ** 11,), "<i8", "q"))
            file.truncate(file.tell() + 8 * 10 ** 11)
        self.assert_failed(self.check("--labels", "labels.npy"), 5, "oom", "out of memory: the labels of")

    def test_mistakes(self):
        self.given(rows(8))
        self.write("seven.txt", self.labels(7))
        self.write("word.txt", "1\ncat\n")
        self.write("nine.txt", "9\n" * 8)
        for file, words in (("seven.txt", ["7 labels", "8 inputs"]), ("word.txt", ["line 2", "'cat'"]),
                            ("nine.txt", ["label 1 is 9", "4 classes (0 to 3)"]), ("none.txt", ["none.txt"])):
            cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
            self.assert_failed(self.check("--labels", file), 2, "data", *words)

    def test_labels_of_generated_inputs(self):
        self.assert_error(self.infer("--labels", "l.txt"), 2, "--load-inputs or --image-dir")


class References(Accuracy):
    def test_named_array_of_an_archive(self):
        self.given(rows(8))
        with zipfile.ZipFile(self.folder / "ref.npz", "w") as archive:
            archive.writestr("other.npy", matrix([[1.0, 2.0]] * 8))
            archive.writestr("logits.npy", matrix(rows(8)))
        self.assert_code(self.infer("--load-inputs", "in.npy", "--accuracy-reference", "logits:ref.npz"), 0)
        self.assertTrue(self.case()["correctness"]["passed"])

    def test_mistakes(self):
        self.given(rows(8))
        (self.folder / "short.npy").write_bytes(matrix(rows(5)))
        (self.folder / "wide.npy").write_bytes(matrix([row + [0.0] for row in rows(8)]))
        (self.folder / "junk.npy").write_bytes(b"junk")
        for file, words in (("short.npy", ["[5, 4]", "8 inputs are compared"]), ("wide.npy", ["'wide.npy' contains [8, 1, 5]", "[8, 1, 4]"]),
                            ("junk.npy", ["junk.npy"]), ("none.npy", ["none.npy"]), ("x:ref.npy", ["no array named 'x'"])):
            cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
            self.assert_failed(self.infer("--load-inputs", "in.npy", "--accuracy-reference", file), 2, "data", *words)

    def test_an_engine_that_is_not_here(self):
        self.given(rows(8))
        result = self.infer("--load-inputs", "in.npy", "--accuracy-reference", "tensorrt")
        self.assert_code(result, 77)
        self.assertEqual(self.case()["reason_code"], "unavailable")
        self.assertIn("accuracy reference 'tensorrt'", self.case()["reason"])

    def test_another_engine_as_reference(self):
        self.given(rows(8))
        self.assert_code(self.infer("--load-inputs", "in.npy", "--accuracy-reference", "fault"), 0)
        c = self.case()["correctness"]
        self.assertEqual((c["passed"], c["reference"]), (True, "the file's own fp32 run in fault"))

    def test_resume_keeps_the_verdict(self):
        self.given(rows(64))
        self.assert_code(self.check("--accuracy-claim", "0.005", "-r", "2"), 3)
        before = self.case()["correctness"]
        run = self.only_run()
        self.assert_code(self.run_cli("run", "--resume", run), 3)
        self.assertEqual(self.case()["correctness"], before)


if __name__ == "__main__":
    cli.main()
