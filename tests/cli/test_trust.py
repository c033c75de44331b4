# SPDX-License-Identifier: MIT
"""Code that a plan names is loaded where the plan is this user's own, or with --trust."""

import os
import shutil
import zipfile

from paceline_cli import SPIN, CliTest, main


class Trust(CliTest):
    def refused(self, *words, said, lines=1):
        self.assert_error(self.run_cli("run", *words), 2, *said, "nothing was loaded", "--trust", lines=lines)

    def plan_in(self, folder, *lines):
        (self.folder / folder).mkdir(exist_ok=True)
        return self.spin_plan(*lines, name=f"{folder}/plan.yaml")

    def test_a_plan_of_ones_own_needs_no_word(self):
        self.assert_code(self.run_cli("run", self.plan_in("mine"), "-q"), 0)
        self.assert_code(self.run_cli("run", "--resume", self.only_run(), "-q"), 0)

    def test_a_plan_that_every_user_can_write_loads_nothing(self):
        plan = self.plan_in("open")
        plan.chmod(0o666)
        for words in ((), ("--dry-run",)):
            self.refused(plan, *words, said=["plan.yaml:4:", f"plugin '{SPIN}' runs code", "every user can write the file"])
        plan.chmod(0o644)
        plan.parent.chmod(0o777)
        self.refused(plan, "--dry-run", said=["every user can write its folder"])
        self.assert_nothing_ran()
        self.assert_code(self.run_cli("run", plan, "--dry-run", "--trust"), 0)

    def test_a_plan_of_another_user_loads_nothing(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        plan = self.plan_in("theirs", "env: {LD_AUDIT: ./audit.so, OMP_NUM_THREADS: 2}")
        os.chown(plan, 4711, 4711)
        self.refused(plan, said=["belongs to another user (number 4711)", "env.LD_AUDIT './audit.so'"], lines=2)

    def test_a_program_is_known_by_its_content(self):
        for name in ("script", "model.bin", "v1.0"):
            with zipfile.ZipFile(self.folder / name, "w") as file:
                file.writestr("m/code/__torch__.py", "")
                file.writestr("m/constants.pkl", "")
        plan = self.write("open.yaml", "kind: inference\nmodels: [script, model.bin]\naccuracy: {reference: v1.0}\nshapes: x:1x4\n")
        plan.chmod(0o666)
        self.refused(plan, "--dry-run", said=["models 'script' runs code", "models 'model.bin'", "accuracy.reference 'v1.0'"], lines=3)

    def test_a_pipe_is_judged_as_a_file_is(self):
        plan = self.plan_in("open")
        plan.chmod(0o666)
        with open(plan, encoding="utf-8") as given:
            self.assert_error(self.finish(self.start("run", "-", "--dry-run", stdin=given)), 2, "nothing was loaded")
        pipe = self.folder / "pipe.yaml"
        os.mkfifo(pipe)
        pipe.chmod(0o666)
        process = self.start("run", pipe, "--dry-run")
        pipe.write_bytes(plan.read_bytes())
        self.assert_error(self.finish(process), 2, "every user can write the pipe", "nothing was loaded")

    def test_a_number_may_be_the_name_of_a_folder(self):
        plan = self.write("open.yaml", "kind: inference\nmodels: [tiny_cnn]\nenv: {PYTHONPATH: 1, GCONV_PATH: 2, OMP_NUM_THREADS: 1}\n")
        plan.chmod(0o666)
        self.refused(plan, "--dry-run", said=["env.PYTHONPATH '1'", "env.GCONV_PATH '2'"], lines=2)

    def test_a_plan_without_code_may_come_from_anywhere(self):
        plan = self.write("open.yaml", "kind: collective\noperations: [all_reduce]\nbackend: gloo\ngpu_counts: [1]\nenv: {OMP_NUM_THREADS: 1}\n")
        plan.chmod(0o666)
        self.assertNotIn("--trust", self.run_cli("run", plan, "--dry-run").err)

    def test_a_stored_run_that_every_user_can_write_loads_nothing_on_resume(self):
        self.assert_code(self.run_cli("run", self.plan_in("mine"), "-q"), 0)
        run, copy = self.only_run(), self.folder / "received"
        shutil.copytree(run, copy)
        copy.chmod(0o777)
        self.refused("--resume", copy, said=[f"plugin '{SPIN}' runs code", "every user can write its folder"])
        self.assert_code(self.run_cli("run", "--resume", copy, "--plugin", SPIN, "-q"), 0)  # said on the command line
        self.assert_code(self.run_cli("run", "--resume", copy, "--trust", "-q"), 0)


if __name__ == "__main__":
    main()
