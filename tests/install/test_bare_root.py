# SPDX-License-Identifier: MIT
"""A bundle on other distributions: in bare roots with python3 and nothing else, without a network, with the PyTorch of .deps/.

Needs root, debootstrap, and a mirror of each release the first time; the roots stay in PACELINE_ROOTS.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import time
import unittest
from pathlib import Path

import bundle_lab as lab

ROOTS = Path(os.environ.get("PACELINE_ROOTS", "build/bare_roots")).resolve()
RELEASES = ("trixie", "jammy")  # Debian 13; Ubuntu 22.04 with glibc 2.35, the oldest that a bundle is for
EMPTY = "/mnt"  # in place of PyTorch
IN_ROOT = "env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/opt/site"


def make_root(release):
    """The folder of a release's root; a reason instead where it cannot be had."""
    root = ROOTS / release
    if (root / ".complete").exists():
        return root, None
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    made = subprocess.run(["debootstrap", "--variant=minbase", "--include=python3", release, str(root)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return None, f"{release}: {(made.stdout + made.stderr).strip().splitlines()[-1]}"
    (root / ".complete").touch()
    return root, None


def run_in(root, site, script):
    """In namespaces of its own: what is mounted goes with the process, and no network is there but the loopback."""
    for name in ("opt/site", "root"):
        (root / name).mkdir(parents=True, exist_ok=True)
    mounts = f"mount --bind {site} {root}/opt/site && mount -o remount,ro,bind {root}/opt/site && mount -t proc proc {root}/proc && " \
             f"mount --rbind /dev {root}/dev && mount --rbind /sys {root}/sys && mount -t tmpfs tmpfs {root}/dev/shm"
    command = f"ip link set lo up; {mounts} && exec chroot {root} {IN_ROOT} sh -ec {shlex.quote(script)}"
    return subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "--propagation", "private", "sh", "-c", command], capture_output=True,
                          text=True, check=False, timeout=600)


class BareRoot(unittest.TestCase):
    def assert_ok(self, result, what):
        self.assertEqual(result.returncode, 0, f"{what}\n{result.stdout}\n---\n{result.stderr}")

    def cases_in(self, root, folder):
        summary, = (root / "root" / folder).glob("results/*/*/run_summary.json")
        return json.loads(summary.read_text())["cases"]

    def try_out(self, root, archive, facts, site):
        shutil.rmtree(root / "root", ignore_errors=True)
        (root / "root").mkdir()
        shutil.copy(archive, root / "root/bundle.tar.xz")
        self.assertEqual(run_in(root, site, "command -v cc || command -v xz || true").stdout, "", "the root is not bare")
        start = time.monotonic()
        self.assert_ok(run_in(root, site, "cd /root && python3 -m tarfile -e bundle.tar.xz . && ls -d paceline-*"), "unpack")
        unpacked = time.monotonic()
        folder, = (root / "root").glob("paceline-*")
        home = f"/root/{folder.name}"
        self.assert_ok(run_in(root, site, f"mkdir /root/infer; cd /root/infer; {home}/paceline {shlex.join(lab.INFER)}"), "infer")
        done = time.monotonic()
        self.assertEqual([c["outcome"] for c in self.cases_in(root, "infer")], ["ok", "ok"])
        self.assert_ok(run_in(root, site, f"mkdir /root/train; cd /root/train; {home}/paceline {shlex.join(lab.TRAIN)}"), "two ranks")
        self.assertEqual([c["outcome"] for c in self.cases_in(root, "train")], ["ok"])
        report = run_in(root, EMPTY, f"cd /root/infer; {home}/paceline report --source results/*/* --output /root/report.html")
        self.assert_ok(report, "report without PyTorch")
        self.assertGreater((root / "root/report.html").stat().st_size, 100_000)
        release = re.search(r'PRETTY_NAME="(.*)"', (root / "etc/os-release").read_text()).group(1)
        print(f"PyTorch {facts['torch'][0]} on {release}: unpacked in {unpacked - start:.1f} s, first result after {done - start:.1f} s", flush=True)

    def test_inference_two_ranks_and_a_report(self):
        for release, root in ROOTS_MADE.items():
            for archive, facts, site in lab.bundles():
                with self.subTest(release=release, torch=facts["torch"][0]):
                    self.try_out(root, archive, facts, site)


ROOTS_MADE = {}


def make_roots():
    """Those that can be had; ends the test where none can."""
    reasons = []
    for release in RELEASES:
        root, reason = make_root(release)
        if root:
            ROOTS_MADE[release] = root
        else:
            reasons.append(reason)
            print(f"without {reason}")
    if not ROOTS_MADE:
        lab.skip("; ".join(reasons))


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        lab.skip("this test makes bare roots, which needs root and debootstrap")
    lab.bundles()
    make_roots()
    unittest.main()
