# SPDX-License-Identifier: MIT
"""Words on a command line are used, or are errors: stray words, switches with values, options that a command would not look at."""

import json
import os
import subprocess
import unittest

import paceline_cli as cli
from test_accuracy import npy_bytes

MODEL = ["--model", "tiny_cnn"]


class StrayWords(cli.CliTest):
    def expect(self, arguments, *words, lines=1):
        self.assert_error(self.run_cli(*arguments), 2, *words, lines=lines)
        self.assert_nothing_ran()

    def test_a_list_with_blanks(self):
        self.expect(["infer", *MODEL, "--batch", "1", "8"], "8: ", "--batch 1,8")
        self.expect(["infer", *MODEL, "--engine", "eager", "torchscript"], "--engine eager,torchscript")
        self.expect(["infer", "--model", "tiny_cnn", "resnet50"], "--model tiny_cnn,resnet50")

    def test_a_word_alone(self):
        for command, lines in (("infer", 2), ("validate", 1), ("export", 1), ("build", 1)):  # infer also misses its model
            self.expect([command, "foo"], "foo: ", f"paceline {command} --help", lines=lines)

    def test_a_model_without_its_flag(self):
        self.expect(["infer", "tiny_cnn"], "tiny_cnn", "--model tiny_cnn", lines=1)
        self.expect(["export", "net.onnx"], "--model net.onnx")

    def test_a_plan_for_a_command_without_plans(self):
        self.expect(["infer", "p.yaml"], "paceline run p.yaml", lines=2)

    def test_two_plans(self):
        self.write("a.yaml", "kind: inference\nmodels: [tiny_cnn]\n")
        self.expect(["run", "a.yaml", "b.yaml"], "b.yaml", "'a.yaml'")
        self.expect(["run", "-c", "a.yaml", "b.yaml"], "b.yaml", "-c a.yaml")
        self.expect(["run", "a.yaml", "--batch", "1", "8"], "8: ", "--batch 1,8")
        self.expect(["train", "a.yaml", "b.yaml"], "b.yaml")

    def test_a_word_after_a_flag_that_takes_none(self):
        self.expect(["infer", *MODEL, "--fp16", "false"], "false: ", "--fp16 takes no value")
        self.expect(["infer", *MODEL, "--pin", "1"], "1: ", "--pin true or --pin false")
        self.expect(["infer", *MODEL, "--no-pin", "8"], "8: ", "--no-pin takes no value")

    def test_a_long_word_is_cut(self):
        result = self.run_cli("infer", *MODEL, "x" * 100_000)
        self.assert_code(result, 2)
        self.assertLess(len(result.err), 500)


class Switches(cli.CliTest):
    def stored(self, *arguments):
        result = self.infer(*arguments)
        self.assert_code(result, 0)
        return (self.only_run() / "plan.yaml").read_text()

    def test_a_switch_with_a_value(self):
        plan = self.stored("--measure-peak", "false", "--allow-noisy", "true", "--pin", "no")
        self.assertIn("measure_peak: false", plan)
        self.assertIn("pin: false", plan)

    def test_a_switch_of_the_gpu_with_a_value(self):
        """Stored also where there is no GPU to use it."""
        for value in ("false", "true"):
            self.run_cli("infer", *MODEL, "--device", "cuda", "--cuda.cudnn_benchmark", value, "--iterations", 3, *cli.QUICK, "-o", value)
            self.assertIs(self.summary(self.only_run(value))["cases"][0]["config_effective"]["cuda.cudnn_benchmark"], value == "true")

    def test_of_training_and_of_commands(self):
        result = self.run_cli("train", *MODEL, "--data.augment", "false", "--dry-run", "true")
        self.assert_code(result, 0)
        self.assertIn("1 case", result.out)
        self.assertEqual(set(json.loads(self.run_cli("schema", "--json", "true").out)), {"engine-config", "plan", "result"})
        self.assertIn("# Commands", self.run_cli("schema", "--json", "false").out)

    def test_a_shorthand(self):
        result = self.run_cli("infer", *MODEL, "--channels-last", "false", "--dry-run")
        self.assert_code(result, 0)
        self.assertNotIn("channels_last", result.out)


