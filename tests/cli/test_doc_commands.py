# SPDX-License-Identifier: MIT
"""Every command of the documents is checked: with --dry-run if it measures, the rest as far as it can be read without doing it."""

import shutil
import sys
import zipfile

import doc_checks
import doc_commands
import known_traces
import onnx_files
import paceline_cli as cli
import test_nsight
import test_step_files
import transformer_files
from doc_commands import ROOT
from test_accuracy import npy_bytes

DATA = ROOT / "tests/cli/data"
RUNS = ("results/quickstart/1", "results/mine/<run_id>", "results/scaling/1", "results/infer/…", "results/EXPERIMENT/FIRST", "results/EXPERIMENT/SECOND", "DIR", "DIR_A",
        "DIR_B", "A", "B", "RUN", "out/1")
MODELS = ("net", "old", "new", "net_int8", "digits", "digits_int8", "float", "model", "minilm", "resnet50_b8", "OUT/model")
ONLY_THERE = ("net.pt", "resnet50.plan", "resnet50.build2.plan", "resnet50.build3.plan", "FILE.safetensors", "resnet50.safetensors", "val.txt")   # not read
PLAN = "allow_noisy: true\nworkloads:\n  - {kind: inference, models: [tiny_cnn]}\n  - {kind: training, models: [tiny_cnn]}\n"

# A command, and a word of what is said of it.
WRONG = (
    ("paceline infer --model resnet50 --batches 8", "--batches: unknown option"),
    ("paceline infer --model nowhere.onnx", "does not exist"),
    ("paceline run PLAN.yaml --batch eight", "eight"),
    ("paceline monitor --serves 127.0.0.1:9400", "--serves: unknown option"),
    ("paceline compare A B --treshold 5%", "--treshold: unknown option"),
    ("paceline report --source DIR --format words", "words"),
    ("paceline measure --model resnet50", "no such command"),
    ("mpirun -np 2 paceline comm --sizes 8", "--sizes: unknown option"),
    ("docker run --rm paceline infer --modl x", "--modl: unknown option"),
    ("paceline profile --tool ncu infer --modl x", "--modl: unknown option"),
    ("make everything", "no target 'everything'"),
    ("make demo PLANS=x.yaml", "no variable 'PLANS'"),
    ("cmake --preset fast", "no preset 'fast'"),
    ("ctest -R no_such_test", "no test has such a name"),
    ("unit_result --gtest_filter=NoSuch.*", "no test has such a name"),
    ("tools/monitor_cost.py --rounds 20 -- infer --model tiny_cnn", "unrecognized arguments"),
    ("tools/monitor_cost.py --pairs 20 -- infer --modl tiny_cnn", "--modl: unknown option"),
    ("tools/claims_study.py ab", "invalid choice"),
    ("tools/none.py", "No such file"),
    ("scripts/gpu_day.sh week", "invalid choice"),
    ("scripts/setup.sh --check-all", "no option --check-all"),
    ("scripts/none.sh", "no such program"),
    ("scripts/run_single_node.sh 2 PLAN.yaml --training.presision=fp32", "did you mean"),
    ("wget example.org", "nothing checks it"),
)


def words_of(text):
    return [command.words for command in doc_commands.of_page("a.md", text)]


class Finding(cli.unittest.TestCase):
    def test_lines_of_a_block(self):
        text = "```sh\nmake demo   # it's first\nA=1 paceline run \\\n  x.yaml && cat 'a b'\n\nfor i in 1 2; do paceline validate; done\n```\n"
        self.assertEqual(words_of(text), [("make", "demo"), ("paceline", "run", "x.yaml"), ("cat", "a b"), ("paceline", "validate")])
        self.assertEqual([(command.line, command.variables) for command in doc_commands.of_page("a.md", text)][:2], [(2, {}), (3, {"A": "1"})])

    def test_variables_of_a_block(self):
        self.assertEqual(words_of('```sh\nS="--batch 2"\npaceline infer $S\n```\n'), [("paceline", "infer", "--batch", "2")])

    def test_output_has_a_prompt(self):
        self.assertEqual(words_of("```\n$ paceline validate\npaceline: 1 error\n```\n"), [("paceline", "validate")])
        self.assertEqual(words_of("```yaml\nmake: demo\n```\n"), [])

    def test_parts_of_sentences(self):
        text = "Type `paceline infer --model A` or `make`, not `paceline::Error`.\n| `paceline report \\| cat` |\n"
        self.assertEqual(words_of(text), [("paceline", "infer", "--model", "A"), ("paceline", "report"), ("cat",)])

    def test_blocks_of_commands_say_so(self):
        self.assertEqual([block for page, text in doc_commands.pages().items() for block in doc_commands.unmarked_blocks(page, text)], [])
        self.assertEqual(len(list(doc_commands.unmarked_blocks("a.md", "```\npaceline run x.yaml\n```\n\n```\npaceline: 1 error\n```\n"))), 1)


