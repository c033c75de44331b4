# SPDX-License-Identifier: MIT
"""Processes of a launch that cannot start: whatever the reason is, rank 0 names it, and the host, within seconds."""

import shutil
import socket
import subprocess
import time

from launch_lab import MPI_ENV, QUICK_TRAINING, LaunchedWorlds, TrainingTest, end_processes, free_port, need_program
from paceline_cli import BINARY, SPIN, main

LIMIT_S = 5     # what the documentation promises, from the start of the process that cannot start to the others' messages
LOADED_S = 25   # what no load explains: without a note rank 0 waits for 60 s
ATTEMPTS = 3    # the best one counts, since others use the machine too
HOST = socket.gethostname()
TRAIN = ["train", *QUICK_TRAINING, "--steps", 5]
COMM = [*LaunchedWorlds.COMM, "-g", 1]


class StartsChecks(TrainingTest):
    def place(self, rank, port, world=2):
        return {"RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port)}

    def start_rank(self, rank, port, words, world=2, program=BINARY, **options):
        """By hand, as a person types it on each host."""
        process = subprocess.Popen([str(program), *map(str, words)], env={**self.env, **self.place(rank, port, world)}, cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)
        self.addCleanup(end_processes, process)
        return process

    def assert_within_limit(self, attempt):
        """attempt() returns how many seconds it took."""
        took = []
        while not took or took[-1] >= LIMIT_S:
            self.assertLess(len(took), ATTEMPTS, f"{took} s, none below {LIMIT_S} s")
            took.append(attempt())
            self.assertLess(took[-1], LOADED_S)

    def assert_named(self, *words, **options):
        self.assert_within_limit(lambda: self.seconds_until_named(*words, **options))

    def seconds_until_named(self, well, broken, *said, code=2, world=2, **options):
        """The last rank types `broken`, the others `well`: all end, and name its reason."""
        port, last = free_port(), world - 1
        ranks = [self.start_rank(rank, port, well, world) for rank in range(last)]
        begin = time.monotonic()
        ranks.append(self.start_rank(last, port, broken, world, **options))
        first, *others, absent = [self.finish(process) for process in ranks[:-1]] + [None]
        took = time.monotonic() - begin
        absent = self.finish(ranks[-1])
        self.assert_code(absent, code)
        for result in (first, *others):
            self.assert_code(result, 5)
            self.assertEqual(len(result.err.splitlines()), 1, str(result))
            self.assertIn(f"paceline: rank {last} on {HOST} (process {ranks[-1].pid}) cannot start: ", result.err)
        for result in (first, absent, *others):
            for word in said:
                self.assertIn(word, result.err)
        self.assert_nothing_ran()
        return took


class Starts(StartsChecks):
    """By hand, with RANK and WORLD_SIZE."""

    def test_a_plug_in_file_that_is_missing_on_one_host(self):
        for words in (TRAIN, COMM):
            self.assert_named([*words, *self.PLUGIN], [*words, "--plugin", "missing.so"], "plug-in 'missing.so' does not exist")

    def test_all_others_hear_it(self):
        self.assert_named([*TRAIN, *self.PLUGIN], [*TRAIN, "--plugin", "missing.so"], "plug-in 'missing.so' does not exist", world=3)

    def test_a_file_that_is_no_plug_in(self):
        self.assert_named([*TRAIN, *self.PLUGIN], [*TRAIN, "--plugin", self.write("text.so", "text")], "text.so")

    def test_a_host_without_plug_ins(self):
        """Its own store's protocol is unknown there."""
        program = self.folder / "bin/paceline"
        program.parent.mkdir()
        shutil.copy(BINARY, program)
        self.assert_named([*TRAIN, *self.PLUGIN], TRAIN, "no plug-in", code=77, program=program)
        self.assert_named([*COMM, *self.PLUGIN], COMM, "no plug-in", code=77, program=program)

    def test_a_plan_that_is_missing_on_one_host(self):
        plan = self.write("plan.yaml", "kind: training\ndevice: cpu\nmodels: [tiny_cnn]\nbatch_sizes: [8]\nthreads: 1\nrepetitions: 1\nidle_wait_s: 0\n")
        self.assert_named(["train", *self.PLUGIN, "-c", plan], ["train", *self.PLUGIN, "-c", "elsewhere.yaml"], "elsewhere.yaml")

    def test_a_mistake_in_the_plan_of_one_host(self):
        self.assert_named([*TRAIN, *self.PLUGIN], [*TRAIN, *self.PLUGIN, "--batch", "none"], "--batch")

    def test_rank_0_may_come_later(self):
        def seconds_of_rank_0():
            port = free_port()
            absent = self.start_rank(1, port, [*TRAIN, "--plugin", "missing.so"])
            time.sleep(1)
            begin = time.monotonic()
            first = self.finish(self.start_rank(0, port, [*TRAIN, *self.PLUGIN]))
            took = time.monotonic() - begin
            self.assert_error(first, 5, f"rank 1 on {HOST}", "plug-in 'missing.so' does not exist")
            self.assert_code(self.finish(absent), 2)
            return took
        self.assert_within_limit(seconds_of_rank_0)

    def test_a_mistake_of_all_is_reported_before_any_rank_waits(self):
        absent = self.start_rank(1, free_port(), [*TRAIN, "--plugin", "missing.so"])
        self.assertIn(b"plug-in 'missing.so' does not exist", absent.stderr.readline())
        self.assertIsNone(absent.poll())  # it still looks for a rank 0
        self.assert_code(self.finish(absent), 2)

    def test_a_long_wait_says_where_and_for_whom(self):
        port = free_port()
        follower = self.finish(self.start_rank(1, port, [*TRAIN, *self.PLUGIN, "--rdzv-timeout", 7]))
        self.assert_code(follower, 5)
        self.assertIn(f"rank 1 waits for rank 0 to keep the store at 127.0.0.1:{port} (MASTER_ADDR=127.0.0.1), 2 s left\n", follower.out)
        self.assertEqual(follower.out.count(" waits for "), 1)
        leader = self.finish(self.start_rank(0, port, [*TRAIN, *self.PLUGIN, "--rdzv-timeout", 7]))
        self.assert_code(leader, 5)
        self.assertIn(f"rank 0 waits for the other ranks at 127.0.0.1:{port}", leader.out)
        quick = self.finish(self.start_rank(1, port, [*TRAIN, *self.PLUGIN, "--rdzv-timeout", 1]))
        self.assertNotIn(" waits for ", quick.out)


class StartsOfLibTorch(StartsChecks):
    """The store speaks c10d's protocol."""

    PLUGIN = []

    def test_a_plug_in_file_that_is_missing_on_one_host(self):
        self.assert_named(TRAIN, [*TRAIN, "--plugin", "missing.so"], "plug-in 'missing.so' does not exist")

    def test_a_host_without_plug_ins(self):
        program = self.folder / "bin/paceline"
        program.parent.mkdir()
        shutil.copy(BINARY, program)
        self.assert_named(TRAIN, TRAIN, "no plug-in", code=77, program=program)


class Mpirun(StartsChecks):
    """It ends the others as soon as one has failed, so rank 0 speaks before that one ends."""

    def seconds_of_launch(self, words):
        well, broken = ([BINARY, *map(str, words), "--plugin", plugin] for plugin in (SPIN, "missing.so"))
        begin = time.monotonic()
        process = subprocess.Popen([need_program("mpirun"), "--oversubscribe", "-np", "1", *well, ":", "-np", "1", *broken], env={**self.env, **MPI_ENV},
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(end_processes, process)
        code, text = self.finish_launch(process)
        took = time.monotonic() - begin
        self.assertEqual(code, 2, text)
        self.assertIn("\npaceline: plug-in 'missing.so' does not exist", "\n" + text)
        self.assertRegex(text, rf"paceline: rank 1 on {HOST} \(process \d+\) cannot start: plug-in 'missing.so' does not exist")
        return took

    def test_a_plug_in_file_that_is_missing_on_one_host(self):
        for words in (TRAIN, COMM):
            self.assert_within_limit(lambda words=words: self.seconds_of_launch(words))


if __name__ == "__main__":
    main()