class BeforeTheCommand(cli.CliTest):
    def test_quiet_and_verbose(self):
        loud, quiet = self.run_cli("validate"), self.run_cli("--quiet", "validate")
        self.assertEqual(loud.code, quiet.code)
        self.assertLess(len(quiet.out), len(loud.out))
        self.assert_code(self.run_cli("--verbose", "--no-color", "schema", "metrics"), 0)

    def test_an_option_before_the_command_is_named_with_its_place(self):
        self.assert_error(self.run_cli("--batch", "8", "infer"), 2, "'--batch'", "write: paceline infer --batch 8")


class NotIgnored(cli.CliTest):
    def test_schema_of_one_topic_into_a_file(self):
        self.assert_code(self.run_cli("schema", "plan", "-o", "plan.json"), 0)
        self.assertEqual((self.folder / "plan.json").read_text(), self.run_cli("schema", "plan").out)
        self.assert_code(self.run_cli("schema", "plan", "metrics", "-o", "both"), 0)
        self.assertEqual({p.name for p in (self.folder / "both").iterdir()}, {"plan.schema.json", "metrics.md"})

    def test_resume_goes_where_the_run_is(self):
        self.assert_code(self.infer(), 0)
        run = self.only_run()
        for words in (["-o", "X"], ["--experiment-name", "x"], ["-c", "p.yaml"], ["p.yaml"]):
            self.assert_error(self.run_cli("run", "--resume", run, *words), 2, "--resume", words[-1])
        self.assertFalse((self.folder / "X").exists())

    def test_export_is_a_file(self):
        os.mkfifo(self.folder / "pipe")
        for device in ("stdout", "null"):  # through links, which a rename would replace instead of the devices
            os.symlink(f"/dev/{device}", self.folder / device)
        for name in ("stdout", "null", "pipe"):
            self.assert_error(self.run_cli("export", *MODEL, "--output", name), 2, name, "name one")

    def test_dry_run_as_json(self):
        result = self.run_cli("infer", *MODEL, "--batch", "1,8", "--dry-run", "--json")
        self.assert_code(result, 0)
        planned = json.loads(result.out)
        self.assertEqual([(c["number"], c["case_id"]) for c in planned["cases"]], [(1, "tiny_cnn-eager-fp32-b1"), (2, "tiny_cnn-eager-fp32-b8")])
        self.assertGreater(planned["estimated_s"], planned["cases"][0]["estimated_s"])

    def test_a_dry_run_has_forms_and_a_run_has_its_report(self):
        out = self.run_cli("infer", *MODEL, "--batch", "1,8", "--dry-run", "--format", "markdown").out
        self.assertTrue(out.startswith("# infer\n\n2 cases, "), out)
        self.assertIn("| 2 | tiny\\_cnn-eager-fp32-b8 |", out)
        self.assert_code(self.run_cli("infer", *MODEL, "--dry-run", "--format", "html"), 0)
        self.assertIn("<h1>infer</h1>", (self.folder / "plan.html").read_text(encoding="utf-8"))
        self.assert_error(self.run_cli("infer", *MODEL, "--format", "html"), 2, "a run writes its report itself", "paceline report --format")

    def test_dry_run_knows_the_batch_of_a_file(self):
        """The size of a model file is all that is known: a batch of 32 takes longer than one of 1, and what the range goes by is said."""
        (self.folder / "m.pt").write_bytes(bytes(40_000_000))
        words = ("infer", "--model", "m.pt", "--engine", "eager", "--shapes", "x:{batch}x4", "--batch", "1,32")
        for more in ((), ("--iterations", "50")):
            planned = json.loads(self.run_cli(*words, *more, "--dry-run", "--json").out)
            one, many = (case["estimated_high_s"] for case in planned["cases"])
            self.assertGreater(many, (3 if more else 1) * one, more)  # a first look has limits in seconds
            self.assertEqual([case["estimated_from"] for case in planned["cases"]], ["size of the file"] * 2)
        self.assertRegex(self.run_cli(*words, "--dry-run").out, r"b1 +\d+–\d+ s\n.*\n\n2 cases, .* \(from the kind of CPU and the size of the models\)")

    def test_dry_run_of_what_is_skipped_has_no_time(self):
        result = self.run_cli("train", "--model", "gpt2", "--num-classes", "5", "--dry-run")
        self.assertIn("1 case, none of which is measured\n", result.out)
        self.assertNotIn("about", result.out)

    def test_dry_run_goes_by_stored_runs_of_the_same_case(self):
        words = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "50", "--warmup", "1")
        self.write("x.spin", "")
        def said(*more):
            return json.loads(self.run_cli(*words, *more, "--dry-run", "--json").out)["cases"][0]
        before = said()
        self.assertEqual(before["estimated_from"], "size of the file")
        self.assert_code(self.run_cli(*words, "--allow-noisy", "--idle-wait-s", "0", "--no-measure-peak"), 0)
        after = said()
        self.assertEqual(after["estimated_from"], "stored run")
        self.assertLess(after["estimated_high_s"], before["estimated_high_s"])
        self.assertEqual(said("--batch", "2")["estimated_from"], "size of the file")
        self.assertEqual(said("--output-dir", "elsewhere")["estimated_from"], "size of the file")
        self.assertIn("(from stored runs of this host)", self.run_cli(*words, "--dry-run").out)

    def test_dry_run_says_how_long_unsteady_times_take(self):
        """Measuring ends when an interval is narrow; where it never is, at the limit."""
        def said(*more):
            return json.loads(self.run_cli("infer", *MODEL, *more, "--dry-run", "--json").out)["cases"][0]
        adaptive, fixed = said("--stop.t_max_s", "600"), said("--iterations", "10")
        self.assertGreater(adaptive["estimated_most_s"], 600)
        self.assertLess(adaptive["estimated_s"], 600)
        self.assertEqual(fixed["estimated_most_s"], fixed["estimated_high_s"])
        self.assertRegex(self.run_cli("infer", *MODEL, "--stop.t_max_s", "600", "--dry-run").out, r"\d.*, up to 1\d min where times are unsteady")

    def test_a_page_that_cannot_be_written_keeps_the_table(self):
        """A report that cannot be written comes after the numbers that were measured."""
        process = self.start("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", 200,
                             *cli.QUICK, env={"SPIN_US": "10000"})
        self.assertTrue(cli.wait_until(lambda: list(self.folder.glob("results/*/*/plan.yaml"))))
        (self.only_run() / "report.html").mkdir()
        result = self.finish(process)
        self.assert_code(result, 2)
        self.assertIn("x.spin", result.out)
        self.assertIn("p50 ms", result.out)
        self.assertIn("report.html", result.err)
        self.assertIn("Is a directory", result.err)

    def test_time_limit_of_an_export(self):
        self.assert_error(self.run_cli("export", *MODEL, "--output", "m.onnx", "--timeout-s", "0.1"), 5, "timeout_s = 0.1")
        self.assertFalse((self.folder / "m.onnx").exists())

    def test_time_limit_of_a_build(self):
        self.assert_error(self.run_cli("build", *MODEL, "--output", "m.blob", "--timeout-s", "0.1"), 5, "timeout_s = 0.1")
        self.assertEqual(list(self.folder.glob("m.blob*")), [])