class DocCommands(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.checker = doc_checks.Checker(self.folder, self.env)

    def make_files(self):
        """A file of every name that the pages use."""
        for name in MODELS:
            self.write(f"{name}.onnx", "").write_bytes(onnx_files.linear(name="image" if name.startswith("digits") else "x"))
        for name in ("x.npy", "samples.npy", "test.npy", "calib.npy", "labels.npy"):
            (self.folder / name).write_bytes(npy_bytes([0.5] * 32, (8, 4)))
        with zipfile.ZipFile(self.folder / "inputs.npz", "w") as arrays:
            arrays.writestr("x.npy", npy_bytes([0.5] * 32, (8, 4)))
        for name in ONLY_THERE:
            self.write(name, "")
        for name in ("PLAN.yaml", "plan.yaml", "mine.yaml", "engines.yaml", "quickstart.yaml"):
            self.write(name, PLAN)
        self.write("times.txt", "0\n0.5\n")
        for name in RUNS:
            self.copy_run("0.1.0/infer", name)
        self.copy_run("training_run", "TRAINED")
        for name in ("TRACES", "traces", "CASE"):
            known_traces.write_traces(self.folder / name, lambda rank, step: 100)
        for name in ("steps", "steps-before", "steps-after"):
            test_step_files.write_folder(self.folder / name, test_step_files.job())
        for name in ("photos", "FOLDER", "val"):
            (self.folder / name / "cat").mkdir(parents=True)
        for name in ("ort-1.31.1", "ort-1.32.0"):
            (self.folder / name / "lib/python3/site-packages/onnxruntime/capi").mkdir(parents=True)   # as a Python environment has it
        shutil.copy(ROOT / "tests/data/traces/h200_rank0.json.gz", self.folder / "trace_rank0.json.gz")
        shutil.copy(ROOT / "examples/engine_config.json", self.folder / "engine.json")
        shutil.copy(test_nsight.TABLE, self.folder / "kernels.csv")
        test_nsight.timeline(self.folder / "timeline.sqlite")
        transformer_files.write_bert_folder(self.folder / "minilm", transformer_files.Size())
        for name, target in (("examples", ROOT / "examples"), ("build/release", doc_checks.BUILD), ("FILE.so", cli.SPIN), ("libpaceline_spin.so", cli.SPIN),
                             ("VENV/bin/python", sys.executable), ("base/bin/paceline", cli.BINARY),
                             ("torch-2.14.1/bin/paceline", cli.BINARY), ("torch-2.15.0/bin/paceline", cli.BINARY)):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).symlink_to(target)

    def copy_run(self, run, name):
        shutil.copytree(DATA / run, self.folder / name)
        for plan in (self.folder / name).glob("plan.yaml"):
            plan.write_text(plan.read_text().replace("SPIN.so", cli.SPIN))

    def problems(self, commands):
        found, seen = [], {}
        for command in commands:
            key = (command.words, tuple(command.variables.items()), command.whole)
            if key not in seen:
                seen[key] = self.checker.problem(command)
            if seen[key]:
                found.append(f"{command}\n    {seen[key]}")
        return found

    def test_every_command_of_the_documents(self):
        self.make_files()
        self.assert_code(self.run_cli("monitor", "--record", "night.jsonl", "--count", 2, "--interval-s", 0.1, "--quiet"), 0)
        commands = doc_commands.all_commands()
        self.assertGreater(len(commands), 300)
        found = self.problems(commands)
        self.assertEqual(len(found), 0, "\n".join(found))

    def test_every_mark_is_needed(self):
        marked = [command for command in doc_commands.all_commands() if doc_checks.mark_of(command.words)]
        self.assertEqual(set(doc_checks.MARKED) - {doc_checks.mark_of(command.words) for command in marked}, set())
        for command in marked:
            words = doc_checks.tool_words(doc_checks.values_for(command.words))
            if words and command.whole and doc_checks.is_ours(command.words[0]):
                self.assertNotEqual(self.checker.of_tool(words), "", f"{command}: needs no mark")

    def test_a_wrong_command_is_found(self):
        self.make_files()
        for line, words in WRONG:
            command, = doc_commands.of_line("a.md", 1, line, {}, True)
            self.assertIn(words, self.checker.problem(command), line)


if __name__ == "__main__":
    cli.main()
