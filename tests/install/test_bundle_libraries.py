# SPDX-License-Identifier: MIT
"""Completeness of a bundle: libraries that come along, and files that another machine could not load. On small made-up bundles."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bundle" / "libraries.py"


class Libraries(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.bundle = self.folder / "bundle"
        for name in ("bin", "lib"):
            (self.bundle / name).mkdir(parents=True)
        (self.folder / "torch/lib").mkdir(parents=True)
        self.library(self.folder / "torch/lib/libtorch_cpu.so", "int torch_function(void) { return 3; }", "-Wl,--no-as-needed", "-lm")

    def compile(self, target, text, *arguments):
        subprocess.run(["cc", "-x", "c", "-", "-o", str(target), "-x", "none", *arguments], input=text, text=True, check=True)
        return target

    def library(self, target, text, *arguments):
        return self.compile(target, text, "-shared", "-fPIC", f"-Wl,-soname,{target.name}", *arguments)

    def program(self, text, *arguments):
        return self.compile(self.bundle / "bin/program", text, "-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib", "-Wl,--no-as-needed", *arguments)

    def make_whole(self):
        return subprocess.run([sys.executable, str(SCRIPT), str(self.bundle), str(self.folder / "torch/lib")], capture_output=True, text=True, check=False)

    def assert_refused(self, *words):
        result = self.make_whole()
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertRegex(result.stderr, word)

    def test_libraries_of_libraries_come_along_and_those_of_pytorch_do_not(self):
        program = self.program("int zip_libzip_version(void); int torch_function(void); int main(void) { zip_libzip_version(); return torch_function(); }",
                               "-l:libzip.so.4", str(self.folder / "torch/lib/libtorch_cpu.so"))
        result = self.make_whole()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        came = {path.name for path in (self.bundle / "lib").iterdir()}
        self.assertLessEqual({"libzip.so.4", "libz.so.1"}, came)
        self.assertFalse({name for name in came if name.startswith(("libc.", "libm.", "libtorch"))}, came)
        self.assertTrue(any((self.bundle / "licenses").iterdir()))
        moved = self.folder / "moved"
        self.bundle.rename(moved)
        loaded = subprocess.run(["ldd", str(moved / "bin" / program.name)], capture_output=True, text=True, check=True,
                                env={"LD_LIBRARY_PATH": str(self.folder / "torch/lib")}).stdout
        self.assertIn(f"libz.so.1 => {moved}/bin/../lib/libz.so.1", loaded)
        self.assertNotIn("not found", loaded)

    def test_a_symbol_that_is_too_new_is_refused(self):
        self.library(self.folder / "libm.so.6", "int new_function(void) { return 1; }",
                     f"-Wl,--version-script={self.written('map', 'GLIBC_2.38 { global: new_function; };')}")
        self.program("int new_function(void); int main(void) { return new_function(); }", str(self.folder / "libm.so.6"))
        self.assert_refused(r"bin/program needs GLIBC_2\.38, newer than glibc 2\.35")

    def test_a_path_of_this_machine_is_refused(self):
        self.compile(self.bundle / "bin/program", "int main(void) { return 0; }", f"-Wl,-rpath,{self.folder}/torch/lib")
        self.assert_refused("bin/program looks for libraries in /")

    def test_a_library_that_is_nowhere_is_refused(self):
        self.library(self.folder / "libnowhere.so.1", "int f(void) { return 1; }")
        self.program("int f(void); int main(void) { return f(); }", str(self.folder / "libnowhere.so.1"))
        self.assert_refused("no shared library 'libnowhere.so.1' on this machine")

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


if __name__ == "__main__":
    unittest.main()
