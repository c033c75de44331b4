# SPDX-License-Identifier: MIT
"""The .deb that was built (`make deb`): what is in it, and, in bare roots without a network, that it installs, runs and goes."""

import json
import subprocess
import unittest

import bare_root_lab
import bundle_lab as lab

DEB = lab.wheel("paceline_*_amd64.deb")
RELEASES = ("bookworm", "trixie", "noble")   # Debian 12 and 13, Ubuntu 24.04


def field(name):
    return subprocess.run(["dpkg-deb", "-f", DEB, name], capture_output=True, text=True, check=True).stdout.strip()


class Debian(unittest.TestCase):
    def test_it_needs_no_library_but_the_compilers(self):
        self.assertEqual(field("Depends"), "libc6 (>= 2.35), libstdc++6 (>= 12), libgcc-s1")
        self.assertEqual(DEB.name, f"paceline_{field('Version')}_{field('Architecture')}.deb")

    def test_bare_roots(self):
        model = lab.DEPS / "python/onnxruntime/datasets/mul_1.onnx"
        if not model.is_file():
            self.skipTest(f"no onnxruntime in {lab.DEPS}/python; scripts/setup.sh --checks unpacks it")
        for release, root in bare_root_lab.make_roots(RELEASES, "python3", "python3-venv").items():
            with self.subTest(release):
                bare_root_lab.empty_home(root)
                (root / "root/paceline.deb").write_bytes(DEB.read_bytes())
                result = bare_root_lab.run_in(root, lab.DEPS / "python", "cd /root && dpkg -i paceline.deb > dpkg.log && paceline --version && "
                    "paceline infer --model /opt/site/onnxruntime/datasets/mul_1.onnx --iterations 20 --idle-wait-s 0 --no-measure-peak --allow-noisy && "
                    "ls /usr/share/man/man1/paceline.1 /usr/share/paceline/examples/plans && dpkg -r paceline && ! test -e /usr/bin/paceline")
                self.assertEqual(result.returncode, 0, f"{result.stdout}\n---\n{result.stderr}")
                summary, = (root / "root").glob("results/*/*/run_summary.json")
                self.assertEqual([c["outcome"] for c in json.loads(summary.read_text())["cases"]], ["ok"])
                self.assertIn("plug-in onnxruntime: built for ONNX Runtime API", result.stdout)
                print(f"{bare_root_lab.name_of(root)}: installed, ran and removed", flush=True)


if __name__ == "__main__":
    unittest.main()
