// SPDX-License-Identifier: MIT
#include "host/system_files.h"

#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

TEST(SystemFiles, AbsentFilesAreEmptyAnswers) {
  const FakeTree tree;
  EXPECT_FALSE(tree.files().read("proc/stat"));
  EXPECT_FALSE(tree.files().read_int("proc/stat"));
  EXPECT_FALSE(tree.files().link_target("proc/self/ns/time"));
  EXPECT_TRUE(tree.files().list("proc/self/task").empty());
  EXPECT_FALSE(tree.files().write("proc/self/clear_refs", "5"));
}

TEST(SystemFiles, FoldersAreNoFiles) {
  FakeTree tree;
  tree.folder("proc/stat");
  EXPECT_FALSE(tree.files().read("proc/stat"));
}

TEST(SystemFiles, ReadsTextNumbersNamesAndLinks) {
  FakeTree tree;
  tree.file("a/number", " -42\n").file("a/text", "\tperformance \n").link("a/link", "time:[4026531834]");
  EXPECT_EQ(tree.files().read("a/number"), " -42\n");
  EXPECT_EQ(tree.files().read_int("a/number"), -42);
  EXPECT_FALSE(tree.files().read_int("a/text"));
  EXPECT_EQ(tree.files().read_trimmed("a/text"), "performance");
  EXPECT_EQ(tree.files().list("a"), (std::vector<std::string>{"link", "number", "text"}));
  EXPECT_EQ(tree.files().link_target("a/link"), "time:[4026531834]");
}

TEST(SystemFiles, ReadsMoreThanOnePiece) {
  FakeTree tree;
  const std::string text(100'000, 'x');
  tree.file("large", text);
  EXPECT_EQ(tree.files().read("large"), text);
}

TEST(FindField, TakesWholeKeysAtLineStartsOnly) {
  const std::string text = "oom_kill_disable 0\nunder_oom 1\noom_kill 7\nMemTotal:   24684084 kB\nempty\n";
  EXPECT_EQ(find_int_field(text, "oom_kill"), 7);
  EXPECT_EQ(find_int_field(text, "oom"), std::nullopt);
  EXPECT_EQ(find_int_field(text, "oom_kill_disable"), 0);
  EXPECT_EQ(find_int_field(text, "MemTotal"), 24684084);
  EXPECT_EQ(find_field(text, "MemTotal"), "24684084 kB");
  EXPECT_EQ(find_field(text, "empty"), std::nullopt);
  EXPECT_EQ(find_int_field("MemTotal: many kB\n", "MemTotal"), std::nullopt);
}

TEST(CpuList, ParsesRangesAndRefusesRubbish) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector<int>{5});
  for (const char* bad : {"", "\n", "0-", "-1", "3-1", "a", "0,,1", "0-99999999999", "0-1-2"}) {
    EXPECT_TRUE(parse_cpu_list(bad).empty()) << bad;
  }
}

TEST(CpuList, FormatsAsTheKernelDoes) {
  EXPECT_EQ(format_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(format_cpu_list({}), "");
}

TEST(BracketedChoice, FindsTheChosenWord) {
  EXPECT_EQ(bracketed_choice("always [madvise] never\n"), "madvise");
  EXPECT_EQ(bracketed_choice("always madvise"), std::nullopt);
  EXPECT_EQ(bracketed_choice("]x["), std::nullopt);
}

TEST(WordsOf, SplitsAtAnyBlanks) {
  EXPECT_EQ(words_of("  a\tb \n c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(words_of(" \n").empty());
}

}  // namespace
}  // namespace paceline::host
