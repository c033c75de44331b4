# SPDX-License-Identifier: MIT
"""One training under every launcher. Launchers that a system does not allow are skipped, with the reason in the log."""

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from launch_lab import MPI_ENV, QUICK_TRAINING, LaunchedWorlds, LibTorchTraining, NetworkLab, SlurmLab, TrainingTest, free_port, listeners, need_program, skip, torchrun
from paceline_cli import BINARY, GPU, SPIN, main, read_json, session_members, wait_until

FOREVER = 10_000_000  # steps
BY_HAND = "by hand"


class ByHandChecks:
    """One command a host; here both on this one. What is expected of any trainer."""

    def start_host(self, node, port, *arguments, nodes=2, **options):
        return self.start_training("--nnodes", nodes, "--node-rank", node, "--rdzv-endpoint", f"127.0.0.1:{port}", "--nproc-per-node", 1, *arguments,
                                   **options)

    def both(self, first=(), second=(), **options):
        port = free_port()
        hosts = [self.start_host(0, port, *first, **options), self.start_host(1, port, *second, **options)]
        return [self.finish(host) for host in hosts]

    def test_two_commands_are_one_training(self):
        for result in self.both():
            self.assert_code(result, 0)
        self.assert_ranks(self.training_of(), BY_HAND)
        self.assertTrue((self.only_run() / "log_rank1.txt").exists())

    def test_the_store_listens_on_the_address_of_its_endpoint_alone(self):
        port = free_port()
        hosts = [self.start_host(node, port, steps=FOREVER) for node in (0, 1)]
        for host in hosts:
            self.wait_for_steps(host, ranks=1)
        listening = [address for host in hosts for address in listeners(session_members(host.pid))]
        self.assertIn(f"127.0.0.1:{port}", listening)
        for address in listening:
            self.assertRegex(address, r"^127\.0\.0\.1:", listening)
        for host in hosts:
            host.send_signal(signal.SIGINT)
        for host in hosts:
            self.assert_code(self.finish(host), 130)

    def test_a_killed_rank_on_the_other_host_is_named(self):
        results = self.both(["--inject", "kill:rank=1,step=5"], ["--inject", "kill:rank=1,step=5"])
        self.assertEqual([r.code for r in results], [5, 5])
        case = self.failed_case()
        self.assertEqual(case["reason_code"], "peer")
        self.assertIn("rank 1 on ", case["reason"])
        self.assertIn("SIGKILL", case["reason"])

    def test_a_rank_whose_processes_are_all_killed_is_named(self):
        port = free_port()
        first, second = (self.start_host(node, port, steps=FOREVER) for node in (0, 1))
        for host in (first, second):
            self.wait_for_steps(host, ranks=1)
        gone = session_members(second.pid)
        began = time.monotonic()
        for pid in gone:
            os.kill(pid, signal.SIGKILL)
        self.assert_code(self.finish(first), 5)
        self.assertLess(time.monotonic() - began, 8)
        reason = self.failed_case()["reason"]
        self.assertRegex(reason, r"^rank 1 on \S+ \(process \d+\) is gone: killed")
        self.assertIn(f"(process {second.pid})", reason)


class ByHandOfLibTorch(ByHandChecks, LibTorchTraining):
    """Its store and its group between two commands."""


