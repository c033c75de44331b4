# SPDX-License-Identifier: MIT
"""A bundle on other distributions: in bare roots with python3 and nothing else, without a network, with the PyTorch of .deps/."""

import json
import shlex
import shutil
import time
import unittest

import bundle_lab as lab
from bare_root_lab import empty_home, make_roots, name_of, run_in

RELEASES = ("trixie", "jammy")  # Debian 13; Ubuntu 22.04 with glibc 2.35, the oldest that a bundle is for
EMPTY = "/mnt"  # in place of PyTorch


class BareRoot(unittest.TestCase):
    def assert_ok(self, result, what):
        self.assertEqual(result.returncode, 0, f"{what}\n{result.stdout}\n---\n{result.stderr}")

    def cases_in(self, root, folder):
        summary, = (root / "root" / folder).glob("results/*/*/run_summary.json")
        return json.loads(summary.read_text())["cases"]

    def try_out(self, root, archive, facts, site):
        empty_home(root)
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
        print(f"PyTorch {facts['torch'][0]} on {name_of(root)}: unpacked in {unpacked - start:.1f} s, first result after {done - start:.1f} s", flush=True)

    def test_inference_two_ranks_and_a_report(self):
        for release, root in ROOTS_MADE.items():
            for archive, facts, site in lab.bundles():
                with self.subTest(release=release, torch=facts["torch"][0]):
                    self.try_out(root, archive, facts, site)


if __name__ == "__main__":
    lab.bundles()
    ROOTS_MADE = make_roots(RELEASES, "python3")
    unittest.main()
