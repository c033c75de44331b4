#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Layering check against small made-up trees: each kind of violation is found, a clean tree passes."""
import unittest

import layering
import made_up_tree

CLEAN = {
    "CMakeLists.txt": "foreach(layer base stats report cli)\n  add_subdirectory(src/${layer})\nendforeach()\n",
    "src/base/CMakeLists.txt": "paceline_add_layer(base SOURCES text.cc)\n",
    "src/base/text.h": "#include <string>\n",
    "src/stats/CMakeLists.txt": "paceline_add_layer(stats\n  SOURCES a.cc  # why\n  DEPENDS base)\n",
    "src/stats/a.cc": '#include "base/text.h"\n',
    "src/report/CMakeLists.txt": "paceline_add_layer(report SOURCES r.cc DEPENDS stats)\n",
    "src/report/r.cc": '#include "base/text.h"\n',
    "src/cli/CMakeLists.txt": "paceline_add_layer(cli SOURCES c.cc DEPENDS report)\n",
    "plugins/torch/CMakeLists.txt": "target_link_libraries(x PRIVATE paceline::plugin)\n",
    "plugins/torch/engine.cc": '#include <torch/torch.h>\n#include "base/text.h"\n',
}


class LayeringTest(made_up_tree.TreeTest):
    clean = CLEAN
    check = staticmethod(layering.violations)

    def test_include_upwards(self):
        self.expect("src/base/b.cc:2: base includes stats/a.cc", "src/base/b.cc", '\n#include "stats/a.cc"\n')

    def test_depends_upwards(self):
        self.expect("DEPENDS cli", "src/base/CMakeLists.txt", "paceline_add_layer(base SOURCES a.cc DEPENDS cli)")

    def test_link_past_depends(self):
        self.expect("links paceline::report", "src/stats/CMakeLists.txt",
                    "paceline_add_layer(stats DEPENDS base LIBRARIES paceline::report)")

    def test_path_that_is_not_from_the_include_root(self):
        self.expect("not a path below src/", "src/stats/b.cc", '#include "missing.h"\n')

    def test_vendor_header_in_the_core(self):
        self.expect("only plugins/attach, plugins/cuda, plugins/torch", "src/report/r.cc", "#include <ATen/ATen.h>\n")

    def test_vendor_header_of_another_plugin(self):
        self.expect("includes nvml.h", "plugins/torch/n.cc", "#include <nvml.h>\n")

    def test_plugin_includes_a_layer_above_plugin(self):
        self.expect("includes stats/a.cc", "plugins/torch/s.cc", '#include "stats/a.cc"\n')

    def test_plugin_links_a_layer_above_plugin(self):
        self.expect("links paceline::stats", "plugins/torch/CMakeLists.txt", "link(x paceline::stats)")

    def test_kind_compared_by_name(self):
        self.expect("src/report/r.cc:1", "src/report/r.cc", "if (b.kind != config::WorkloadKind::kTraining) return;\n")
        self.expect("ask traits_of(kind)", "src/report/r.cc", "switch (k) { case WorkloadKind::kInference: f(); }\n")

    def test_include_of_the_worker(self):
        self.clean = dict(CLEAN, **{
            "CMakeLists.txt": CLEAN["CMakeLists.txt"].replace("stats report", "stats workload run report"),
            "src/workload/CMakeLists.txt": "paceline_add_layer(workload SOURCES worker_main.cc)\n",
            "src/workload/worker_main.h": "",
            "src/workload/worker_main.cc": '#include "workload/worker_main.h"\n',
            "src/run/CMakeLists.txt": "paceline_add_layer(run SOURCES executors.cc DEPENDS workload)\n",
            "src/run/executors.cc": '#include "workload/worker_main.h"\n',
            "src/cli/CMakeLists.txt": "paceline_add_layer(cli SOURCES c.cc DEPENDS run report)\n",
        })
        self.expect("src/run/a/b.h:1: includes workload/worker_main.h", "src/run/a/b.h", '#include "workload/worker_main.h"\n')
        self.expect("src/cli/c.cc:1: includes workload/worker_main.h", "src/cli/c.cc", '#include "workload/worker_main.h"\n')

    def test_ring_of_rooms(self):
        graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()}
        self.assertEqual(layering.rings(graph), [["a", "b", "c"]])

    def test_header_and_source_are_one_room(self):
        self.clean = dict(CLEAN, **{"src/base/a.h": "", "src/base/a.cc": '#include "base/text.h"\n'})
        self.expect("src/base/a, src/base/text: these include each other", "src/base/text.cc", '#include "base/a.h"\n')

    def test_a_folder_inside_a_layer_is_one_room(self):
        self.clean = dict(CLEAN, **{"src/base/kind/a.h": "", "src/base/kind/b.cc": '#include "base/text.h"\n'})
        self.expect("src/base/kind, src/base/text: these include each other", "src/base/text.cc", '#include "base/kind/a.h"\n')

    def test_a_folder_inside_a_room_is_one_room(self):
        self.clean = dict(CLEAN, **{"src/base/kind/data/a.h": "", "src/base/kind/data/b.cc": '#include "base/kind/c.h"\n'})
        self.expect("src/base/kind/c, src/base/kind/data: these", "src/base/kind/c.h", '#include "base/kind/data/a.h"\n')

    def test_binary_without_vendor_libraries(self):
        self.assertEqual(list(layering.binary_violations("/bin/sh")), [])


if __name__ == "__main__":
    unittest.main()
