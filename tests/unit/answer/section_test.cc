// SPDX-License-Identifier: MIT
#include "answer/section.h"

#include <gtest/gtest.h>

#include "answer/render/html.h"
#include "answer/render/markdown.h"
#include "answer/render/terminal.h"
#include "support/words.h"

namespace paceline::answer {
namespace {

using test::expect_words;

TEST(Tables, HaveThreeForms) {
  Table table{.heads = {"name", "ms"}};
  EXPECT_EQ(terminal_of(table, {}) + markdown_of(table) + html_of(table), "");
  table.add({"a<b|c", "1.5"});
  table.add({"long name", "10"});
  EXPECT_EQ(terminal_of(table, {40}), "  name        ms\n  a<b|c      1.5\n  long name   10\n");
  EXPECT_EQ(terminal_of(table, {14}), "  name\n  a<b|c\n  long name\n");
  EXPECT_EQ(terminal_of(table, {8}), "  name\n  a<b|c\n  long …\n");
  EXPECT_EQ(markdown_of(table).substr(0, 28), "| name | ms |\n|:--|--:|\n| a&");
  expect_words(html_of(table), {"<td>a&lt;b|c</td><td class=\"number\">1.5</td>"});
}

TEST(Tables, MissingFiguresHaveTheirReasonBelow) {
  Table table{.heads = {"name", "ms"}};
  Cell none(kNone);
  none.note = "no p99: *few*";
  table.add({"a", none});
  table.add({"b", none});
  table.rows.push_back({.cells = {"c"}, .instead = "failed"});
  EXPECT_EQ(terminal_of(table, {}, 0), "name  ms\na     –¹\nb     –¹\nc     failed\n¹ no p99: *few*\n");
  EXPECT_EQ(terminal_of(table, {40, true}, 0),
            "name    ms\na     -[1]\nb     -[1]\nc     failed\n[1] no p99: *few*\n");
  expect_words(markdown_of(table), {"| b | – |\n| c | failed |\n\nNo p99: \\*few\\*.\n\n"});
  expect_words(html_of(table), {"<td>c</td><td class=\"outcome\" colspan=\"1\">failed</td>"});
}

TEST(Tables, NotesOfColumnsThatAreLeftOutGoWithThem) {
  Table table{.heads = {"name", "ms", "memory"}};
  Cell none(kNone), unknown(kNone);
  none.note = "no p99", unknown.note = "unknown";
  table.add({"a", unknown, none});
  table.add({"b", "1", unknown});
  table.add({"c", none, "2"});
  EXPECT_EQ(terminal_of(table, {}, 0),
            "name  ms  memory\na     –¹      –²\nb      1      –¹\nc     –²       2\n"
            "¹ unknown\n² no p99\n");
  table.rows.pop_back();
  EXPECT_EQ(terminal_of(table, {10}, 0), "name  ms\na     –¹\nb      1\n¹ unknown\n");
  EXPECT_EQ(terminal_of(table, {5}, 0), "name\na\nb\n");
}

TEST(Tables, ALastColumnThatStaysIsShortenedAndItsRestBecomesANote) {
  Table table{.heads = {"name", "memory", "grade"}, .numbers_to = 2, .last_stays = true};
  Cell grade("B  two reasons");
  grade.brief = "B";
  table.add({"long name", "300 MB", grade});
  EXPECT_EQ(terminal_of(table, {40}, 0), "name       memory  grade\nlong name  300 MB  B  two reasons\n");
  EXPECT_EQ(terminal_of(table, {20}, 0), "name       grade\nlong name  B¹\n¹ two reasons\n");
  EXPECT_EQ(terminal_of(table, {10}, 0), "name\nlong name\n");
}

TEST(Tables, ShowNoControlCharactersOfBriefWords) {
  Table table{.heads = {"name", "outputs"}, .last_stays = true};
  Cell noted("wrong"), rest("wrong \x1b[2J for all");
  noted.brief = rest.brief = "wrong \x1b[2J", noted.note = "why";
  table.add({"a", noted});
  table.add({"b", rest});
  const auto text = terminal_of(table, {24}, 0);
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_NE(text.find("² for all"), std::string::npos) << text;
}

TEST(Sections, StandOnThePageWithTheirTitleWhereTheySaySomething) {
  EXPECT_EQ(html_of(Section{.title = "Nothing"}), "");
  EXPECT_EQ(html_of(Section{.title = "Log", .log = "<x>"}), "<h4>Log</h4>\n<pre>&lt;x&gt;\n</pre>\n");
  EXPECT_EQ(html_of(Section{.paragraphs = {"A & b"}, .metric = "p50_ms"}),
            "<p>A &amp; b. <a class=\"formula\" href=\"#formula-p50_ms\">formula</a></p>\n");
  EXPECT_EQ(html_of(Section{.chart = {"x", "X", "", "p50_ms"}}), "");
  expect_words(html_of(Section{.notes = {"one", "two."}}),
               {"<p class=\"note\">one.</p>\n<p class=\"note\">two.</p>\n"});
}

}  // namespace
}  // namespace paceline::answer