class Reading(cli.CliTest):
    PLAN = "kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [1, 8]\n"

    def shell(self, script, **options):
        done = subprocess.run(["bash", "-c", script], env={**self.env, "P": cli.BINARY}, cwd=self.folder, capture_output=True, text=True,
                              timeout=cli.TIMEOUT_S, **options)
        return cli.Finished(done.returncode, done.stdout, done.stderr)

    def test_plans_from_pipes(self):
        self.write("p.yaml", self.PLAN)
        for script in ('"$P" run <(cat p.yaml) --dry-run', 'cat p.yaml | "$P" run - --dry-run', 'cat p.yaml | "$P" run /dev/stdin --dry-run',
                       '"$P" run - --dry-run < p.yaml', '"$P" run -c - --dry-run < p.yaml', '"$P" run <(sleep 1; cat p.yaml) --dry-run'):
            result = self.shell(script)
            self.assert_code(result, 0)
            self.assertIn("2 cases", result.out, script)

    def test_a_plan_with_its_own_plugin_from_a_pipe(self):
        """The plan is needed twice, for its plug-ins and for its cases, and a pipe is read once."""
        self.spin_plan(name="p.yaml")
        result = self.shell('cat p.yaml | "$P" run -')
        self.assert_code(result, 0)
        self.assertEqual(self.only_run().parent.name, "plan")
        self.assertEqual(self.shell('"$P" run <(cat p.yaml) --dry-run').code, 0)

    def test_mistakes_in_a_pipe_have_a_place(self):
        result = self.shell('printf "kind: inference\\nmodels: [tiny_cnn]\\nbach: 1\\n" | "$P" run -')
        self.assert_error(result, 2, "standard input:3:1", "'bach'")

    def test_a_plan_without_end(self):
        for name in ("/dev/zero", "link"):
            if name == "link":
                os.symlink("/dev/zero", self.folder / "link")
            self.assert_error(self.run_cli("run", name, timeout=30), 2, name, "it is a device")
        self.assert_error(self.shell('yes | "$P" run -'), 2, "larger than 4 MiB")
        with open(self.folder / "huge.yaml", "w", encoding="utf-8") as file:
            file.truncate(1 << 40)
        self.assert_error(self.run_cli("run", "huge.yaml", timeout=30), 2, "huge.yaml", "at most 4 MiB")

    def test_a_named_pipe_that_nobody_writes(self):
        os.mkfifo(self.folder / "p.yaml")
        self.assert_error(self.run_cli("run", "p.yaml", timeout=30), 2, "p.yaml", "nobody has written")

    def test_stored_runs_with_pipes_and_devices(self):
        self.assert_code(self.infer(), 0)
        run = self.only_run()
        for name, make in (("samples.csv", lambda p: os.symlink("/dev/zero", p)), ("run_summary.json", os.mkfifo)):
            (run / name).unlink()
            make(run / name)
            result = self.run_cli("report", "-s", run, "-f", "text" if name == "run_summary.json" else "html", "-o", "out", timeout=30)
            self.assert_code(result, 2)
            self.assertIn(name, result.err)

    def test_models_that_are_pipes_and_devices(self):
        os.mkfifo(self.folder / "pipe.onnx")
        os.symlink("/dev/zero", self.folder / "zero.onnx")
        self.write("lfs.onnx", "version https://git-lfs.github.com/spec/v1\n")
        for name, words in (("pipe.onnx", "it is a device or a pipe"), ("zero.onnx", "it is a device or a pipe"), ("lfs.onnx", "git lfs pull")):
            self.assert_error(self.run_cli("infer", "--model", name, timeout=30), 2, name, words)

    def test_hosts_without_ranks(self):
        plan = self.spin_plan()
        for option, value in (("--nnodes", 2), ("--interface", "lo"), ("--rdzv-endpoint", "a:1")):
            self.assert_error(self.run_cli("run", plan, option, value), 2, f"{option}: no workload of this plan runs on ranks")
        self.assert_code(self.run_cli("run", plan, "--output-dir", "out"), 0)
        self.assert_error(self.run_cli("run", "--resume", self.only_run("out"), "--nproc-per-node", 2), 2, "--nproc-per-node: no workload")

    def test_options_of_images_need_images(self):
        for option, value in (("--mean", "127.5"), ("--scale", "127.5"), ("--reverse-channels", "true")):
            with self.subTest(option=option):
                self.assert_error(self.run_cli("infer", "--model", "tiny_cnn", option, value), 2, "add --image-dir or --calib-images")
        self.assert_error(self.run_cli("infer", "--model", "tiny_cnn", "--image-dir", ".", "--mean", "1,2"), 2, "one value, or three")

    def test_a_reference_that_is_neither_engine_nor_file(self):
        self.assert_error(self.run_cli("infer", "--model", "tiny_cnn", "--accuracy-reference", "nope"), 2, "'nope' is none of", "and no file")
        self.assert_nothing_ran()
        self.assert_error(self.run_cli("infer", "--model", "tiny_cnn", "--accuracy-reference", "eagr"), 2, "did you mean 'eager'?")

    def test_channels_may_have_equal_values(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--image-dir", ".", "--mean", "127.5,127.5,127.5", "--scale", "[58,57,57]", "--dry-run")
        self.assertNotIn("stands twice", result.out + result.err)
        self.assertNotIn("one value, or three", result.out + result.err)

    def test_a_number_of_samples_and_a_duration_are_two_answers(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--iterations", "20", "--duration", "3")
        self.assert_error(result, 2, "'--iterations' fixes the number of samples, so '--duration' would do nothing")

    def test_labels_and_images_that_are_devices_and_pipes(self):
        (self.folder / "x.npy").write_bytes(npy_bytes([0.5] * 3072, (1, 3, 32, 32)))
        for kind, make, words in (("device", lambda p: os.symlink("/dev/zero", p), "it is a device"), ("pipe", os.mkfifo, "nobody has written")):
            name = f"{kind}/a.png"
            (self.folder / kind).mkdir()
            make(self.folder / name)

            def check(*arguments, kind=kind, name=name, words=words):
                out = "-".join([kind, *arguments]).replace("/", "")
                self.assert_code(self.run_cli("infer", *MODEL, *arguments, "--weights-seed", "1", *cli.QUICK, "-o", out, timeout=60), 2)
                case = self.summary(self.only_run(out))["cases"][0]
                self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "data"))
                if arguments[0] == "--image-dir":
                    self.assertIn(f"'{kind}' contains no .jpg, .jpeg or .png file (but 1 pipe or device)", case["reason"])
                else:
                    self.assertIn(f"cannot read '{name}': ", case["reason"])
                    self.assertIn(words, case["reason"])

            cli.at_once(check, [("--image-dir", kind), ("--load-inputs", "x.npy", "--labels", name), ("--load-inputs", name)])


