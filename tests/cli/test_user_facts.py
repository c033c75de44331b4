# SPDX-License-Identifier: MIT
"""Facts about its user that a run keeps: notes, and the commit of the sources, for which git is asked and no program of the repository runs."""

import os
import shutil
import subprocess
import time
import unittest

import paceline_cli as cli

NOTE = "lr 0.1, <b>warm</b> | `cold` *"


class Notes(cli.CliTest):
    def test_they_are_kept_and_shown(self):
        result = self.infer("--note", NOTE, "--note", "second")
        self.assert_code(result, 0)
        self.assertIn(f"note     {NOTE}\n", result.out)
        run = self.only_run()
        self.assertEqual(cli.read_json(run / "environment.json")["notes"], [NOTE, "second"])
        self.assertEqual(self.summary(run)["environment"]["notes"], [NOTE, "second"])
        page = (run / "report.html").read_text(encoding="utf-8")
        self.assertIn("note: lr 0.1, &lt;b&gt;warm&lt;/b&gt; | `cold` *", page)
        self.assertNotIn("<b>warm", page)
        text = self.run_cli("report", "--source", run, "--format", "markdown").out
        self.assertIn("Note: second\n", text)
        self.assertIn("Note: lr 0.1, &lt;b&gt;warm&lt;/b&gt; \\| \\`cold\\` \\*\n", text)

    def test_of_a_plan_and_of_a_resumed_run(self):
        self.spin_plan("repetitions: 2", "note: [first, 'a: b']", "expect: ['p50_ms < 1000']")
        self.assert_code(self.run_cli("run", "plan.yaml"), 0)
        run = self.only_run()
        self.assertEqual(self.summary(run)["environment"]["notes"], ["first", "a: b"])
        self.assert_code(self.run_cli("run", "--resume", run, "--repetitions", 3), 0)
        self.assertEqual(self.summary(run)["environment"]["notes"], ["first", "a: b"])
        self.assert_code(self.run_cli("run", "--resume", run, "--repetitions", 3, "--note", "resumed"), 0)
        self.assertEqual(self.summary(run)["environment"]["notes"], ["resumed"])

    def test_wrong_ones_are_refused_by_name(self):
        for note, words in (("a\x1b[31m", "has a control character"), ("a\nb", "several notes are a list"), ("a\u202eb", "has a control character"),
                            ("x" * 4097, "has 4097 bytes; a note has at most 4096")):
            self.assert_error(self.infer("--note", note), 2, "--note", words)
        self.assert_nothing_ran()
        self.assert_code(self.infer("--note", ""), 0)
        self.assertNotIn("notes", self.summary()["environment"])


@unittest.skipIf(shutil.which("git") is None, "no git here")
class Commit(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env = {name: value for name, value in self.env.items() if not name.startswith("GIT_")}
        self.sources = self.folder / "sources"
        self.write("sources/model.py", "one = 1\n")
        self.write("sources/x.spin", "")
        self.git("init", "-q")
        self.git("add", "model.py")
        self.git("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "-m", "first")
        self.commit = self.git("rev-parse", "HEAD")

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.sources, env=self.env, check=True, capture_output=True, text=True).stdout.strip()

    def kept(self, *arguments, cwd=None, env=None):
        """Returns the facts about the sources that an inference keeps, and its messages."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        result = self.infer("--output-dir", self.folder / "out", *arguments, cwd=cwd or self.sources, env=env)
        self.assert_code(result, 0)
        return self.summary(self.only_run("out"))["environment"].get("sources"), result.out

    def test_its_commit_and_whether_files_differ(self):
        kept, said = self.kept()
        self.assertEqual(kept, {"commit": self.commit, "modified": False})
        self.assertIn(f"commit   {self.commit[:12]}\n", said)
        self.write("sources/new.py", "")
        self.assertFalse(self.kept()[0]["modified"])
        self.write("sources/model.py", "one = 2\n")
        kept, said = self.kept()
        self.assertTrue(kept["modified"])
        self.assertIn(f"commit   {self.commit[:12]}, modified\n", said)
        text = self.run_cli("report", "--source", self.only_run("out"), "--format", "markdown").out
        self.assertIn(f"Commit {self.commit[:12]}, modified.", text)

    def test_variables_of_git_name_no_other_repository(self):
        other = self.folder / "other"
        subprocess.run(["git", "init", "-q", str(other)], env=self.env, check=True)
        kept, _ = self.kept(env={"GIT_DIR": str(other / ".git"), "GIT_INDEX_FILE": "/nonexistent"})
        self.assertEqual(kept, {"commit": self.commit, "modified": False})

    def test_of_the_plans_folder(self):
        self.spin_plan("repetitions: 1", name="sources/plan.yaml")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.write("elsewhere/x.spin", "")
        self.assert_code(self.run_cli("run", self.sources / "plan.yaml", cwd=elsewhere), 0)
        self.assertEqual(self.summary(self.only_run("elsewhere/results"))["environment"]["sources"]["commit"], self.commit)

    def test_no_program_of_the_repository_runs(self):
        evil = self.write("evil.sh", f"#!/bin/sh\ntouch {self.folder}/ran\ncat\n")
        evil.chmod(0o755)
        for name in ("core.fsmonitor", "core.sshCommand", "core.pager", "diff.external"):
            self.git("config", name, str(evil))
        shutil.copy(evil, self.sources / ".git/hooks/post-index-change")
        self.write("sources/model.py", "one = 2\n")
        self.assertEqual(self.kept()[0], {"commit": self.commit, "modified": True})
        self.git("config", "filter.evil.clean", str(evil))
        self.write("sources/.gitattributes", "*.py filter=evil\n")
        os.utime(self.sources / "model.py", (1, 1))
        kept, said = self.kept()
        self.assertEqual(kept, {"commit": self.commit, "modified": None, "modified_reason": "its configuration has filters, which are not run"})
        self.assertIn("changes not known", said)
        self.assertFalse((self.folder / "ran").exists())

    def test_without_git_or_a_commit_nothing_is_said(self):
        self.assertIsNone(self.kept(env={"PATH": "/nonexistent"})[0])
        shutil.rmtree(self.sources / ".git")
        self.assertIsNone(self.kept()[0])
        self.git("init", "-q")
        kept, said = self.kept()
        self.assertIsNone(kept)
        self.assertNotIn("commit", said)

    def test_a_git_that_hangs_or_talks_without_end(self):
        for line in ("sleep 60", "yes"):
            self.write("bin/git", f"#!/bin/sh\n{line}\n").chmod(0o755)
            begin = time.monotonic()
            self.assertIsNone(self.kept(env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})[0])
            self.assertLess(time.monotonic() - begin, 30)

    def test_a_dry_run_asks_nobody(self):
        self.write("bin/git", f"#!/bin/sh\ntouch {self.folder}/ran\n").chmod(0o755)
        self.assert_code(self.infer("--dry-run", cwd=self.sources, env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}), 0)
        self.assertFalse((self.folder / "ran").exists())


if __name__ == "__main__":
    cli.main()
