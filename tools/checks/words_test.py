#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of comparisons with names, and of turns, against a small made-up tree."""
import unittest
import unittest.mock

import made_up_tree
import words

CASES = "src/analysis/cases.cc"


class WordsTest(made_up_tree.TreeTest):
    clean = {
        "src/base/scenario.h": '{.scenario = Scenario::kServer, .name = "server"},  // "schedule"\n',
        "src/base/workload_kind.h": '{WorkloadKind::kTraining, "training", "train"}\n',
        "src/base/device.h": '#include "base/tensor.h"\nreturn kind == kCpu ? "cpu" : "cuda";\n',
        "src/result/stored/rank_evidence.h": 'inline constexpr const char* kThrottled = "throttled";\n',
        "src/result/stored/training.h": 'inline constexpr const char* kWaiting = "straggler_wait";\n',
        "src/plugin/registry.cc": 'if (word == "cuda") return;\n',  # reads manifests
        CASES: 'if (axis == "schedule" || command == "train" || axis == "base") return "server";  // not == "throttled"\n',
    }
    check = staticmethod(words.findings)

    def test_a_scenario_that_is_asked_its_name(self):
        self.expect('cases.cc:2: compares text with "server"; ask traits_of(Scenario)', CASES,
                    '\nif (one.scenario == "server") return;\n')

    def test_the_name_first_and_in_the_next_line(self):
        self.expect('compares text with "throttled"', CASES, 'return "throttled" != cause.name;\n')
        self.expect('compares text with "throttled"', CASES, "return cause.name ==\n       \"throttled\";\n")

    def test_a_device_with_its_number(self):
        self.expect('compares text with "cuda:1"; ask parse_device', CASES, 'if (device == "cuda:1") return;\n')

    def test_a_search_for_a_name(self):
        self.expect('compares text with "throttled"', CASES, 'std::ranges::count(causes, "throttled", &LateCause::name);\n')
        self.expect('compares text with "cuda"', CASES, 'if (device.starts_with("cuda")) return;\n')

    def test_a_header_that_is_gone(self):
        without = {name: text for name, text in self.clean.items() if name != "src/base/device.h"}
        with unittest.mock.patch.object(self, "clean", without):
            self.assertEqual(self.found(), ["src/base/device.h is gone; name in HEADERS where its names are now"])

    def test_turns_in_code_scripts_and_pages(self):
        for turn, instead in (("Stops after so long.", "so long"), ("at least so many", "so many"), ("written anew", "anew"),
                              ("the gravest first", "gravest"), ("mend the plan", "mend"), ("it holds no model", "holds no"),
                              ("Threads a rank", "Threads a rank"), ("requests a second", "requests a second"),
                              ("one file a class", "file a class")):
            for path in ("src/base/text.h", "plugins/cuda/a.cu", "scripts/a.sh", "docs/a.md", "README.md"):
                self.expect(f'{path}:2: "{instead}"; write ', path, f"\n// {turn}\n")

    def test_words_that_are_no_turns(self):
        for words_of in ("as long as it runs", "so that many see it", "which of the steps a rank is late in", "amend", "for a second"):
            self.assertEqual(self.found("docs/a.md", words_of + "\n"), [])

    def test_data_of_tests_keep_their_words(self):
        self.assertEqual(self.found("tests/data/a.md", "written anew\n"), [])


if __name__ == "__main__":
    unittest.main()
