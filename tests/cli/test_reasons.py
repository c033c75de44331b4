# SPDX-License-Identifier: MIT
"""Every reason why a case has no result, brought about: outcome, exit code and advice are those of the table in docs/reference/exit-codes.md."""

import re
import resource
import signal
import unittest
from pathlib import Path

import paceline_cli as cli

TABLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "exit-codes.md"
# Needs ranks or instances; the named test brings it about and checks code and reason.
ELSEWHERE = {"peer": "test_launchers.py", "hung": "test_ranks.py", "instance": "test_load.py", "trained": "test_training.py"}


def table():
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \|", TABLE.read_text(), re.M)
    return {reason: (outcome, int(code)) for reason, outcome, code in rows}


class Reasons(cli.CliTest):
    def fault(self, name, *more, at="run"):
        return self.infer(*more, engine="fault", iterations=5, env={"SPIN_FAULT": name, "SPIN_FAULT_AT": at})

    def check(self, reason, result=None, advice=None):
        """The last case of the only run; `result` where it is the run's only case, so that its exit code is the run's."""
        outcome, code = table()[reason]
        case = self.summary()["cases"][-1]
        self.assertEqual((case["reason_code"], case["outcome"]), (reason, outcome), case["reason"])
        if result:
            self.assert_code(result, code)
        if advice:
            findings = " ".join(f["advice"] for f in self.summary()["findings"])
            self.assertIn(advice, findings)

    def test_every_row_is_brought_about(self):
        walked = {name[len("test_"):] for name in dir(self) if name.startswith("test_")}
        self.assertGreater(len(table()), 20)
        self.assertEqual(set(table()) - walked - set(ELSEWHERE), set())
        for reason, file in ELSEWHERE.items():
            self.assertIn(f'"{reason}"', (Path(__file__).parent / file).read_text(), f"{file} says nothing of {reason}")

    def test_config(self):
        (self.folder / "pictures").mkdir()
        self.check("config", self.infer("--image-dir", "pictures"), "start a new run")

    def test_data(self):
        self.write("in.bin", "no array of this size")
        self.check("data", self.infer("--load-inputs", "in.bin"), "Fix what the reason names")

    def test_io(self):
        self.check("io", self.infer("--dump-outputs", "/dev/full/outputs"), "Fix what the system refuses")

    def test_unsupported(self):
        self.check("unsupported", self.fault("unsupported", at="load"))

    def test_unavailable(self):
        self.check("unavailable", self.fault("unavailable", at="load"))

    def test_error(self):
        self.check("error", self.fault("throw"), "Measure again with: ")

    def test_crash(self):
        self.check("crash", self.fault("segv"), "Measure again with: ")

    def test_oom(self):
        limits = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        self.check("oom", self.fault("oom"), "Measure again with: ")

    def test_killed(self):
        self.check("killed", self.fault("kill"), "Measure again with: ")

    def test_timeout(self):
        self.check("timeout", self.fault("hang", "--timeout-s", "2"), "Measure again with: ")

    def test_exit(self):
        self.check("exit", self.fault("exit"), "Measure again with: ")

    def test_protocol(self):
        self.check("protocol", self.fault("rubbish"), "Measure again with: ")

    def test_accuracy(self):
        self.check("accuracy", self.fault("nan"))

    def test_precision(self):
        self.check("precision", self.fault("precision"), "Ask for a precision that this engine runs in")

    def test_threads(self):
        self.check("threads", self.fault("threads"), "Ask for another number of threads")

    def test_reference(self):
        plan = self.spin_plan("accuracy: {reference: fault}", "env: {SPIN_FAULT: segv, SPIN_FAULT_AT: load}", engines="[spin, fault]", iterations=5)
        self.run_cli("run", plan)
        self.assertEqual(self.summary()["cases"][0]["reason_code"], "crash")
        self.check("reference")

    def test_not_available_yet(self):
        plan = self.spin_plan("timing_mode: batched", iterations=5)
        self.check("not_available_yet", self.run_cli("run", plan, "-q"))

    def test_options_of_another_device_are_unsupported(self):
        """No later version will take them on a CPU."""
        plan = self.spin_plan("device: cpu", "cache_mode: cold", iterations=5)
        result = self.run_cli("run", plan, "-q")
        self.assert_code(result, 77)
        case = self.summary()["cases"][0]
        self.assertEqual(case["reason_code"], "unsupported")
        self.assertIn("'cache_mode: cold' is for device: cuda", case["reason"])

    def test_not_measured(self):
        """The other case ran, so that the run itself is well."""
        plan = self.spin_plan("batch_sizes: [1, 2]", iterations=5)
        self.assert_code(self.run_cli("run", plan, "--only", "1"), 0)
        self.check("not_measured")

    def test_interrupted(self):
        process = self.start("run", self.spin_plan("env: {SPIN_FAULT: hang, SPIN_FAULT_AT: run}", engines="[fault]"))
        self.assertTrue(cli.wait_until(lambda: list(self.folder.glob("results/*/*/log.txt"))))
        process.send_signal(signal.SIGINT)
        self.check("interrupted", self.finish(process))


if __name__ == "__main__":
    unittest.main()
