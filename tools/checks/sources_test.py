#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests sources.py on a small repository."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LICENCE = "// SPDX-License-Identifier: MIT\n"
TREE = {
    "tests/unit/pump/CMakeLists.txt": "add(pump SOURCES pump_test.cc)  # valve_test.cc\n",
    "tests/unit/pump/pump_test.cc": LICENCE,
    "tests/cli/CMakeLists.txt": "paceline_cli_test(pump TIMEOUT 60)\n",
    "tests/cli/test_pump.py": "# SPDX-License-Identifier: MIT\n",
    "src/base/json.h": LICENCE + "#include <nlohmann/json.hpp>\n",
}


def said_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**TREE, **changes}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *command], cwd=root, check=True)
        ran = subprocess.run([sys.executable, HERE / "sources.py", "--root", root], capture_output=True, text=True)
        return ran.returncode, ran.stdout


class Sources(unittest.TestCase):
    def test_a_tree_without_a_fault_passes(self):
        code, said = said_of({})
        self.assertEqual(code, 0, said)

    def test_a_test_that_no_list_names_is_found(self):
        for name in ("tests/unit/pump/valve_test.cc", "tests/unit/new/pump_too_test.cc", "tests/cli/test_valve.py"):
            code, said = said_of({name: "# SPDX-License-Identifier: MIT\n"})
            self.assertEqual(code, 1, name)
            self.assertIn(f"{name}: never runs", said)

    def test_numbers_are_converted_within_limits(self):
        code, said = said_of({"src/base/pump.h": LICENCE + "#include <nlohmann/json.hpp>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/base/pump.h: converts numbers without limits", said)

    def test_what_clang_14_cannot_compile_is_found(self):
        code, said = said_of({"src/base/pump.cc": LICENCE + "auto same = std::ranges::unique(found);\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/base/pump.cc: uses std::ranges::unique, whose subrange clang 14 cannot compile", said)
        code, said = said_of({"src/base/pump.cc": LICENCE + "std::ranges::sort(found); std::ranges::remove_copy(a, b, 1);\n"})
        self.assertEqual(code, 0, said)

    def test_a_program_that_cannot_be_started_is_found(self):
        code, said = said_of({"tools/pump.py": "#!/usr/bin/env python3\n# SPDX-License-Identifier: MIT\n"})
        self.assertEqual(code, 1)
        self.assertIn("tools/pump.py: begins with #!, but is not executable", said)


if __name__ == "__main__":
    unittest.main()
