# SPDX-License-Identifier: MIT
"""`validate` of a machine and of a fleet: saved machines, hosts, the load test. In a tree with the spin plug-in alone."""

import json
import os
import shutil
import subprocess
import unittest

import paceline_cli as cli


class ValidateTest(cli.CliTest):
    """A tree of its own: `validate` loads every installed plug-in, which takes seconds."""

    CAPABILITIES = ["engine spin", "trainer cpu"]

    def setUp(self):
        super().setUp()
        plugins = self.folder / "lib/paceline/plugins"
        plugins.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        self.binary = self.folder / "bin/paceline"
        shutil.copy(cli.BINARY, self.binary)
        shutil.copy(cli.SPIN, plugins / "spin.so")
        self.write(plugins / "spin.json", json.dumps({"name": "spin", "file": "spin.so", "built_for": {}, "not_built_because": "", "fix": "",
                                                      "capabilities": self.CAPABILITIES}))

    def validate(self, *arguments, codes=(0,), env=None, before=(), timeout=60):
        """Standard output and error."""
        done = subprocess.run([*before, self.binary, "validate", *map(str, arguments)], cwd=self.folder, env={**self.env, **(env or {})}, capture_output=True,
                              text=True, timeout=timeout, check=False)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        for word in cli.FORBIDDEN:
            self.assertNotIn(word, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def differences(self, *arguments, **options):
        out, _ = self.validate("--json", *arguments, **options)
        return {one["name"]: one for one in json.loads(out)["differences"]}


class Saved(ValidateTest):
    def setUp(self):
        super().setUp()
        self.validate("--save", "base.json")

    def saved(self):
        return json.loads((self.folder / "base.json").read_text(encoding="utf-8"))

    def facts(self):
        return {one["name"]: one["value"] for one in self.saved()["facts"]}

    def test_a_machine_is_as_it_was_saved(self):
        facts = self.facts()
        self.assertEqual((facts["plug-in spin"], facts["library spin"]), ("loaded", "1"))
        out, _ = self.validate("--expect", "base.json")
        self.assertRegex(out, r"PASS  as saved +nothing differs from base\.json")
        out, _ = self.validate("--json")
        self.assertEqual(json.loads(out)["machine"]["facts"], self.saved()["facts"])

    def test_each_difference_is_named_with_its_fix(self):
        if self.facts()["CPUs in the affinity mask"] < 2:
            self.skipTest("one CPU cannot become fewer")
        cpu = str(min(os.sched_getaffinity(0)))
        found = self.differences("--expect", "base.json", before=["taskset", "-c", cpu], env={"SPIN_VERSION": "2", "OMP_NUM_THREADS": "7"}, codes=(4,))
        self.assertEqual({name: (one["status"], one["found"]) for name, one in found.items()},
                         {"CPUs in the affinity mask": ("FAIL", "1 CPU"), "library spin": ("FAIL", "2"), "variable OMP_NUM_THREADS": ("WARN", "7")})
        self.assertEqual(found["library spin"]["expected"], "1")
        self.assertTrue(all(one["fix"] for one in found.values()), found)
        out, _ = self.validate("--expect", "base.json", env={"OMP_NUM_THREADS": "7"})
        self.assertRegex(out, r"WARN  variable OMP_NUM_THREADS +7 here, not set in base\.json  → ")

    def test_files_that_are_none_are_refused_before_anything_is_checked(self):
        whole = (self.folder / "base.json").read_text(encoding="utf-8")
        self.write("cut.json", whole[:len(whole) // 2])
        self.write("foreign.json", json.dumps({"cases": []}))
        self.write("newer.json", whole.replace('"format_version": 1', '"format_version": 2'))
        for name, why in (("cut.json", "cut off"), ("foreign.json", '"paceline machine"'), ("newer.json", "newer Paceline"), ("absent.json", "No such file")):
            out, err = self.validate("--expect", name, codes=(2,))
            self.assertEqual((out, err.count("paceline: ")), ("", 1), err)
            self.assertIn(name, err)
            self.assertIn(why, err)

    def test_a_file_is_not_saved_over_the_one_it_is_compared_with_nor_nowhere(self):
        before = self.saved()
        _, err = self.validate("--save", "base.json", "--expect", "base.json", codes=(2,))
        self.assertIn("would overwrite", err)
        self.assertEqual(self.saved(), before)
        _, err = self.validate("--save", "absent/base.json", codes=(2,))
        self.assertIn("absent", err)


if __name__ == "__main__":
    cli.main()