class Terminal(cli.CliTest):
    ESCAPE = "\x1b]0;owned\x07"

    def assert_clean(self, result):
        for text in (result.out, result.err):
            for character in ("\x1b", "\x07", "\x9b", "\u202e"):
                self.assertNotIn(character, text)

    def test_control_characters_of_arguments_and_plans(self):
        self.write("p.yaml", f'kind: inference\nmodels: [tiny_cnn]\n"{chr(92)}e[31mkey": 1\n')
        for arguments in (["infer", "--model", self.ESCAPE], [self.ESCAPE], ["infer", self.ESCAPE], ["run", "p.yaml"], ["run", self.ESCAPE],
                          ["report", self.ESCAPE], ["infer", "--" + self.ESCAPE], ["schema", self.ESCAPE], ["infer", "--model", "a\u202eb"]):
            result = self.run_cli(*arguments)
            self.assert_code(result, 2)
            self.assert_clean(result)

    def test_a_line_that_an_argument_forges(self):
        self.assert_error(self.run_cli("run", "x\npaceline: all is well"), 2)
        self.assert_error(self.run_cli("report", "x\npaceline: all is well"), 2)

    def test_names_of_models(self):
        name = "a\x1b[31m\x07b.spin"
        self.write(name, "")
        result = self.infer(model=name)
        self.assert_code(result, 0)
        self.assert_clean(result)
        self.assert_clean(self.run_cli("report", "-s", self.only_run(), "-f", "text"))
        self.assert_clean(self.run_cli("report", "-s", self.only_run(), "-f", "markdown"))

    def test_messages_of_libraries(self):
        result = self.infer(engine="fault", env={"SPIN_FAULT": "escape"})
        self.assert_code(result, 5)
        self.assertIn("31mred", result.out + result.err)
        self.assertNotIn("\npaceline: all is well", result.out + result.err)
        self.assert_clean(result)
        for form in ("text", "markdown", "json"):
            self.assert_clean(self.run_cli("report", "-s", self.only_run(), "-f", form))

    def test_long_values_are_cut(self):
        long = "x" * 200_000
        self.write("p.yaml", f"kind: inference\nmodels: [tiny_cnn]\nprecisions: [{long}]\n{long}: 1\n")
        for result in (self.run_cli("run", "p.yaml"), self.run_cli("infer", "--model", "x" * 100_000), self.run_cli("x" * 100_000)):
            self.assert_code(result, 2)
            self.assertLess(len(result.err), 10_000)

    def test_words_of_libraries(self):
        self.write("run/run_summary.json", "{")
        self.write("config.json", "{]")
        for result in (self.run_cli("report", "-s", "run"),
                       self.run_cli("build", "--model", "m.onnx", "--engine-config", "config.json", "--output", "m.blob")):
            self.assert_error(result, 2, "JSON")
            self.assertNotIn("json.exception", result.err)

    def test_an_empty_result(self):
        for text in ("{}", "[]", '{"run_id": "x"}'):
            self.write("run/run_summary.json", text)
            self.assert_error(self.run_cli("report", "-s", "run", "-f", "text"), 2, "run_summary.json", "no result of a run")


