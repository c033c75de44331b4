# SPDX-License-Identifier: MIT
"""`validate` of a machine and of a fleet: saved machines, hosts, the load test. In a tree with the spin plug-in alone."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import unittest
from pathlib import Path
from xml.etree import ElementTree

import launch_lab
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


class Forms(ValidateTest):
    """One answer in every form that `report` has for runs."""

    def test_the_ending_of_a_file_or_a_name_selects_the_form(self):
        out, _ = self.validate("-o", "m.html")
        self.assertIn("report  m.html", out)
        self.assertRegex(out, r"PASS  plug-in spin +")
        page = (self.folder / "m.html").read_text(encoding="utf-8")
        verdict = out.splitlines()[-2]  # before the name of the file
        for word in ("<h1>This machine</h1>", f'<p class="verdict">{verdict}</p>', '<td class="gate-met">PASS</td><td>plug-in spin</td>'):
            self.assertIn(word, page)
        self.assertTrue(self.validate("--format", "markdown")[0].startswith("# This machine\n\n"))
        self.assertEqual(json.loads(self.validate("-f", "json")[0])["title"], "This machine")

    def test_junit_has_a_test_for_each_check(self):
        checks = json.loads(self.validate("--json")[0])["checks"]
        tree = ElementTree.fromstring(self.validate("--format", "junit")[0])
        names = [one.get("name") for one in tree.iter("testcase")]
        self.assertEqual(names, [one["name"] for one in checks])
        skipped = [one.get("name") for one in tree.iter("testcase") if one.find("skipped") is not None]
        self.assertEqual(skipped, [one["name"] for one in checks if one["status"] == "SKIP"])

    def test_a_fleet_and_a_failure_have_them_too(self):
        rsh = self.write("rsh", "#!/bin/sh\n[ $1 = dead ] && exit 255\nshift\nexec \"$@\"\n")
        rsh.chmod(0o755)
        out, _ = self.validate("--hosts", "node0,dead", "--rsh", rsh, "-f", "junit", codes=(5,), timeout=120)
        failed, = [one for one in ElementTree.fromstring(out).iter("testcase") if one.get("name") == "dead"]
        self.assertIsNotNone(failed.find("failure"))

    def test_mistakes_are_named_before_anything_is_checked(self):
        for arguments, why in ((["-o", "m.png"], "no format has the ending .png"), (["-f", "csv"], "'csv' is none of text, html"),
                               (["-f", "html,json", "-o", "-"], "standard output takes one text"), (["-f", "pdf", "-o", "-"], "name a file")):
            out, err = self.validate(*arguments, codes=(2,))
            self.assertEqual(out, "")
            self.assertIn(why, err)


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

    def test_invalid_files_are_refused_before_anything_is_checked(self):
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


class Hosts(ValidateTest):
    """Hosts that a script plays: it runs the command here, in the surroundings that a host's line gives it."""

    def setUp(self):
        super().setUp()
        self.rsh = self.write("rsh", "#!/bin/sh\n" + """host=$1; shift
case $host in
  dead) echo "ssh: connect to host dead port 22: No route to host" >&2; exit 255;;
  bare) echo "sh: 1: paceline: not found" >&2; exit 127;;
  old) echo '{'; echo '"checks": []}'; exit 0;;
  newer) "$@" | sed 's/"format_version": 1/"format_version": 9/'; exit 0;;
  mute) echo "segmentation fault" >&2; exit 139;;
  liar) SPIN_VERSION=lies "$@" | sed 's/"lies"/"1\\\\nFAIL  node1: lost"/'; exit 0;;
  chatty) echo "Welcome to chatty {"; echo "last login: today" >&2; exec "$@";;
  other*) SPIN_VERSION=2 exec "$@";;
  *) exec "$@";;
esac
""")
        self.rsh.chmod(0o755)

    def ask(self, hosts, *arguments, **options):
        return self.validate("--hosts", hosts, "--rsh", self.rsh, *arguments, timeout=120, **options)

    def test_hosts_that_are_alike(self):
        out, _ = self.ask("node0:2,chatty:1")
        self.assertRegex(out, r"alike: Paceline \S+; CPU model ")
        self.assertNotIn("what differs", out)
        self.assertTrue(out.endswith("2 hosts are alike\n"), out)

    def test_the_minority_is_named_and_of_two_nobody(self):
        out, _ = self.ask("node0,node1,other", codes=(4,))
        self.assertRegex(out, r"what differs +node0 +node1 +other\nlibrary spin +1 +1 +2 \*\n")
        self.assertRegex(out, "FAIL  other +library spin: 2, but 1 on the other hosts  → ")
        self.assertTrue(out.endswith("outliers: other (library spin)\n"), out)
        out, _ = self.ask("node0,other", codes=(4,))
        self.assertNotIn("*", out)
        self.assertIn("2 hosts differ in 1 thing and no majority says which is right", out)

    def test_a_host_without_an_answer_costs_a_sentence(self):
        out, _ = self.ask("node0,dead,bare,old,newer,mute", codes=(5,))
        for host, why in (("dead", "cannot be reached: ssh: connect to host dead port 22: No route to host"), ("bare", f"has no paceline at {self.binary}: install it"),
                          ("old", "runs a Paceline whose validate knows no machine: install "), ("newer", "gave an answer that cannot be read: the answer of newer was written by"),
                          ("mute", "gave no answer (exit code 139): segmentation fault")):
            self.assertRegex(out, f"FAIL  {host} +{re.escape(why)}")
        self.assertIn("1 host; 5 hosts gave no answer", out)
        out, _ = self.ask("dead", codes=(5,))
        self.assertTrue(out.endswith("no host to compare; 1 host gave no answer\n"), out)

    def test_the_launcher_of_a_package_is_what_other_hosts_start(self):
        out, _ = self.ask("bare", env={"PACELINE_LAUNCHER": "/opt/p/bin/paceline"}, codes=(5,))
        self.assertRegex(out, "FAIL  bare +has no paceline at /opt/p/bin/paceline: install it")

    def test_what_most_have_is_saved_and_compared_with(self):
        self.ask("node0,node1,other", "--save", "fleet.json", codes=(4,))
        out, _ = self.ask("node0,other", "--expect", "fleet.json", codes=(4,))
        self.assertRegex(out, r"FAIL  other +library spin: 2 here, 1 in fleet\.json  → ")
        self.assertNotIn("node0  library", out)

    def test_each_complaint_is_of_one_origin_and_has_the_text_of_each_host(self):
        self.ask("node0,node1", "--save", "fleet.json")
        out, _ = self.ask("node0,node1,other", "--expect", "fleet.json", "--json", codes=(4,))
        texts = [one["texts"] for one in json.loads(out)["complaints"] if one["name"] == "library spin"]
        self.assertEqual(texts, [{"other": "2, but 1 on the other hosts"}, {"other": "2 here, 1 in fleet.json"}])

    def test_text_of_another_host_forges_no_line(self):
        out, _ = self.ask("node0,node1,liar", codes=(4,))
        self.assertRegex(out, r"FAIL  liar +library spin: 1\\nFAIL  node1: lost, but 1 on the other hosts  → ")
        self.assertNotRegex(out, r"(?m)^FAIL  node1")

    def test_json_has_the_machines_and_what_differs(self):
        out, _ = self.ask("node0,node1,other,dead", "--json", codes=(5,))
        found = json.loads(out)
        self.assertEqual([(one["host"], one["machine"] is not None) for one in found["hosts"]], [("node0", True), ("node1", True), ("other", True), ("dead", False)])
        one, = found["differences"]
        self.assertEqual((one["name"], one["values"], one["usual"], one["outliers"]), ("library spin", {"node0": "1", "node1": "1", "other": "2"}, "1", ["other"]))
        self.assertEqual(found["alike"]["plug-in spin"], "loaded")

    def test_an_interrupt_says_who_had_answered(self):
        rsh = self.write("slow", f"#!/bin/sh\n[ $1 = late ] && {{ touch {self.folder}/asked; exec sleep 60; }}\nexec {self.rsh} \"$@\"\n")
        rsh.chmod(0o755)
        words = [str(self.binary), "validate", "--hosts", "node0,late,node1", "--rsh", str(rsh), "--save", "fleet.json"]
        with subprocess.Popen(words, cwd=self.folder, env=self.env, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            self.addCleanup(cli.end_group, process)
            self.assertTrue(cli.wait_until((self.folder / "asked").exists))
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 130)
        self.assertRegex(said, r"paceline: interrupted: [012] of 3 hosts had answered, not (.*, )?late(, .*)?; nothing was compared or saved")
        self.assertFalse((self.folder / "fleet.json").exists())

    def test_many_hosts_share_columns(self):
        out, _ = self.ask(",".join([f"node{i}" for i in range(8)] + ["other0", "other1"]), codes=(4,))
        self.assertRegex(out, r"what differs +node0 and 7 more +other0 and 1 more\n")
        self.assertIn("outliers: other0 (library spin), other1 (library spin)\n", out)

    def test_mistakes(self):
        for arguments, why in ((["--hosts", "node0,-oProxyCommand=x"], "is no name of a host"), (["--hosts", "a b"], "is no name of a host"),
                               (["--hosts", "node0,[::1"], "'[::1' has no closing bracket"), (["--hosts", "[::1]x"], "'[::1]x' goes on behind its bracket"),
                               (["--hosts", "[]:2"], "is no name of a host"),
                               (["--hosts", "node0", "--rsh", "no-such-program -x"], "there is no program 'no-such-program'")):
            out, err = self.validate(*arguments, codes=(2,))
            self.assertEqual(out, "")
            self.assertIn(why, err)