class ByHand(ByHandChecks, TrainingTest):
    def test_smaller_worlds_of_a_sweep_leave_ranks_waiting(self):
        plan = self.write("sweep.yaml", "kind: training\ndevice: cpu\nmodels: [tiny_cnn]\nbatch_sizes: [8]\ngpu_counts: [1, 2]\nthreads: 1\nrepetitions: 2\n"
                                        "idle_wait_s: 0\nallow_noisy: true\nbenchmark: {warmup_steps: 1, measure_steps: 5}\n")
        port = free_port()
        hosts = [self.start("train", *self.PLUGIN, "-c", plan, "--nnodes", 2, "--node-rank", node, "--rdzv-endpoint", f"127.0.0.1:{port}") for node in (0, 1)]
        for host in hosts:
            self.assert_code(self.finish(host), 0)
        cases = {c["benchmark"]["world_size"]: c for c in self.summary()["cases"]}
        for ranks in (1, 2):
            self.assertEqual(cases[ranks]["outcome"], "ok", cases[ranks]["reason"])
            self.assertEqual(len(cases[ranks]["training"][0]["ranks"]), ranks)

    def test_a_plan_of_another_world_is_refused(self):
        plan = self.write("plan.yaml", "kind: training\nmodels: [tiny_cnn]\ngpu_counts: [1, 2, 3]\n")
        words = ["-c", plan, "--nnodes", 2, "--node-rank", 0, "--rdzv-endpoint", "127.0.0.1:29500"]
        self.assert_error(self.run_cli("train", *words), 2, "gpu_counts asks for 3 ranks, but --nnodes and --nproc-per-node start 2 ranks")

    def test_g_of_comm_is_per_host(self):
        port = free_port()
        words = [*LaunchedWorlds.COMM, *self.PLUGIN, "-g", 2, "--nnodes", 2, "--rdzv-endpoint", f"127.0.0.1:{port}", "--node-rank"]
        for host in [self.start(*words, node) for node in (0, 1)]:
            self.assert_code(self.finish(host), 0)
        collective, = self.summary()["cases"][0]["collective"]
        self.assertEqual(len(collective["ranks"]), 4)
        report = self.run_cli("report", self.only_run(), "--format", "markdown", "--output", "report.md")
        self.assert_code(report, 0)
        self.assertIn("4 ranks started by hand, one command per host over gloo", (self.folder / "report.md").read_text(encoding="utf-8"))
        self.assert_error(self.run_cli(*words, 0, "--nproc-per-node", 3), 2, "-g 2, but --nproc-per-node 3 with --nnodes 2 is 6 ranks")

    def test_a_rank_that_cannot_start_is_named_at_once(self):
        """Its plug-in ends its worker, not the process that keeps the store, which has no variables of a plan."""
        plan = self.write("plan.yaml", "kind: training\ndevice: cpu\nmodels: [tiny_cnn]\nbatch_sizes: [8]\nthreads: 1\nrepetitions: 1\nidle_wait_s: 0\n"
                                       "allow_noisy: true\nbenchmark: {measure_steps: 5}\ngpu_counts: [2]\nenv: {SPIN_FAULT_AT: library}\n")
        half_a_gigabyte = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))}
        for fault, said, options in (("segv", "SIGSEGV", {}), ("oom", "the address space of a process is limited", half_a_gigabyte)):
            with self.subTest(fault):
                words = ["train", *self.PLUGIN, "-c", plan, "--nnodes", 2, "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--node-rank"]
                first, second = self.start(*words, 0), self.start(*words, 1, env={"SPIN_FAULT": fault}, **options)
                self.assert_code(self.finish(second), 5)
                begin = time.monotonic()
                self.assert_code(self.finish(first), 5)
                self.assertLess(time.monotonic() - begin, 10)  # after 60 s it would miss rank 1
                case = self.failed_case()
                self.assertEqual(case["reason_code"], "peer")
                self.assertRegex(case["reason"], f"^rank 1 on .*{said}")
                shutil.rmtree(self.folder / "results")

    def test_a_process_without_a_plug_in_is_named_at_once(self):
        if GPU:
            skip("there is a GPU, on which the ranks might run")
        port = free_port()
        first, second = self.start_host(0, port), self.start_host(1, port, "--device", "cuda")
        absent = self.finish(second)
        self.assert_code(absent, 77)
        begin = time.monotonic()
        result = self.finish(first)
        self.assertLess(time.monotonic() - begin, 10)
        self.assert_error(result, 5, "rank 1 on ", " cannot start: ", "cuda")
        self.assert_nothing_ran()

    def test_variables_of_every_shell_are_recorded(self):
        port = free_port()
        for host in [self.start_host(0, port, env={"NCCL_DEBUG": "WARN"}), self.start_host(1, port, env={"NCCL_IB_HCA": "mlx5_1", "TORCH_NCCL_TRACE": "1"})]:
            self.assert_code(self.finish(host), 0)
        environment = read_json(self.only_run() / "environment.json")
        self.assertEqual(environment["variables"]["NCCL_DEBUG"], "WARN")
        self.assertEqual((environment["launch"]["launcher"], environment["launch"]["world"]), (BY_HAND, 2))
        first, second = environment["launch"]["hosts"]
        self.assertEqual((first["ranks"], second["ranks"]), ([0], [1]))
        self.assertEqual(first["variables"], environment["variables"])
        self.assertEqual((second["variables"]["NCCL_IB_HCA"], second["variables"]["TORCH_NCCL_TRACE"]), ("mlx5_1", "1"))
        self.assertNotIn("NCCL_DEBUG", second["variables"])

    def test_different_plans_are_refused_before_the_first_step(self):
        for result in self.both(second=["--lr", "0.2"]):
            self.assert_code(result, 2)
            self.assertIn("different plans: rank 0 on ", result.err)
        self.assert_nothing_ran()

    def test_the_option_that_differs_is_named(self):
        for result in self.both(first=["--output-dir", "here"], second=["--output-dir", "there"]):
            self.assert_code(result, 2)
            self.assertRegex(result.err, r"different plans: rank 0 on \S+ \(process \d+\) and rank 1 on .* differ in output_dir; ")

    def test_missing_ranks_are_named_in_time(self):
        begin = time.monotonic()
        result = self.finish(self.start_host(0, free_port(), "--rdzv-timeout", 1))
        self.assert_code(result, 5)
        self.assertIn("missing ranks: 1 (of 2, after 1 s", result.err)
        self.assertLess(time.monotonic() - begin, 30)
        self.assert_nothing_ran()

    def test_an_interrupt_ends_the_wait_for_the_others(self):
        host = self.start_host(0, free_port())
        self.assertTrue(wait_until(lambda: len(session_members(host.pid)) > 1), "it keeps no store")
        time.sleep(1)
        begin = time.monotonic()
        host.send_signal(signal.SIGTERM)
        result = self.finish(host)
        self.assert_code(result, 130)
        self.assertNotIn("missing ranks", result.err)
        self.assertLess(time.monotonic() - begin, 20)
        self.assert_nothing_left(host)

    def test_a_mistake_of_both_has_one_exit_code(self):
        broken = self.write("broken.npz", "no archive")
        words = ["--data.source", "npz", "--data.path", broken]
        self.assertEqual([r.code for r in self.both(words, words)], [2, 2])

    def test_two_processes_of_one_rank(self):
        port = free_port()
        results = [self.finish(p) for p in [self.start_host(node, port, nodes=3) for node in (0, 1, 1)]]
        for result in results:
            self.assert_code(result, 2)
            self.assertIn("two processes are rank 1: ", result.err)
        self.assertEqual(len({result.err for result in results}), 1)

    def test_an_endpoint_that_nobody_serves(self):
        port = free_port()
        result = self.finish(self.start_host(1, port, "--rdzv-timeout", 1))
        self.assert_code(result, 5)
        self.assertIn(f"127.0.0.1:{port}", result.err)

    def test_a_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = self.finish(self.start_host(0, port, "--rdzv-timeout", 5))
        self.assert_code(result, 2)
        self.assertIn(f"port {port} is in use", result.err)

    def test_unknown_hosts_and_wrong_words(self):
        result = self.train("--nnodes", 2, "--node-rank", 1, "--rdzv-endpoint", "no-such-host.invalid:29500")
        self.assert_code(result, 2)
        self.assertIn("--rdzv-endpoint no-such-host.invalid:29500: the host 'no-such-host.invalid' is unknown here", result.err)
        self.assert_error(self.train("--nnodes", 2, "--node-rank", 2, "--rdzv-endpoint", "a:1"), 2, "--node-rank 2 with --nnodes 2")
        self.assert_error(self.train("--nnodes", 2, "--node-rank", 1), 2, "--rdzv-endpoint")

    def test_a_second_node_0_is_named(self):
        port = free_port()
        results = [self.finish(p) for p in [self.start_host(0, port) for _ in range(2)]]
        for result in results:
            self.assert_code(result, 2)
            self.assertIn("two processes are rank 0: rank 0 on ", result.err)
        self.assertEqual(len({result.err for result in results}), 1)
        self.assert_nothing_ran()

    def test_node_0_must_have_the_address(self):
        begin = time.monotonic()
        result = self.train("--nnodes", 2, "--node-rank", 0, "--rdzv-endpoint", "198.51.100.1:29500")  # nobody's (RFC 5737)
        self.assert_error(result, 2, "--rdzv-endpoint 198.51.100.1:29500: ", "does not have that address; it has lo (127.0.0.1)")
        self.assertLess(time.monotonic() - begin, 20)

    def test_invalid_endpoints(self):
        for endpoint in ("node0", "node0:0", "node0:99999", "", "fd00::1"):
            with self.subTest(endpoint=endpoint):
                self.assert_error(self.train("--nnodes", 2, "--node-rank", 1, "--rdzv-endpoint", endpoint), 2, "--rdzv-endpoint")
        self.assert_nothing_ran()

    def test_words_that_need_others(self):
        self.assert_error(self.train("--node-rank", 1), 2, "--node-rank without --nnodes")
        self.assert_error(self.train("--rdzv-endpoint", "a:1"), 2, "--rdzv-endpoint without --nnodes")
        self.assert_error(self.train("--nnodes", 1, "--node-rank", 1), 2, "--node-rank 1 with --nnodes 1")
        self.assert_error(self.train("--ranks", 3, "--nproc-per-node", 2), 2, "--ranks 3, but --nproc-per-node 2 with --nnodes 1 is 2 ranks")
        self.assert_nothing_ran()

    def test_an_absent_interface(self):
        for words in (["--ranks", 2], ["--nnodes", 2, "--node-rank", 1, "--rdzv-endpoint", f"127.0.0.1:{free_port()}"]):
            result = self.train(*words, "--interface", "eth99")
            self.assert_error(result, 2, "--interface eth99: this host has no such interface; it has lo (127.0.0.1)")
        self.assert_nothing_ran()


