#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of comparisons with names against a small made-up tree."""
import unittest

import made_up_tree
import words

CASES = "src/analysis/cases.cc"


class WordsTest(made_up_tree.TreeTest):
    clean = {
        "src/base/scenario.h": '{.scenario = Scenario::kServer, .name = "server"},  // "schedule"\n',
        "src/base/workload_kind.h": '{WorkloadKind::kTraining, "training", "train"}\n',
        "src/base/device.h": '#include "base/tensor.h"\nreturn kind == kCpu ? "cpu" : "cuda";\n',
        "src/result/verdicts.h": 'inline constexpr std::string_view kMet = "met";\n',
        "src/plugin/registry.cc": 'if (word == "cuda") return;\n',  # reads manifests
        CASES: 'if (axis == "schedule" || command == "train" || axis == "base") return "server";  // not == "met"\n',
    }
    check = staticmethod(words.findings)

    def test_a_scenario_that_is_asked_its_name(self):
        self.expect('cases.cc:2: compares text with "server"; ask traits_of(Scenario)', CASES,
                    '\nif (one.scenario == "server") return;\n')

    def test_the_name_first_and_in_the_next_line(self):
        self.expect('compares text with "met"', CASES, 'return "met" != gate.verdict;\n')
        self.expect('compares text with "met"', CASES, "return gate.verdict ==\n       \"met\";\n")

    def test_a_device_with_its_number(self):
        self.expect('compares text with "cuda:1"; ask parse_device', CASES, 'if (device == "cuda:1") return;\n')

    def test_a_search_for_a_name(self):
        self.expect('compares text with "met"', CASES, 'std::ranges::count(run.gates, "met", &GateResult::verdict);\n')
        self.expect('compares text with "cuda"', CASES, 'if (device.starts_with("cuda")) return;\n')


if __name__ == "__main__":
    unittest.main()