class Nodes(ValidateTest):
    """Four nodes as network namespaces on this machine; `rsh` is `ip netns exec` in a script that makes two of them different."""

    def setUp(self):
        super().setUp()
        self.lab = launch_lab.NetworkLab(4)
        self.addCleanup(self.lab.end)
        self.group = None
        self.rsh = self.write("rsh", "#!/bin/sh\n" + f"""node=$1; shift
case $node in
  node1) {self.fewer_cpus()};;
  node3) export SPIN_VERSION=2;;
esac
exec ip netns exec {self.lab.prefix}${{node#node}} unshare -u sh -c 'hostname $0; {self.groups_again()}exec "$@"' $node "$@"
""")
        self.rsh.chmod(0o755)

    def fewer_cpus(self):
        """Half a CPU of quota, where control groups can be written, else an affinity mask of one CPU."""
        for root, quota in ((Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us"), (Path("/sys/fs/cgroup"), "cpu.max")):
            group = root / f"paceline-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(group.rmdir)
            with contextlib.suppress(OSError):
                (group / quota).write_text("50000" if quota.endswith("us") else "50000 100000", encoding="utf-8")
                self.group = root
                self.fact, self.value = "CPU quota", "0.5 CPUs"
                return f"echo $$ > {group}/cgroup.procs"
        if len(os.sched_getaffinity(0)) < 2:
            launch_lab.skip("neither a quota nor fewer CPUs can be had here")
        self.fact, self.value = "CPUs in the affinity mask", "1 CPU"
        return f"taskset -cp {min(os.sched_getaffinity(0))} $$ >/dev/null"

    def groups_again(self):
        """`ip netns exec` mounts a new /sys, without control groups."""
        if not self.group:
            return ""
        if self.group.name == "cpu":
            return "mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu && mount -t cgroup -o cpu none /sys/fs/cgroup/cpu; "
        return "mount -t cgroup2 none /sys/fs/cgroup; "

    def test_both_that_differ_are_named_and_none_of_the_others(self):
        out, _ = self.validate("--hosts", "node0,node1,node2,node3", "--rsh", self.rsh, "--json", codes=(4,), timeout=200)
        found = json.loads(out)
        self.assertEqual([one["machine"]["host"] for one in found["hosts"]], ["node0", "node1", "node2", "node3"])
        self.assertEqual({one["name"]: one["outliers"] for one in found["differences"]}, {self.fact: ["node1"], "library spin": ["node3"]})
        self.assertEqual({one["name"]: one["texts"] for one in found["complaints"] if one["status"] == "FAIL"},
                         {self.fact: {"node1": f"{self.value}, but {'no limit' if self.group else found['differences'][0]['values']['node0']} on the other hosts"},
                          "library spin": {"node3": "2, but 1 on the other hosts"}})
        self.assertEqual(found["verdict"], f"outliers: node1 ({self.fact}), node3 (library spin)")


PEAKS = "product:fp32:52e12,product:bf16:700e12,copy:within_device:4.2e12"


class GpuTest(ValidateTest):
    """On a /dev that shows a GPU, with the double of NVML."""

    def with_gpus(self, *arguments, nvml="", codes=(0,), **env):
        """The whole answer; `nvml`: lines of the double's script."""
        if "PACELINE_FAKE_NVML" not in os.environ:
            self.skipTest("the double of NVML is not here")
        command = ["unshare", "-rm", "sh", "-c", cli.SHOWS_A_GPU.format(binary=self.binary), "sh"]
        if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
            self.skipTest("no mount namespace here")
        env = {**self.env, "FAKE_NVML": str(self.write("nvml.txt", "* ComputeRunningProcesses none\n" + nvml)),
               "LD_LIBRARY_PATH": f"{Path(os.environ['PACELINE_FAKE_NVML']).parent}:{self.env.get('LD_LIBRARY_PATH', '')}", **env}
        done = subprocess.run([*command, "validate", "--json", *arguments], cwd=self.folder, env=env, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        return json.loads(done.stdout)


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class Software(GpuTest):
    """Libraries that the spin plug-in claims to have, with the driver of the double."""

    LIBRARIES = "CUDA runtime=13.0,cuDNN=9.10.2,NCCL=2.27.7"

    def row(self, name, *arguments, **options):
        found = self.with_gpus(*arguments, SPIN_LIBRARIES=self.LIBRARIES, **options)
        return next(row for row in found["checks"] if row["name"] == name)

    def test_the_driver_fits_the_libraries(self):
        row = self.row("CUDA software", "--save", "base.json")
        self.assertEqual(row["text"], "driver 580.65.06 (CUDA up to 13.0), CUDA runtime 13.0, cuDNN 9.10.2, NCCL 2.27.7")
        self.assertEqual(row["status"], "PASS")

    def test_a_driver_that_is_too_old_fails(self):
        row = self.row("CUDA software", nvml="* DriverVersion 575.57.08\n* CudaDriverVersion 12090\n", codes=(4,))
        self.assertEqual((row["status"], row["text"]), ("FAIL", "driver 575.57.08 (CUDA up to 12.9) is too old for CUDA runtime 13.0"))
        self.assertEqual(row["fix"], "install driver 580.65.06 or newer, or libraries that are built for an older CUDA")

    def test_links_are_compared_with_those_that_were_saved(self):
        self.row("GPU links", "--save", "base.json")
        found = self.with_gpus("--expect", "base.json", nvml="* NvLinks 0\n* P2PStatus.2 5\n", codes=(4,), SPIN_LIBRARIES=self.LIBRARIES)
        self.assertEqual(found["differences"], [{"name": "GPU links", "status": "FAIL", "found": "all pairs only over PCIe",
                                                 "expected": "all pairs over NVLink, 18 links each", "fix": "nvidia-smi topo -m and nvidia-smi nvlink -s there show why"}])


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class Broken(GpuTest):
    """Machines that look well from afar."""

    LOST = "".join(f"{{0}} {call} !15\n" for call in ("Name", "UUID", "PciInfo", "MemoryInfo.total", "MemoryInfo_v2.used", "ClockInfo.1", "Temperature",
                                                     "CurrentClocksEventReasons", "PowerManagementLimit", "RemappedRows", "Fabric"))

    def row(self, found, name):
        return next(row for row in found["checks"] if row["name"] == name)

    def test_lost_gpus_make_it_unfit(self):
        for which in ("*", "1"):
            found = self.with_gpus(nvml=self.LOST.format(which), codes=(4,))
            row = self.row(found, "GPUs")
            self.assertEqual(row["status"], "FAIL")
            self.assertIn("1: does not answer (GPU is lost)", row["text"])
            self.assertIn("reset the GPU", row["fix"])
            self.assertEqual(found["fit_for"], [])

    def test_a_plug_in_for_cuda_that_does_not_load_makes_it_unfit(self):
        plugins = self.folder / "lib/paceline/plugins"
        self.write(plugins / "cuda.so", "not an object")
        self.write(plugins / "cuda.json", json.dumps({"name": "cuda", "file": "cuda.so", "device": "cuda", "built_for": {}, "not_built_because": "", "fix": "",
                                                      "capabilities": ["engine eager", "trainer cuda", "backend nccl"]}))
        found = self.with_gpus(codes=(4,))
        row = self.row(found, "plug-in cuda")
        self.assertEqual((row["status"], found["fit_for"]), ("FAIL", []))
        self.assertIn("cannot load plug-in", row["text"])
        self.assertTrue(row["fix"])
        out, _ = self.validate("--json")  # no GPU: nobody misses it
        self.assertEqual(self.row(json.loads(out), "plug-in cuda")["status"], "SKIP")

    def test_each_ailment_has_its_row(self):
        found = self.with_gpus(nvml="0 Temperature 86\n1 CurrentClocksEventReasons 0x88\n1 RemappedRows 9\n1 RemappedRows.failed 1\n* Fabric 1\n", codes=(4,))
        rows = {name: self.row(found, "GPU " + name) for name in ("temperature", "slowdown", "memory", "fabric", "errors")}
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         {"temperature": "WARN", "slowdown": "WARN", "memory": "FAIL", "fabric": "FAIL", "errors": "SKIP"})
        self.assertTrue(all(row["fix"] for row in rows.values()))

    def test_numbers_that_stand_for_none_are_not_shown(self):
        found = self.with_gpus(nvml="* PowerManagementLimit 4294967295\n* MaxClockInfo 4294967295\n* MemoryInfo.total 18446744073709551615\n")
        text = json.dumps(found["checks"])
        for word in ("4294967", "4295", "18 EB", "18.4"):
            self.assertNotIn(word, text)


class Profilers(ValidateTest):
    def ask(self, *arguments, nsys, ncu, **options):
        """With these shell lines as nsys and ncu."""
        for program, lines in (("nsys", nsys), ("ncu", ncu)):
            self.write(f"tools/{program}", "#!/bin/sh\n" + lines).chmod(0o755)
        out, _ = self.validate("--json", *arguments, env={"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}, **options)
        found = json.loads(out)
        return next(row for row in found["checks"] if row["name"] == "Nsight"), found

    SYSTEMS = "echo 'NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0'"
    COMPUTE = "echo 'NVIDIA (R) Nsight Compute Command Line Profiler'; echo 'Version 2025.2.1.0 (build 35987062) (public-release)'"

    def test_versions_are_read_and_compared(self):
        row, _ = self.ask("--save", "base.json", nsys=self.SYSTEMS, ncu=self.COMPUTE)
        self.assertEqual((row["status"], row["text"]), ("PASS", "Nsight Systems 2025.3.1.90, Nsight Compute 2025.2.1.0"))
        _, found = self.ask("--expect", "base.json", nsys=self.SYSTEMS.replace("2025.3", "2024.6"), ncu=self.COMPUTE)
        self.assertEqual([(one["name"], one["status"], one["found"]) for one in found["differences"]], [("Nsight Systems", "WARN", "2024.6.1.90")])

    def test_a_program_that_gives_no_version_warns(self):
        row, _ = self.ask(nsys="exit 3", ncu=self.COMPUTE)
        self.assertEqual((row["status"], row["text"]), ("WARN", "nsys --version: exit code 3"))
        self.assertTrue(row["fix"])


class Load(GpuTest):
    """GPUs of the double of NVML, loaded by the spin plug-in's probe, which can be slowed down. 1 ms: two rounds, the fewest."""

    CAPABILITIES = ["engine spin", "trainer cpu", "probe cuda cuda"]

    def load(self, *arguments, **options):
        """The rows of the load test by device, and the whole answer."""
        found = self.with_gpus("--load", "1ms", *arguments, **{"SPIN_CUDA": "1", "SPIN_PEAKS": PEAKS, **options})
        return {row["name"].removeprefix("load "): row for row in found["checks"] if row["name"].startswith("load ")}, found

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_a_healthy_looking_gpu_with_a_third_of_its_speed_fails(self):
        rows, found = self.load(SPIN_PEAKS_SLOW="cuda:1=3", codes=(4,))
        self.assertEqual((rows["cuda:0"]["status"], rows["cuda:1"]["status"]), ("PASS", "FAIL"))
        self.assertRegex(rows["cuda:1"]["text"], r"product bf16 233 TFLOP/s \(233–233\), too slow in both measurements: its peers reach 700 TFLOP/s")
        self.assertIn("leave it out of runs", rows["cuda:1"]["fix"])
        self.assertEqual(found["fit_for"], [])
        figures = {(one["where"], one["what"]): one for one in found["machine"]["load"]}
        self.assertAlmostEqual(figures["cuda:0", "copy within_device"]["median"], 4.2e12, delta=1e9)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_what_was_slow_once_only_is_no_verdict(self):
        rows, found = self.load(SPIN_PEAKS_SLOW="cuda:1=3", SPIN_PEAKS_ONCE=str(self.folder / "count"))
        self.assertEqual((rows["cuda:0"]["status"], rows["cuda:1"]["status"]), ("PASS", "WARN"))
        self.assertIn("slow in the first of two measurements only", rows["cuda:1"]["text"])
        slowest = min(one["median"] for one in found["machine"]["load"] if one["what"] == "product bf16")
        self.assertAlmostEqual(slowest, 700e12, delta=1e11)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_all_devices_may_be_slower_than_what_was_saved(self):
        rows, _ = self.load("--save", "base.json")
        self.assertEqual({row["status"] for name, row in rows.items() if name.startswith("cuda")}, {"PASS"})
        rows, found = self.load("--expect", "base.json", SPIN_PEAKS="product:fp32:52e12,product:bf16:200e12,copy:within_device:4.2e12", codes=(4,))
        self.assertEqual({row["status"] for name, row in rows.items() if name.startswith("cuda")}, {"FAIL"})
        self.assertIn("700 TFLOP/s (700–700) were saved", rows["cuda:0"]["text"])
        self.assertEqual([one["name"] for one in found["differences"] if one["name"].startswith("cuda")], ["cuda:0: product bf16", "cuda:1: product bf16"])

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_a_gpu_that_is_lost_fails(self):
        rows, _ = self.load(SPIN_PEAKS="lost", codes=(4,))
        self.assertEqual(rows["cuda:0"]["status"], "FAIL")
        self.assertIn("could not be measured: cuda:0 is lost", rows["cuda:0"]["text"])

    def test_core_sets_are_measured_without_a_gpu(self):
        out, _ = self.validate("--load", "300ms", "--json")
        found = json.loads(out)
        figures = [one for one in found["machine"]["load"] if one["what"] == "copy"]
        self.assertEqual(len(figures), len({one["where"] for one in figures}))
        self.assertTrue(all(one["low"] <= one["median"] <= one["high"] and one["n"] >= 2 for one in figures), figures)
        self.assertNotIn("FAIL", [row["status"] for row in found["checks"]])
        _, err = self.validate("--load", "20x", codes=(2,))
        self.assertIn("--load 20x: write a time up to a day like 30s", err)


class RoundTrip(ValidateTest):
    CAPABILITIES = ["engine spin", "backend gloo", "communicator gloo"]

    def row(self, codes=(0,), **env):
        out, _ = self.validate("--load", "1ms", "--json", codes=codes, env=env)
        return next(row for row in json.loads(out)["checks"] if row["name"] == "round trip")

    def test_two_ranks_meet(self):
        row = self.row()
        self.assertEqual(row["status"], "PASS", row)
        self.assertRegex(row["text"], r"^2 ranks met over gloo; all_reduce of 4 bytes takes [0-9.]+ [mµ]?s$")

    def test_ranks_that_do_not_meet_fail_with_the_reason(self):
        row = self.row(codes=(4,), PACELINE_TEST_COMM="kill:1:1")
        self.assertEqual(row["status"], "FAIL", row)
        self.assertIn("rank 1", row["text"])
        row = self.row(codes=(4,), PACELINE_TEST_COMM="wrong:1")
        self.assertEqual((row["status"], row["text"]), ("FAIL", "the ranks met, but received wrong numbers"))

    def test_it_needs_a_plug_in(self):
        self.write(self.folder / "lib/paceline/plugins/spin.json", json.dumps({"name": "spin", "file": "spin.so", "built_for": {}, "not_built_because": "",
                                                                               "fix": "", "capabilities": ["engine spin"]}))
        self.assertEqual(self.row()["status"], "SKIP")


if __name__ == "__main__":
    cli.main()
