// SPDX-License-Identifier: MIT
#include "config/yaml_tree.h"

#include <gtest/gtest.h>

namespace paceline::config {
namespace {

std::string problem_of(const std::string& text) {
  try {
    parse_yaml(text, "p.yaml");
  } catch (const ConfigErrors& errors) {
    EXPECT_EQ(errors.diagnostics().size(), 1U);
    return errors.diagnostics().front().text();
  }
  return "";
}

TEST(YamlTree, KeepsPlacesFromOne) {
  const auto root = parse_yaml("a: 1\nb:\n  - x\n  - 'y'\n", "p.yaml");
  ASSERT_EQ(root.kind, YamlNode::Kind::kMap);
  ASSERT_EQ(root.keys.size(), 2U);
  EXPECT_EQ(root.items[0].text, "1");
  EXPECT_EQ(root.items[0].place.line, 1);
  EXPECT_EQ(root.items[0].place.col, 4);
  const YamlNode& second = root.items[1].items[1];
  EXPECT_EQ(second.text, "y");
  EXPECT_TRUE(second.quoted);
  EXPECT_FALSE(root.items[1].items[0].quoted);
  EXPECT_EQ(second.place.line, 4);
  EXPECT_EQ(second.place.col, 5);
}

TEST(YamlTree, KeepsNumbersAsWrittenAndDuplicateKeys) {
  const auto root = parse_yaml("a: 010\na: 8\n", "p.yaml");
  EXPECT_EQ(root.items[0].text, "010");
  EXPECT_EQ(root.keys.size(), 2U);
}

TEST(YamlTree, AnAliasStandsAtItsOwnPlace) {
  const auto root = parse_yaml("a: &x [1, 2]\nbb: *x\n", "p.yaml");
  EXPECT_EQ(root.items[1].items.size(), 2U);
  EXPECT_EQ(root.items[1].place.line, 2);
  EXPECT_EQ(root.items[1].place.col, 5);
}

TEST(YamlTree, NamesEveryKindOfBrokenFile) {
  EXPECT_EQ(problem_of(""), "p.yaml:1:1: the plan is empty; see examples/plans for some to start from");
  EXPECT_EQ(problem_of("# only a comment\n"),
            "p.yaml:1:1: the plan is empty; see examples/plans for some to start from");
  EXPECT_EQ(problem_of("a: &x [*x]\n"), "p.yaml:1:8: this alias is inside its own anchor");
  EXPECT_EQ(problem_of("a: 1\n---\nb: 2\n"),
            "p.yaml:2:1: a second document starts here; a plan is one document");
  EXPECT_EQ(problem_of("a: [1, 2\nb: 3\n").rfind("p.yaml:2:", 0), 0U) << problem_of("a: [1, 2\nb: 3\n");
  EXPECT_NE(problem_of("a: [1, 2\nb: 3\n").find("YAML syntax"), std::string::npos);
  EXPECT_NE(problem_of("a: b: c\n").find("p.yaml:1:5: YAML syntax"), std::string::npos)
      << problem_of("a: b: c\n");
  EXPECT_NE(problem_of("a: *nowhere\n").find("YAML syntax"), std::string::npos);
}

TEST(YamlTree, BoundsDepthSizeAndAliases) {
  EXPECT_NE(
      problem_of("a: " + std::string(100, '[') + std::string(100, ']')).find("nested deeper than 32 levels"),
      std::string::npos);
  EXPECT_FALSE(problem_of(std::string(200'000, '[')).empty());
  EXPECT_NE(problem_of(std::string((1 << 22) + 1, ' ')).find("is larger than"), std::string::npos);
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    const auto before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_NE(problem_of(bomb).find("anchors and aliases repeat more than 20000 values"), std::string::npos);
}

}  // namespace
}  // namespace paceline::config
