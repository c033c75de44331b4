# SPDX-License-Identifier: MIT
"""Names of the hosts of a launch, and the CPUs that their ranks take."""

import os
import socket
import subprocess

from launch_lab import TrainingTest, free_port, skip
from paceline_cli import BINARY, SPIN, main


class Names(TrainingTest):
    def test_a_copied_line_for_another_host_is_found_out(self):
        """As of a copied /etc/hosts, in which Debian gives a host its own name."""
        hosts = self.write("hosts", f"127.0.0.1 localhost\n127.0.1.1 node0.example node0\n127.0.1.1 {socket.gethostname()}\n")
        there = ["unshare", "-rm", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh", BINARY]
        if subprocess.run([*there, "--version"], capture_output=True, check=False).returncode:
            skip("no mount namespace here")
        for name in ("node0", "node0.example"):
            done = subprocess.run([*there, "train", "--model", "tiny_cnn", "--plugin", SPIN, "--nnodes", "2", "--node-rank", "1", "--nproc-per-node", "1",
                                   "--rdzv-endpoint", f"{name}:{free_port()}"], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"--rdzv-endpoint {name}:", done.stderr)
            self.assertIn(f"'{name}' is 127.0.1.1 here, which is this host itself", done.stderr)


def cpus_in(text):
    """ "0-2,8": {0, 1, 2, 8} """
    ends = [[int(n) for n in part.split("-")] for part in text.split(",")]
    return {cpu for part in ends for cpu in range(part[0], part[-1] + 1)}


class Cpus(TrainingTest):
    """Which CPUs ranks take when nothing says their threads."""

    ARGUMENTS = ["--model", "tiny_cnn", "--device", "cpu", "--batch", 8, "--steps", 5, "--warmup-steps", 1, "--repetitions", 1, "--idle-wait-s", 0, "--allow-noisy"]

    def setUp(self):
        super().setUp()
        self.cpus = sorted(os.sched_getaffinity(0))
        if len(self.cpus) < 2:
            skip("one CPU cannot be divided")

    def start_on(self, cpus, *arguments, **options):
        return self.start("train", *self.PLUGIN, *self.ARGUMENTS, *arguments, preexec_fn=lambda: os.sched_setaffinity(0, cpus), **options)

    def ranks_of(self, processes, folder="results"):
        for process in processes:
            result = self.finish(process)
            self.assert_code(result, 0)
            self.assertNotIn("CPUs: ", result.out + result.err)
        return self.training_of(self.only_run(folder))["ranks"]

    def test_ranks_that_their_launcher_bound_keep_their_cpus(self):
        half = len(self.cpus) // 2
        sets = [set(self.cpus[:half]), set(self.cpus[half:2 * half])]
        alone, = self.ranks_of([self.start_on(sets[0], "--output-dir", "alone")], "alone")
        place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        ranks = self.ranks_of([self.start_on(sets[r], env={**place, "RANK": str(r), "LOCAL_RANK": str(r)}) for r in (0, 1)])
        for rank, own in zip(ranks, sets):
            self.assertEqual(rank["threads"], alone["threads"])
            self.assertLessEqual(cpus_in(rank["cpus"]), own)
            self.assertEqual(len(cpus_in(rank["cpus"])), alone["threads"])

    def test_commands_of_one_machine_divide_its_cpus(self):
        words = ["--nnodes", 2, "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--node-rank"]
        first, second = self.ranks_of([self.start_on(set(self.cpus), *words, node) for node in (0, 1)])
        self.assertFalse(cpus_in(first["cpus"]) & cpus_in(second["cpus"]), (first["cpus"], second["cpus"]))
        self.assertLessEqual(first["threads"] + second["threads"], len(self.cpus))


if __name__ == "__main__":
    main()
