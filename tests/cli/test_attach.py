#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attach`: what is recorded of jobs that know nothing of it, and that every job ends and prints as it does without."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import attached_jobs as jobs
from launch_lab import free_port
from paceline_cli import BINARY, CliTest

PYTHON = None
OURS = "paceline attach: "


class Job(CliTest):
    """A command as it is, and attached."""

    def setUp(self):
        super().setUp()
        if PYTHON is None:
            self.skipTest("no PyTorch for python3 here: scripts/setup.sh --checks makes one")
        self.env.update(jobs.job_environment())
        self.env["PACELINE_ATTACH_BLOCKS"] = "10/0"
        self.steps = self.folder / "steps"

    def torchrun(self, script, *words):
        return [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", script, *words]

    def end(self, command, env=None, **options):
        """PyTorch aborts a distributed job in some dozens at its end on a busy machine, attached or not: such a one is run again."""
        for _ in range(2):
            done = subprocess.run(list(map(str, command)), cwd=self.folder, env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=300, **options)
            if "terminate called without an active exception" not in done.stderr:
                break
            shutil.rmtree(self.steps, ignore_errors=True)
        return done.returncode, done.stdout, done.stderr

    def begin(self, command, **options):
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.addCleanup(lambda: process.poll() is None and os.killpg(process.pid, signal.SIGKILL))
        return process

    def attached(self, command, own=(), **options):
        """(exit code, output, errors of the job, our own words)"""
        code, out, err = self.end([BINARY, "attach", *own, "--output", self.steps, "--", *command], **options)
        return code, out, *self.apart(err)

    @staticmethod
    def apart(err):
        """Our closing paragraph begins with our name; its further lines are those up to the end."""
        lines = err.splitlines()
        first = next((i for i in range(len(lines) - 1, -1, -1) if lines[i].startswith(OURS)), len(lines))
        theirs = [line for line in lines[:first] if not line.startswith(OURS)]
        ours = [line for line in lines[:first] if line.startswith(OURS)] + lines[first:]
        return "\n".join(theirs), " ".join(ours)

    @staticmethod
    def without_numbers(text):
        """Times, ports, addresses and process ids differ from start to start."""
        return re.sub(r"0x[0-9a-f]+|\d+", "N", text)

    def compare(self, command, env=None, **options):
        """The job is what it is without attach; returns our own words."""
        plain = self.end(command, env=env, **options)
        code, out, err, ours = self.attached(command, env=env, **options)
        self.assertEqual(plain[:2], (code, out), f"{plain}\n{err}\n{ours}")
        self.assertEqual(self.without_numbers(plain[2].rstrip()), self.without_numbers(err.rstrip()))
        return ours

    def files(self):
        return sorted(path.name for path in self.steps.glob("*.steps")) if self.steps.exists() else []

    def of_rank(self, rank):
        return jobs.Steps(self.steps / f"rank{rank}.steps")


class Watched(Job):
    def test_steps_are_traced_when_a_rank_became_late(self):
        words = self.attached(self.torchrun(self.write("train.py", jobs.LATE), "300"), own=("--trace", "3"))[-1]
        self.assertIn("the operators of 3 steps will be in", words)
        traces = self.steps / "trace-1"
        self.assertEqual(sorted(path.name for path in traces.iterdir()), ["rank0.json", "rank1.json"])
        study = self.run_cli("profile", "--from", traces)
        self.assert_code(study, 0)
        self.assertIn("aten::", study.out)
        self.assertIn("traced steps", self.run_cli("profile", "--from", self.steps).out)
        flags = [r[7] for r in self.of_rank(0).of("step")]
        self.assertEqual(sum(flags), 4 * 4)   # three, and the one in which the trace was written
        self.assertEqual(flags, [r[7] for r in self.of_rank(1).of("step")])

    def test_processes_that_start_during_a_trace_have_nothing_of_it(self):
        code, _, err, _ = self.attached(self.torchrun(self.write("train.py", jobs.WORKER_IN_TRACE), "300"), own=("--trace", "5"))
        self.assertEqual(code, 0, err)
        for rank in (0, 1):
            said = [(self.folder / f"{who}{rank}").read_text(encoding="utf-8") for who in ("parent", "worker")]
            self.assertEqual(said, ["guarded", "as it was"])
        self.assertEqual(sorted(path.name for path in (self.steps / "trace-1").iterdir()), ["rank0.json", "rank1.json"])

    def test_a_job_that_runs_the_profiler_itself_is_not_traced(self):
        for script in (jobs.SCHEDULED, jobs.PROFILED):
            shutil.rmtree(self.steps, ignore_errors=True)
            code, _, err, ours = self.attached(self.torchrun(self.write("train.py", script), "400"), own=("--trace", "20"))
            self.assertEqual(code, 0, err)
            self.assertIn("no trace: the job runs PyTorch's profiler itself", err + ours)   # behind a line that PyTorch has not ended
            self.assertIn("trace-1 is of 0 of 2 ranks", ours)

    def test_a_job_is_followed_while_it_runs(self):
        script = self.write("train.py", jobs.LATE)
        job = self.begin([BINARY, "attach", "--output", self.steps, "--", *self.torchrun(script, "400")])
        live = {}
        while job.poll() is None and "slowest" not in live.get("progress", {}).get("steps", [{}])[0]:
            time.sleep(0.1)
            try:
                live = json.loads((self.steps / "live.json").read_text())
            except (OSError, ValueError):
                continue
        self.assertIsNone(job.poll(), live)
        shown = self.run_cli("monitor", "--json", "--count", "1").out
        out, err = job.communicate(timeout=300)
        self.assertEqual(job.returncode, 0, err)
        self.assertEqual((live["pass"]["label"], live["pass"]["kind"]), ("train.py", "attached"))
        self.assertEqual(live["progress"]["steps"][0]["slowest"][0]["rank"], 1)
        self.assertIn("the others wait", self.apart(err)[1])
        self.assertIn("for rank 1: late in forward", self.apart(err)[1])
        self.assertIn('"train.py"', shown)
        counted = {r[6] for r in self.of_rank(0).of("counter")}
        self.assertLessEqual({0, 1, 2, 3, 4, 6, 7, 8, 9}, counted)   # all of StepCounter but the quota of a control group
        self.assertIn("What disturbed the ranks, per step", self.run_cli("profile", "--from", self.steps).out)
        self.assertEqual(sorted(path.name for path in self.steps.iterdir()), ["rank0.steps", "rank1.steps", "run_summary.json"])


class Recorded(Job):
    def test_one_process_leaves_each_part_of_each_step(self):
        words = self.compare([PYTHON, self.write("train.py", jobs.PLAIN), "60"])
        self.assertEqual(self.files(), ["rank0.steps"])
        steps = self.of_rank(0)
        self.assertEqual((steps.rank, steps.world, steps.lost, steps.closed_ns > 0), (0, 1, 0, True))
        self.assertEqual([r[4] for r in steps.of("step")], list(range(1, 61)))
        for kind, name in (("backward", ""), ("scope", "__next__"), ("scope", "Optimizer.zero_grad#SGD"), ("scope", "Optimizer.step#SGD")):
            self.assertGreaterEqual(len(steps.of(kind, name)), 59, (kind, name))
            self.assertLessEqual(len(steps.of(kind, name)), 67, (kind, name))   # the loader begins again
        for earlier, later in zip(steps.of("backward"), steps.of("backward")[1:]):
            self.assertLess(earlier[3], later[2])
            self.assertGreater(earlier[3], earlier[2])
        self.assertIn("attached to one process (PyTorch 2.", words)
        self.assertIn("60 steps of 1 rank", words)
        self.assertIn(f"All figures: paceline profile --from {self.steps}", words)

    def test_parts_of_a_step_are_those_of_a_trace_of_the_same_steps(self):
        tool = Path(__file__).resolve().parents[2] / "tools/attach_parts.py"
        code, out, err = self.end([sys.executable, tool, "--python", PYTHON, "--paceline", BINARY, "--jobs", "plain,fsdp2", "--steps", "40"])
        self.assertEqual(code, 0, out + err)   # all within 2 % of the step
        self.assertEqual([line.split()[1] for line in out.splitlines()[2:]], ["plain", "plain", "fsdp2", "fsdp2"])

    def test_ranks_under_torchrun_and_not_its_agent(self):
        words = self.compare(self.torchrun(self.write("train.py", jobs.DDP), "40"))
        self.assertEqual(self.files(), ["rank0.steps", "rank1.steps"])
        for rank in (0, 1):
            steps = self.of_rank(rank)
            self.assertEqual((steps.rank, steps.world, steps.local_rank), (rank, 2, rank))
            reduced = steps.of("communication", "gloo:all_reduce")
            self.assertGreaterEqual(len(reduced), 38)   # a thread of gloo may end the last one behind the file
            self.assertEqual({r[4] for r in reduced}, {4 * (4 * (32 * 32 + 32) + 32 * 10 + 10)})
            self.assertGreaterEqual(len(steps.of("scope", "DistributedDataParallel.forward")), 39)
            self.assertEqual(len(steps.of("step")), 40)
        self.assertEqual(words.count("attached to rank 0 of 2"), 1)
        self.assertIn("40 steps of 2 ranks", words)

    def test_the_map_of_used_parameters_is_no_bucket(self):
        self.compare(self.torchrun(self.write("train.py", jobs.UNUSED), "20"))
        integers = {r[4]: bool(r[7] & 8) for r in self.of_rank(0).of("communication", "gloo:all_reduce")}
        self.assertEqual(integers, {4 * 10: True, 4 * (4 * (32 * 32 + 32) + 32 * 10 + 10): False})   # 10 parameters

    def test_each_backward_call_of_an_accumulated_step(self):
        self.compare(self.torchrun(self.write("train.py", jobs.ACCUMULATED), "20"))
        steps = self.of_rank(1)
        self.assertEqual(len(steps.of("step")), 20)
        self.assertEqual(len(steps.of("backward")), 19 * 4)
        self.assertIn(len(steps.of("communication", "all_reduce")), (18, 19))   # a thread of gloo may end the last one behind the file

    def test_a_backward_call_that_fails_loses_the_two_behind_it(self):
        self.compare([PYTHON, self.write("train.py", jobs.FAILING_BACKWARD), "60"])
        self.assertEqual(len(self.of_rank(0).of("step")), 57)
        self.assertEqual(len(self.of_rank(0).of("backward")), 59 - 3 * (1 + 2))

    def test_steps_within_a_backward_call_leave_it_whole(self):
        self.compare([PYTHON, self.write("train.py", jobs.STEPS_IN_BACKWARD), "25"])
        self.assertEqual(len(self.of_rank(0).of("step")), 25 * 10)
        self.assertEqual(len(self.of_rank(0).of("backward")), 25)   # the first one, in part

    def test_optimizers_are_told_apart(self):
        self.compare([PYTHON, self.write("train.py", jobs.TWO_OPTIMIZERS), "20"])
        steps = self.of_rank(0).of("step")
        self.assertEqual([sum(r[6] == group for r in steps) for group in (0, 1)], [20, 10])

    def test_a_job_that_goes_on_with_a_second_optimizer(self):
        self.env["PACELINE_ATTACH_BLOCKS"] = "20/10"
        words = self.compare([PYTHON, self.write("train.py", jobs.SECOND_OPTIMIZER), "9000"])
        steps = self.of_rank(0)
        self.assertGreater(steps.used, 1 << 15)   # of the room that a file begins with
        self.assertEqual((len(steps.of("step")), steps.lost), (9005, 0))
        self.assertEqual(len(steps.of("on")) + len(steps.of("off")), 1 + (9005 - 19) // 20)   # the second one takes over after 20
        self.assertIn("9000 steps of 1 rank", words)

    def test_children_that_the_script_spawns(self):
        self.compare([PYTHON, self.write("train.py", jobs.SPAWNED), "20", free_port()])
        self.assertEqual(self.files(), ["rank0.steps", "rank1.steps"])
        self.assertEqual([self.of_rank(r).world for r in (0, 1)], [2, 2])

    def test_children_of_multiprocessing_note_how_they_end(self):
        self.compare([PYTHON, self.write("train.py", jobs.FORKED_RANKS), "20", free_port()])
        self.assertEqual([self.of_rank(r).closed_ns > 0 for r in (0, 1)], [True, True])
        shutil.rmtree(self.steps)
        code, _, err, _ = self.attached([PYTHON, self.write("train.py", jobs.SPAWNED_FAILING), "20", free_port()])
        self.assertEqual(code, 1, err)
        self.assertEqual((self.of_rank(1).exception, self.of_rank(1).closed_ns > 0), ("ValueError", True))

    def test_a_child_that_trains_is_no_start_of_its_rank(self):
        words = self.compare([PYTHON, self.write("train.py", jobs.TRAINING_CHILD), "30"], env={"RANK": "0", "WORLD_SIZE": "1"})
        self.assertEqual(self.files(), ["rank0.2.steps", "rank0.steps"])
        self.assertIn("60 steps of 1 rank", words)
        self.assertIn("1 file of processes without a rank is in no figure", words)

    def test_a_forked_child_has_a_file_of_its_own(self):
        self.compare([PYTHON, self.write("train.py", jobs.FORKED), "10"])
        self.assertEqual(self.files(), ["rank0.2.steps", "rank0.steps"])
        self.assertEqual(len(self.of_rank(0).of("step")), 20)
        self.assertEqual(len(jobs.Steps(self.steps / "rank0.2.steps").of("step")), 10)

    def test_the_observer_is_off_in_some_blocks(self):
        self.env["PACELINE_ATTACH_BLOCKS"] = "5/4"
        self.compare([PYTHON, self.write("train.py", jobs.PLAIN), "100"])
        steps = self.of_rank(0)
        self.assertEqual(len(steps.of("step")), 100)
        self.assertEqual((len(steps.of("on")), len(steps.of("off"))), (16, 5))
        marks = [r for r in steps.records if r[0] in ("on", "off", "step", "backward")]
        marks.sort(key=lambda r: r[2])
        observed = True
        for kind, *_ in marks:
            observed = {"on": True, "off": False}.get(kind, observed)
            self.assertFalse(kind == "backward" and not observed)
        self.assertEqual(len(steps.of("backward")), 74)   # not of the step that opened the file

    def test_data_loader_workers_are_left_alone(self):
        for context, ranks in (("fork", {}), ("spawn", {}), ("spawn", {"RANK": "0", "WORLD_SIZE": "2"})):
            with self.subTest(context, ranks=ranks):
                shutil.rmtree(self.steps, ignore_errors=True)
                self.compare([PYTHON, self.write("train.py", jobs.WORKERS), "20", context], env=ranks)
                self.assertEqual(self.files(), ["rank0.steps"])
                self.assertGreaterEqual(len(self.of_rank(0).of("scope", "_MultiProcessingDataLoaderIter.__next__")), 19)


    def test_children_of_a_rank_that_import_torch_first(self):
        script = self.write("train.py", jobs.CHILD_BEFORE)
        self.compare([PYTHON, script, "20"], env={"RANK": "1", "WORLD_SIZE": "2"})
        self.assertEqual(self.files(), ["rank1.steps"])
        self.assertEqual(len(self.of_rank(1).of("step")), 20)

    def test_a_rank_without_a_step_has_a_file_within_another_launcher(self):
        words = self.compare(self.torchrun(self.write("train.py", jobs.NOTHING)),
                             env={"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "7"})
        self.assertEqual(self.files(), ["rank0.steps", "rank1.steps"])
        self.assertIn("error: 2 of 2 ranks were watched", words)

    def test_an_agent_that_is_a_rank_itself_leaves_no_file(self):
        words = self.compare(self.torchrun(self.write("train.py", jobs.DDP), "20"),
                             env={"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "7"})
        self.assertEqual(self.files(), ["rank0.steps", "rank1.steps"])
        self.assertIn("20 steps of 2 ranks", words)


class Compiled(Job):
    def test_a_compiled_model(self):
        self.compare([PYTHON, self.write("train.py", jobs.COMPILED), "10"], env={"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")})
        self.assertEqual(self.files(), ["rank0.steps"])
        self.assertEqual(len(self.of_rank(0).of("backward")), 9)

    def test_a_compiled_optimizer(self):
        script = self.write("train.py", jobs.COMPILED_OPTIMIZER)
        words = self.compare([PYTHON, script, "6"], env={"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor")})
        self.assertIn("nothing was recorded", words)   # its steps cannot be seen


class Surroundings(Job):
    """Whatever is wrong, the job's output and exit code are those that it has without."""

    def test_exceptions_and_exit_codes(self):
        script = self.write("train.py", jobs.PLAIN + "\nif sys.argv[2] == 'raise': raise ValueError('of the user')\n"
                            "import os\nif sys.argv[2] == '_exit': os._exit(7)\nsys.exit(3)\n")
        for how, code in (("raise", 1), ("_exit", 7), ("exit", 3)):
            with self.subTest(how):
                shutil.rmtree(self.steps, ignore_errors=True)
                plain = self.end([PYTHON, script, "10", how])
                self.assertEqual(plain[0], code)
                self.compare([PYTHON, script, "10", how])
                self.assertEqual(len(self.of_rank(0).of("step")), 10)
                self.assertEqual(self.of_rank(0).closed_ns > 0, how != "_exit")
                self.assertEqual(self.of_rank(0).exception, "ValueError" if how == "raise" else "")

    def hook_without_its_library(self, other=None):
        code, out, _ = self.end([BINARY, "attach", "--path"])
        self.assertEqual(code, 0)
        hook = self.folder / "hook"
        shutil.copytree(out.strip(), hook)
        for library in hook.glob("*.so"):
            library.rename(hook / other) if other else library.unlink()
        return {"PYTHONPATH": str(hook), "PACELINE_ATTACH": str(self.steps)}

    def by_hand(self, env, script=jobs.PLAIN):
        """Without our launcher: by the variables alone. Returns what is said beyond the job's own words."""
        command = [PYTHON, self.write("train.py", script), "10"]
        plain, watched = self.end(command), self.end(command, env=env)
        self.assertEqual(plain[:2], watched[:2])
        return watched[2].removeprefix(plain[2])

    def test_a_missing_library(self):
        said = self.by_hand(self.hook_without_its_library())
        self.assertRegex(said, r"^paceline attach: not attached: this PyTorch is 2\S+, and there are libraries for none\n$")
        self.assertEqual(self.files(), [])

    def test_an_unknown_release(self):
        said = self.by_hand(self.hook_without_its_library("libpaceline_attach_9.9.9.so"))
        self.assertRegex(said, r"^paceline attach: not attached: this PyTorch is 2\S+, and there are libraries for 9.9.9\n$")

    def test_a_library_that_cannot_be_loaded(self):
        env = self.hook_without_its_library()
        release = self.end([PYTHON, "-c", "import torch; print(torch.__version__.split('+')[0])"])[1].strip()
        (self.folder / "hook" / f"libpaceline_attach_{release}.so").write_text("no library")
        said = self.by_hand(env)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("not attached: OSError", said)

    def test_only_the_first_rank_of_a_host_speaks(self):
        for names, known in (({"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}, False), ({"SLURM_PROCID": "3", "SLURM_NTASKS": "4",
                             "SLURM_LOCALID": "1", "SLURM_STEP_ID": "0"}, False), ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4",
                             "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, False), ({"SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_LOCALID": "0",
                             "SLURM_STEP_ID": "0"}, True)):
            self.assertEqual("not attached" in self.by_hand({**self.hook_without_its_library(), **names}), known, names)
            shutil.rmtree(self.folder / "hook")

    def test_quiet_is_for_the_hook_too(self):
        code, _, err = self.end([BINARY, "attach", "-q", "-o", self.steps, "--", PYTHON, self.write("train.py", jobs.PLAIN), "10"])
        self.assertEqual((code, self.files()), (0, ["rank0.steps"]))
        self.assertNotIn("paceline", err)

    def test_without_the_variable_the_hook_is_inert(self):
        env = self.hook_without_its_library()
        del env["PACELINE_ATTACH"]
        self.assertEqual(self.by_hand(env), "")

    def test_a_folder_that_cannot_be_made(self):
        hook = self.end([BINARY, "attach", "--path"])[1].strip()
        said = self.by_hand({"PYTHONPATH": hook, "PACELINE_ATTACH": "/proc/paceline/steps"})
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn("not attached: FileNotFoundError", said)

    def test_a_limit_of_file_sizes(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        words = self.compare([PYTHON, self.write("train.py", jobs.PLAIN), "10"], preexec_fn=limited)
        self.assertIn("no room on the disk, or within the limit of file sizes", words)

    def test_a_full_disk(self):
        script = self.write("train.py", jobs.PLAIN)
        shell = f'mkdir small && mount -t tmpfs -o size=64k none small && exec "$@"'
        if subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode:
            self.skipTest("no mount namespace here")
        code, out, err = self.end(["unshare", "-rm", "sh", "-c", shell, "sh", BINARY, "attach", "-o", "small/steps", "--", PYTHON, script, "10"])
        self.assertEqual((code, out), self.end([PYTHON, script, "10"])[:2])
        self.assertIn("no room on the disk", err)

    def test_isolated_python(self):
        words = self.compare([PYTHON, "-I", self.write("train.py", jobs.PLAIN), "10"])
        self.assertIn("nothing was recorded", words)
        self.assertEqual(self.files(), [])

    def test_another_sitecustomize_runs(self):
        own = self.write("own/sitecustomize.py", "print('of the user')\n").parent
        command = [PYTHON, self.write("train.py", jobs.PLAIN), "10"]
        self.compare(command, env={"PYTHONPATH": str(own)})
        self.assertEqual(self.files(), ["rank0.steps"])
        self.assertTrue(self.end(command, env={"PYTHONPATH": str(own)})[1].startswith("of the user"))

    def test_a_broken_sitecustomize_is_as_broken_as_before(self):
        own = self.write("own/sitecustomize.py", "raise ValueError('broken')\n").parent
        self.compare([PYTHON, "-c", "print('runs')"], env={"PYTHONPATH": str(own)})

    def test_programs_that_are_no_python(self):
        words = self.compare(["sh", "-c", "echo out; echo err >&2; exit 41"])
        self.assertIn("nothing was recorded", words)

    def test_a_job_of_several_ranks_without_a_step_is_an_error_in_words(self):
        script = self.write("train.py", jobs.NOTHING)
        words = self.compare(self.torchrun(script))
        self.assertIn("error: 2 of 2 ranks were watched, and none made an optimizer step", words)


class Ends(Job):
    def until_steps(self, least=20):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self.files() and len(self.of_rank(0).of("step")) >= least:
                return
            time.sleep(0.1)
        self.fail("no steps")

    def test_a_killed_rank_loses_at_most_its_last_step(self):
        code, _, err, ours = self.attached(self.torchrun(self.write("train.py", jobs.DDP), "30", "kill"))
        self.assertEqual(code, 1, err)
        self.assertIn("Signal 9", err)
        self.assertEqual(len(self.of_rank(1).of("step")), 30)
        self.assertEqual(len(self.of_rank(1).of("backward")), 29)
        self.assertEqual(self.of_rank(1).closed_ns, 0)
        self.assertIn("30 steps of 2 ranks", ours)

    def test_signals_reach_the_job_once(self):
        caught = "import signal\nsignal.signal(signal.SIGINT, lambda *_: print('caught', flush=True))\n"
        script = self.write("train.py", jobs.LOOP.replace("\n", "\n" + caught, 1) + jobs.PLAIN.removeprefix(jobs.LOOP).replace(
            "range(steps)", "range(10**9)"))
        process = self.begin([BINARY, "attach", "-o", self.steps, "--", PYTHON, script, "10"])
        self.until_steps()
        process.send_signal(signal.SIGINT)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (-signal.SIGTERM, "caught\n"))
        self.assertIn("steps of 1 rank", " ".join(err.split()))

    def test_a_signal_that_slurm_sends_to_all_is_not_passed_on(self):
        script = self.write("step.py", "import ctypes, signal, subprocess, sys, time\n"
                            "ctypes.CDLL(None).prctl(15, sys.argv[1].encode())   # its name\n"
                            "attach = subprocess.Popen(sys.argv[2:]); time.sleep(2)\n"
                            "attach.send_signal(signal.SIGUSR1); print(attach.wait())\n")
        job = "trap 'echo caught' USR1; for i in 1 2 3 4 5; do sleep 1; done"
        for name, caught in (("slurmstepd", ""), ("bash", "caught\n")):
            code, out, err = self.end([sys.executable, script, name, BINARY, "attach", "-q", "-o", self.folder / name, "--", "sh", "-c", job],
                                      env={"SLURM_STEP_ID": "0", "SLURM_SRUN_COMM_HOST": "10.0.0.1"})
            self.assertEqual((code, out), (0, caught + "0\n"), err)

    def test_an_interrupt_of_the_terminal_ends_both(self):
        script = self.write("train.py", jobs.PLAIN.replace("range(steps)", "range(10**9)"))
        process = self.begin([BINARY, "attach", "-o", self.steps, "--", PYTHON, script, "10"])
        self.until_steps()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        self.assertIn("KeyboardInterrupt", err)
        self.assertIn("steps of 1 rank", " ".join(err.split()))


if __name__ == "__main__":
    with jobs.Environment() as PYTHON:
        unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
