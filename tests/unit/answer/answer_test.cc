// SPDX-License-Identifier: MIT
#include "answer/answer.h"

#include <gtest/gtest.h>

#include "answer/render/answer_forms.h"
#include "support/words.h"

namespace paceline::answer {
namespace {

using test::expect_words;

Answer toy() {
  Answer answer{.title = "pump <A>", .sentence = "The pump is too slow."};
  answer.checks = {{.name = "speed",
                    .verdict = Verdict::kNo,
                    .text = "9 of 10 l/s",
                    .fix = "clean the filter",
                    .exit = ExitCode::kEnvironmentInvalid},
                   {.name = "noise level", .verdict = Verdict::kNotAsked, .text = "no microphone"}};
  answer.findings = {{.id = "filter",
                      .severity = "warning",
                      .text = "The filter is full.",
                      .evidence = "it takes 80 % of the pressure",
                      .advice = "Clean it.",
                      .about = {"A"},
                      .cost = "costs 1 l/s"}};
  Table table{.heads = {"hour", "l/s"}};
  table.add("1", "9.5");
  Plot plot{.x = {.title = "hour"}, .y = {.title = "l/s"}};
  plot.lines = {
      {.points = {{.x = 1, .y = 9.5}, {.x = 2, .y = kMissing}}, .mark = Line::Mark::kDot, .name = "A"}};
  answer.sections = {
      {.title = "Course",
       .chart = {.id = "course", .title = {}, .reading = "It falls.", .metric = {}, .plots = {plot}},
       .table = table}};
  answer.remarks = {"hour 0 is missing"};
  answer.data = {{"litres", 9.5}};
  return answer;
}

TEST(AnswerForms, ATerminalHasEverythingInOneColumn) {
  EXPECT_EQ(terminal_of(toy(), {}),
            "Course\n"
            "hour  l/s\n"
            "1     9.5\n"
            "It falls.\n"
            "\n"
            "FAIL  speed        9 of 10 l/s  → clean the filter\n"
            "SKIP  noise level  no microphone\n"
            "\n"
            "findings\n"
            "  1  The filter is full.\n"
            "     costs 1 l/s\n"
            "     evidence: it takes 80 % of the pressure\n"
            "     try: Clean it.\n"
            "\n"
            "! hour 0 is missing\n"
            "\n"
            "The pump is too slow.\n");
}

TEST(AnswerForms, ATerminalGetsNoControlsButThoseOfItsColours) {
  const std::string bad = "x\x1b[2J\xC2\x9B";
  Answer answer{.title = bad, .sentence = bad};
  answer.checks = {{.name = bad, .verdict = Verdict::kNo, .text = bad, .fix = bad}};
  answer.findings = {
      {.id = bad, .severity = "warning", .text = bad + "1", .evidence = bad, .advice = bad, .cost = bad}};
  Table table{.above = bad, .heads = {bad}};
  table.add(bad);
  answer.sections = {{.title = bad, .table = table, .paragraphs = {bad}, .notes = {bad}}};
  answer.remarks = {bad};
  for (const bool colour : {false, true}) {
    const auto text = terminal_of(answer, {.colour = colour});
    EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
    EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos);
    EXPECT_EQ(text.find("\x1b[1m") != std::string::npos, colour);
  }
}

TEST(AnswerForms, MarkdownFoldsMoreThanTenRows) {
  Answer answer = toy();
  for (int hour = 2; hour <= 10; ++hour) answer.sections[0].table.add(std::to_string(hour), "9.4");
  EXPECT_EQ(markdown_of(answer).find("<details>"), std::string::npos);
  answer.sections[0].table.add("11", "9.3");
  for (int i = 0; i < 9; ++i) answer.checks.push_back({.name = "valve " + std::to_string(i)});
  const auto text = markdown_of(answer);
  expect_words(text, {"<details><summary>11 rows</summary>\n\n| hour | l/s |",
                      "<details><summary>11 checks</summary>"});
  EXPECT_LT(text.find("| FAIL | speed |"), text.find("<details>"));
  EXPECT_GT(text.find("| PASS | valve 0 |"), text.find("<summary>11 checks</summary>"));
}

TEST(AnswerForms, MarkdownBeginsWithTheSentence) {
  EXPECT_EQ(markdown_of(toy()),
            "# pump &lt;A&gt;\n\nThe pump is too slow.\n\n"
            "## Checks\n\n| verdict | check | found | what to do |\n|:--|:--|:--|:--|\n"
            "| FAIL | speed | 9 of 10 l/s | clean the filter |\n"
            "| SKIP | noise level | no microphone |  |\n\n\n"
            "## Course\n\n| hour | l/s |\n|:--|--:|\n| 1 | 9.5 |\n\nIt falls.\n\n"
            "## Findings\n\n- **warning**: The filter is full.\n  - costs 1 l/s\n"
            "  - it takes 80 % of the pressure\n  - Clean it.\n\n"
            "## Remarks\n\n- hour 0 is missing\n\n");
}

TEST(AnswerForms, APageShowsTablesDrawingsAndVerdictsEscaped) {
  expect_words(html_of(toy()),
               {"<h1>pump &lt;A&gt;</h1>", "<p class=\"verdict\">The pump is too slow.</p>",
                "<a href=\"#checks\">Checks</a> <a href=\"#section-1\">Course</a>",
                "<td class=\"gate-missed\">FAIL</td>", "<td class=\"number\">9.5</td>", "<svg", "It falls.",
                "<summary>Evidence</summary>it takes 80 % of the pressure", "costs 1 l/s<br>Try: Clean it.",
                "hour 0 is missing"});
}

TEST(AnswerForms, JsonHasDataAndEverythingThatPeopleSee) {
  const auto json = json_of(toy());
  EXPECT_EQ(json["litres"], 9.5);
  EXPECT_EQ(json["title"], "pump <A>");
  EXPECT_EQ(json["sentence"], "The pump is too slow.");
  EXPECT_EQ(
      json["checks"][0],
      nlohmann::json(
          {{"name", "speed"}, {"status", "FAIL"}, {"text", "9 of 10 l/s"}, {"fix", "clean the filter"}}));
  EXPECT_EQ(json["findings"][0]["about"], nlohmann::json({"A"}));
  EXPECT_EQ(json["sections"][0]["table"]["rows"][0], nlohmann::json({"1", "9.5"}));
  EXPECT_EQ(json["sections"][0]["plots"][0]["series"][0]["points"],
            nlohmann::json::parse("[[1.0, 9.5], [2.0, null]]"));
  EXPECT_EQ(json["remarks"][0], "hour 0 is missing");
}

TEST(AnswerForms, WhatTheDataSayIsNotReplaced) {
  auto answer = toy();
  answer.data["checks"] = "three";
  EXPECT_EQ(json_of(answer)["checks"], "three");
}

TEST(AnswerForms, JunitHasATestForEachCheckAndTheRestAsItsOutput) {
  expect_words(
      junit_of(toy()),
      {"<testsuites name=\"pump &lt;A&gt;\">", R"(<testcase classname="pump &lt;A&gt;.checks" name="speed">)",
       R"(<testsuite name="pump &lt;A&gt;.checks" tests="2" failures="1" errors="0" skipped="1">)",
       R"(<failure message="9 of 10 l/s: clean the filter"/>)", R"(<skipped message="no microphone"/>)",
       "<system-out>\nCourse\nhour  l/s\n", "  1  The filter is full."});
}

TEST(AnswerForms, JunitOfAnAnswerWithoutChecksHasOneTestThatPasses) {
  expect_words(junit_of({.title = "machine", .sentence = "Nothing to see."}),
               {R"(<testsuite name="machine.answer" tests="1" failures="0" errors="0" skipped="0">)",
                "Nothing to see.\n</system-out>"});
}

TEST(Checks, TheMostSevereDecidesTheExitCode) {
  EXPECT_EQ(exit_code_of(toy().checks), ExitCode::kEnvironmentInvalid);
  EXPECT_EQ(exit_code_of(std::vector<Check>{}), ExitCode::kSkipped);
  EXPECT_EQ(exit_code_of(std::vector<Check>{{.name = "a"}, {.name = "b", .exit = ExitCode::kInconclusive}}),
            ExitCode::kInconclusive);
}

TEST(Verdicts, HaveARowEachInTheirOrder) {
  for (const auto& row : kVerdicts) EXPECT_EQ(&traits_of(row.verdict), &row);
}

}  // namespace
}  // namespace paceline::answer