class Environment(LaunchedWorlds, TrainingTest):
    LAUNCHER, STARTED = "environment", "RANK and WORLD_SIZE name"

    def run_two(self, *words):
        place = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        done = [self.finish(p) for p in [self.start(*words, env={**place, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in (0, 1)]]
        return max(one.code for one in done), "".join(one.out + one.err for one in done)

    def test_ranks_of_the_command_line_must_be_those_of_the_launch(self):
        self.assert_refused("train", *self.PLUGIN, "-c", self.plan_of(), "--ranks", 1, said=["--ranks asks for 1 rank, but RANK and WORLD_SIZE name 2 ranks"])
        self.assert_refused(*self.COMM, *self.PLUGIN, "--ranks", 3, said=["--ranks asks for 3 ranks", "name 2 ranks"])
        self.assert_refused("train", *self.PLUGIN, "-c", self.plan_of("[1, 2]"), "--only", 1, said=["the cases of --only have 1 rank", "name 2 ranks"])

    def test_run_takes_what_was_launched(self):
        plan = self.plan_of()
        plan.write_text(plan.read_text(encoding="utf-8") + f"plugin: [{SPIN}]\n", encoding="utf-8")
        self.assertEqual(self.worlds("run", plan), [2])

    def test_inference_is_started_once(self):
        place = {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "3", "LOCAL_RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        plan = self.spin_plan(name="inference.yaml")
        for words in (("infer", *self.PLUGIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4"), ("run", plan), ("run", plan, "--dry-run")):
            self.assert_error(self.run_cli(*words, env=place), 2, "RANK and WORLD_SIZE name 3 ranks, and inference is started once", "--gpus 3", "--instances 3")
        unmet = {"RANK": "1", "WORLD_SIZE": "3"}  # a loop of a shell, which says no address
        self.assert_error(self.run_cli("infer", *self.PLUGIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", env=unmet), 2, "name 3 ranks", "--gpus 3")
        apart = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "RANK": "0", "WORLD_SIZE": "3"}
        self.assert_error(self.run_cli("infer", *self.PLUGIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", env=apart), 2, "two launchers do not agree")
        self.assert_nothing_ran()
        for alone in ({**place, "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}, {"RANK": "1"}):
            self.assert_code(self.run_cli("infer", *self.PLUGIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--dry-run", env=alone), 0)

    def test_one_process_is_no_launch(self):
        place = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "198.51.100.1", "MASTER_PORT": "1"}  # nobody asks for its store
        result = self.train("--ranks", 2, env=place)
        self.assert_code(result, 0)
        self.assertIn("RANK and WORLD_SIZE name 1 rank, which is no launch: all ranks are started here", result.out)
        self.assert_ranks(self.training_of(), "paceline")

    def manifest(self, name):
        """Command line and variables of a pod."""
        text = (Path(__file__).parents[2] / "scripts/kubernetes" / name).read_text(encoding="utf-8")
        words = re.search(r"command: \[paceline, (.*)\]", text).group(1).replace('"', "").split(", ")
        return words, dict(re.findall(r'{name: (\w+), value: "?([^"}]+)"?}', text))

    def test_pods_of_the_manifests_train_together(self):
        plan = self.plan_of()
        plan.write_text(plan.read_text(encoding="utf-8") + f"plugin: [{SPIN}]\n", encoding="utf-8")
        for name, rank_variable, more in (("pytorchjob.yaml", "RANK", {"WORLD_SIZE": "2"}), ("jobset.yaml", "JOB_COMPLETION_INDEX", {})):
            with self.subTest(name):
                words, variables = self.manifest(name)
                words = [{"/plans/train.yaml": str(plan), "/results": str(self.folder / "results")}.get(word, word) for word in words]
                place = {**variables, **more, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
                for pod in [self.start(*words, env={**place, rank_variable: str(rank)}) for rank in (0, 1)]:
                    self.assert_code(self.finish(pod), 0)
                self.assert_ranks(self.training_of(), "kubernetes")
                shutil.rmtree(self.folder / "results")

    def test_contradictions_are_named(self):
        place = {"RANK": "0", "WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
        self.assert_error(self.train(env=place), 2, "RANK=0", "OMPI_COMM_WORLD_RANK=1")
        self.assert_error(self.train(env={"RANK": "0"}), 2, "RANK=0", "WORLD_SIZE is not")
        self.assert_nothing_ran()

    def test_half_of_what_an_operator_says(self):
        self.assert_error(self.train(env={"PET_NNODES": "2"}), 2, "PET_NNODES=2 is set, but PET_NODE_RANK is not")
        self.assert_nothing_ran()

    def test_what_was_written_is_named(self):
        place = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": str(free_port())}
        self.assert_error(self.train(env={**place, "MASTER_ADDR": "198.51.100.1"}), 2, "MASTER_ADDR=198.51.100.1: ", "does not have that address")
        self.assert_error(self.train(env={**place, "MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "eth99"}), 2, "GLOO_SOCKET_IFNAME=eth99: ")
        self.assert_nothing_ran()

    def test_a_batch_script_is_no_rank(self):
        self.assert_code(self.train(env={"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"}), 0)
        self.assertEqual(len(self.training_of()["ranks"]), 1)

    def test_variables_by_hand(self):
        place = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        processes = [self.start_training(env={**place, "RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2"}) for rank in (0, 1)]
        for process in processes:
            self.assert_code(self.finish(process), 0)
        self.assert_ranks(self.training_of(), "environment")


class Mpirun(LaunchedWorlds, TrainingTest):
    LAUNCHER, STARTED = "mpirun", "mpirun has started"

    def run_two(self, *words):
        return self.finish_launch(self.launch_words([need_program("mpirun"), "--oversubscribe", "-np", 2], *words, env=MPI_ENV))

    def test_its_terminal_gets_no_escape_codes(self):
        """mpirun gives its ranks a terminal, and writes their text into a file."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        process = self.start(*self.words(), "--ranks", 1, env={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "TERM": "xterm"}, stdout=slave)
        os.close(slave)
        text = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(master, 4096):
                text += part
        self.assertEqual(process.wait(timeout=60), 0, text)
        self.assertIn(b"p50", text)
        self.assertNotIn(b"\x1b", text)

    def test_one_process_is_no_launch(self):
        words = [*self.COMM, *self.PLUGIN, "-g", 2]
        code, text = self.finish_launch(self.launch_words([need_program("mpirun"), "--oversubscribe", "-np", 1], *words, env=MPI_ENV))
        self.assertEqual(code, 0, text)
        self.assertIn("mpirun has started 1 rank, which is no launch: all ranks are started here", text)
        collective, = self.summary()["cases"][0]["collective"]
        self.assertEqual((collective["launcher"], len(collective["ranks"])), ("paceline", 2))

    def test_a_plan_of_this_repository(self):
        """As its own comment says, but for the model and the length."""
        plan = Path(__file__).parents[2] / "examples/plans/synthetic_resnet50.yaml"
        self.assertEqual(self.worlds("train", *self.PLUGIN, *QUICK_TRAINING, "--steps", 3, "--config", plan), [2])

    def mpirun(self, *arguments, **options):
        program = need_program("mpirun")
        command = [program, "--oversubscribe", "-np", 2]
        return self.launch(command, *arguments, env=MPI_ENV, **options)

    def test_two_ranks(self):
        code, text = self.finish_launch(self.mpirun())
        self.assertEqual(code, 0, text)
        self.assert_ranks(self.training_of(), "mpirun")

    def test_a_killed_rank_is_named(self):
        process = self.mpirun("--inject", "kill:rank=1,step=5")
        code, text = self.finish_launch(process)
        self.assertNotEqual(code, 0)
        self.assertIn("rank 1 on ", text)
        self.assertIn("SIGKILL", text)
        self.assert_nothing_left(process)


class Torchrun(LaunchedWorlds, LibTorchTraining):
    """Its agent serves a store that speaks LibTorch's protocol."""

    LAUNCHER, STARTED, EXIT = "torchrun", "torchrun has started", 1

    def run_two(self, *words):
        return self.finish_launch(self.launch_words([torchrun(), "--standalone", "--nproc-per-node", 2, "--no-python"], *words))

    def torchrun(self, *arguments, options=(), **more):
        return self.launch([torchrun(), "--standalone", "--nproc-per-node", 2, *options, "--no-python"], *arguments, **more)

    def test_two_ranks(self):
        code, text = self.finish_launch(self.torchrun())
        self.assertEqual(code, 0, text)
        self.assert_ranks(self.training_of(), "torchrun")

    def test_the_rank_that_failed_first_is_the_root_cause(self):
        process = self.torchrun("--inject", "kill:rank=1,step=5")
        code, text = self.finish_launch(process)
        self.assertNotEqual(code, 0)
        root = text.split("Root Cause", 1)[1]
        self.assertIn("rank      : 1", root)
        self.assertIn("SIGKILL", root)
        self.assert_nothing_left(process)

    def test_restarted_ranks_go_on_from_the_checkpoint(self):
        code, text = self.finish_launch(self.torchrun("--inject", "kill:rank=1,step=25", "--checkpoint.dir", "saved", "--checkpoint.every-steps", 10,
                                                      options=["--max-restarts", 1], steps=40))
        self.assertEqual(code, 0, text)
        runs = sorted(p.parent for p in self.folder.glob("results/*/*/plan.yaml"))
        self.assertEqual(len(runs), 2)
        self.assert_ranks(self.training_of(runs[1]), "torchrun")

    def test_hosts_that_counted_different_restarts_meet(self):
        """A host whose rank failed counts a restart, and the other only notices that somebody waits."""
        command = [torchrun(), "--nnodes", 2, "--nproc-per-node", 1, "--max-restarts", 1, "--rdzv-backend", "c10d", "--rdzv-id", "two", "--rdzv-endpoint",
                   f"127.0.0.1:{free_port()}", "--no-python"]
        hosts = [self.launch(command, "--inject", "kill:rank=1,step=25", "--checkpoint.dir", "saved", "--checkpoint.every-steps", 10, steps=40)
                 for _ in range(2)]
        for host in hosts:
            code, text = self.finish_launch(host, timeout=240)
            self.assertEqual(code, 0, text)
        runs = sorted(p.parent for p in self.folder.glob("results/*/*/plan.yaml"))
        self.assertEqual(len(runs), 2)
        self.assert_ranks(self.training_of(runs[1]), "torchrun")


class Slurm(LaunchedWorlds, TrainingTest):
    lab = None
    LAUNCHER, STARTED = "srun", "srun has started"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab = SlurmLab(tempfile.mkdtemp(prefix="paceline-slurm-"))
        cls.addClassCleanup(cls.lab.end)

    # Fake nodes have names that do not resolve.
    HERE = {"MASTER_ADDR": "127.0.0.1"}

    def srun(self, *arguments, **options):
        return self.launch(["srun", "-N", 2, "-n", 2, "--kill-on-bad-exit=1"], *arguments, env={**self.lab.env, **self.HERE}, **options)

    def run_two(self, *words):
        # Each task ends by itself: one that srun kills has another exit code.
        return self.finish_launch(self.launch_words(["srun", "-N", 2, "-n", 2], *words, env={**self.lab.env, **self.HERE}))

    def test_a_step_of_one_task_is_no_launch(self):
        command = ["srun", "-N", 1, "-n", 1, "bash", "-c", '"$@"', "bash"]
        code, text = self.finish_launch(self.launch_words(command, *self.COMM, *self.PLUGIN, "-g", 2, env=self.lab.env))
        self.assertEqual(code, 0, text)
        self.assertIn("srun has started 1 rank, which is no launch: all ranks are started here", text)
        collective, = self.summary()["cases"][0]["collective"]
        self.assertEqual((collective["launcher"], len(collective["ranks"])), ("paceline", 2))

    def test_the_batch_script_trains_what_slurm_started(self):
        plan = self.plan_of()
        plan.write_text(plan.read_text(encoding="utf-8") + f"plugin: [{SPIN}]\n", encoding="utf-8")
        script = Path(__file__).parents[2] / "scripts/train.sbatch"
        self.assertIn("#SBATCH --gpus-per-task=1\n", script.read_text(encoding="utf-8"))
        done = subprocess.run(["sbatch", "--wait", "--nodes=2", "--gpus-per-task=0", "-o", self.folder / "job.txt", script, plan], check=False, capture_output=True, text=True,
                              timeout=120, env={**self.env, **self.lab.env, **self.HERE, "PACELINE": BINARY}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "job.txt").read_text(encoding="utf-8"))
        self.assert_ranks(self.training_of(), "srun")

    def test_srun_on_two_nodes(self):
        code, text = self.finish_launch(self.srun())
        self.assertEqual(code, 0, text)
        self.assert_ranks(self.training_of(), "srun")

    def test_names_that_do_not_resolve_are_reported_at_once(self):
        begin = time.monotonic()
        process = self.launch(["srun", "-N", 2, "-n", 2, "--kill-on-bad-exit=1"], env=self.lab.env)
        code, text = self.finish_launch(process)
        self.assertNotEqual(code, 0)
        self.assertIn("the host 'n1' is unknown here", text)
        self.assertLess(time.monotonic() - begin, 40)

    def test_sbatch(self):
        script = self.write("job.sh", "#!/bin/bash\nexport MASTER_ADDR=127.0.0.1\n"
                                      f"srun --kill-on-bad-exit=1 {BINARY} train --plugin {SPIN} --model tiny_cnn --device cpu --batch 8 --steps 5 --warmup-steps 1 --threads 1"
                                      " --repetitions 1 --idle-wait-s 0 --allow-noisy\n")
        done = subprocess.run(["sbatch", "--wait", "-N", "2", "--ntasks-per-node=1", "-o", self.folder / "job.txt", script], check=False,
                              capture_output=True, text=True, timeout=120, env={**self.env, **self.lab.env}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "job.txt").read_text(encoding="utf-8"))
        self.assert_ranks(self.training_of(), "srun")

    def test_a_killed_rank_is_named(self):
        code, text = self.finish_launch(self.srun("--inject", "kill:rank=1,step=5"))
        self.assertNotEqual(code, 0)
        self.assertIn("rank 1 on ", text)


class TwoHosts:
    """They have names, addresses and a network of their own."""

    def setUp(self):
        super().setUp()
        self.lab = NetworkLab()
        self.addCleanup(self.lab.end)
        self.port = 29_500

    def start_host(self, k, *arguments, **options):
        return self.launch(self.lab.on(k), "--nnodes", 2, "--node-rank", k, "--rdzv-endpoint", f"{self.lab.address(0)}:{self.port}",
                           "--nproc-per-node", 1, *arguments, **options)

    def both(self, *arguments, **options):
        return [self.start_host(k, *arguments, **options) for k in (0, 1)]

    def finish_well(self, processes):
        for process in processes:
            code, text = self.finish_launch(process)
            self.assertEqual(code, 0, text)


class Namespaces(TwoHosts, TrainingTest):
    def test_two_hosts(self):
        self.finish_well(self.both())
        training = self.training_of()
        self.assert_ranks(training, BY_HAND)
        self.assertEqual([r["host"] for r in training["ranks"]], ["node0", "node1"])


class NamespacesOfLibTorch(TwoHosts, LibTorchTraining):
    def test_a_slow_link_shows_in_the_step(self):
        self.lab.slow("10mbit")
        self.finish_well(self.both(steps=5))
        training = self.training_of()
        # 100 kB of gradients at 10 Mbit/s take 80 ms, of which the limiter lets 16 kB through at once.
        self.assertGreater(training["parts"]["exposed_ns"], 40e6)

    def test_a_lost_link_ends_both_hosts(self):
        processes = self.both("--group-timeout-s", 3, steps=FOREVER)
        for process in processes:
            self.wait_for_steps(process, ranks=1)
        begin = time.monotonic()
        self.lab.cut(1)
        for process in processes:
            code, text = self.finish_launch(process, timeout=120)
            self.assertEqual(code, 5, text)
            self.assert_nothing_left(process)
        self.assertLess(time.monotonic() - begin, 90)
        self.assertIn("did not answer within the group's timeout", self.failed_case()["reason"])

    def test_torchrun_on_two_hosts(self):
        program = torchrun()
        command = [program, "--nnodes", 2, "--nproc-per-node", 1, "--rdzv-backend", "c10d", "--rdzv-id", "j1", "--rdzv-endpoint",
                   f"{self.lab.address(0)}:29400", "--no-python"]
        processes = [self.launch([*self.lab.on(k), *command]) for k in (0, 1)]
        self.finish_well(processes)
        self.assert_ranks(self.training_of(), "torchrun")


if __name__ == "__main__":
    main()
