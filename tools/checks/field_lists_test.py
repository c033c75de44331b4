#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of field lists against a small made-up tree."""
import unittest

import field_lists
import made_up_tree

STRUCT = """namespace paceline::result {
struct Noise {
  struct Mode {
    double inner = 0;
  };
  std::map<std::string, std::vector<int>> counts{};  // by name
  double a = 0, b = 1;
  Number ratio = Number::missing("none");
  Estimate range{Number::missing("none"), {}, {}, 0.95, ""};
  std::string folder;  // not stored
  [[nodiscard]] bool quiet() const { return a < b; }
  friend bool operator==(const Noise&, const Noise&) = default;
};
}  // namespace paceline::result
"""
LIST = """namespace paceline::result {
template <class A>
void fields(A& a, Noise& t) {
  a("counts", t.counts), a("a", t.a), a("b", t.b);
  a("ratio", t.ratio), a("range", t.range);
}
}  // namespace paceline::result
"""


class FieldListsTest(made_up_tree.TreeTest):
    clean = {"src/result/noise.h": STRUCT, "src/result/fields.h": LIST,
             "src/stats/noise.h": "namespace paceline::stats {\nstruct Noise {\n  double other = 0;\n};\n}\n"}
    check = staticmethod(field_lists.findings)

    def test_a_member_that_is_forgotten(self):
        self.expect("Noise has b, which", "src/result/fields.h", LIST.replace(', a("b", t.b)', ""))

    def test_a_new_member(self):
        self.expect("Noise has added, which", "src/result/noise.h", STRUCT.replace("  double a", "  std::optional<std::int64_t> added;\n  double a"))

    def test_a_new_member_of_a_struct_with_a_base(self):
        based = STRUCT.replace("struct Noise {", "struct Noise : Sound {")
        self.expect("Noise has added, which", "src/result/noise.h", based.replace("  double a", "  int added = 0;\n  double a"))

    def test_a_member_with_a_default_in_braces(self):
        self.expect("Noise has range, which", "src/result/fields.h", LIST.replace(', a("range", t.range)', ""))

    def test_a_list_of_names(self):
        names = "namespace paceline::result {\nPACELINE_FIELDS(Noise, counts, a,\n                %sratio, range);\n}  // namespace paceline::result\n"
        self.expect("Noise has b, which", "src/result/fields.h", names % "")
        self.assertEqual(self.found("src/result/fields.h", names % "b, "), [])


if __name__ == "__main__":
    unittest.main()