class Environment(cli.CliTest):
    def test_a_nul_in_a_value(self):
        plan = self.spin_plan('env: {A: ["x\\0y", "x\\0z"]}')
        self.assert_error(self.run_cli("run", plan), 2, "env.A", "NUL", lines=2)
        self.assert_nothing_ran()

    def test_a_value_longer_than_the_system_takes(self):
        plan = self.spin_plan(f"env: {{LONG: {'x' * 140_000}}}")
        result = self.run_cli("run", plan)
        self.assert_error(result, 2, "env.LONG", "140000 bytes")
        self.assertLess(len(result.err), 1000)

    def test_together_longer_than_the_system_takes(self):
        plan = self.spin_plan("env: {" + ", ".join(f"V{i}: {'x' * 120_000}" for i in range(30)) + "}")
        result = self.run_cli("run", plan)
        self.assertIn("environment variables are longer", result.out + result.err)
        self.assertNotRegex(result.out + result.err, r"\b127\b")

    def test_few_open_files(self):
        import resource
        result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *cli.QUICK,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
        self.assertNotEqual(result.code, 0)
        self.assertIn("ulimit -n", result.out + result.err)
        self.assertNotRegex(result.out + result.err, r"\b127\b")


class Help(cli.CliTest):
    def test_the_whole_names_its_workloads(self):
        self.assertRegex(self.run_cli("--help").out, "measures how fast deep-learning workloads run")

    def test_no_choice_that_does_not_exist(self):
        self.assertNotIn("Not available yet", self.run_cli("infer", "--help").out)
        self.assert_error(self.run_cli("report", "-s", ".", "-f", "pfd"), 2, "did you mean 'pdf'")

    def test_what_a_file_is_quantised_with_stands_where_files_are_written(self):
        for command in ("infer", "export", "build"):
            text = self.run_cli(command, "--help").out
            for option in ("--calib-data", "--calib-images", "--quantisation.method", "--quantisation.activations"):
                self.assertIn(option, text, f"{command} --help")

    def test_words_of_this_house(self):
        text = self.run_cli("infer", "--help").out
        self.assertNotRegex(text, r"(?m)^  (-\w, )?--\w*[A-Z]")
        self.assertIn("--cuda-graphs", text)


if __name__ == "__main__":
    cli.main()
