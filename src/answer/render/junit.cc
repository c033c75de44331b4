// SPDX-License-Identifier: MIT
#include "answer/render/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "answer/render/answer_forms.h"
#include "answer/render/escape.h"
#include "base/text.h"

namespace paceline::answer {
namespace {

std::string test_xml(const Check& check, std::string_view suite, CheckTimes times) {
  const auto time =
      times == CheckTimes::kTaken ? fmt::format(R"( time="{:.3f}")", check.seconds) : std::string();
  const auto open =
      fmt::format(R"(    <testcase classname="{}" name="{}"{})", suite, escape_xml(check.name), time);
  const auto element = traits_of(check.verdict).element;
  if (element.empty()) return open + "/>\n";
  return fmt::format("{}>\n      <{} message=\"{}\"/>\n    </testcase>\n", open, element,
                     escape_xml(check.text));
}

std::string suite_xml(std::string_view name, const std::vector<Check>& tests, CheckTimes times,
                      const std::string& output) {
  const auto count = [&](Verdict verdict) { return std::ranges::count(tests, verdict, &Check::verdict); };
  std::string out =
      fmt::format(R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}">)", name,
                  tests.size(), count(Verdict::kNo), count(Verdict::kCannotSay), count(Verdict::kNotAsked));
  out += '\n';
  for (const Check& test : tests) out += test_xml(test, name, times);
  if (!output.empty()) out += fmt::format("    <system-out>{}</system-out>\n", escape_xml(output));
  return out + "  </testsuite>\n";
}

}  // namespace

std::string junit_xml(const std::string& given, const std::vector<std::string>& groups,
                      const std::vector<Check>& checks, CheckTimes times, const std::string& output) {
  const std::string name = escape_xml(given);
  std::string suites;
  for (const auto& group : groups) {
    std::vector<Check> tests;
    std::ranges::copy_if(checks, std::back_inserter(tests),
                         [&](const Check& check) { return check.group == group; });
    suites += suite_xml(name + "." + escape_xml(group), tests, times, suites.empty() ? output : "");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n{}</testsuites>\n", name,
      suites);
}

std::string junit_of(const Answer& answer) {
  std::vector<std::string> groups;
  for (const Check& check : answer.checks) place_of(check.group, groups);
  auto checks = answer.checks;
  for (Check& check : checks)
    if (!check.fix.empty()) check.text += ": " + check.fix;
  if (groups.empty()) {  // a suite needs a test
    groups.emplace_back("answer");
    checks.push_back({.name = answer.title, .group = "answer"});
  }
  Answer words = answer;
  words.checks.clear();
  return junit_xml(answer.title, groups, checks, CheckTimes::kNotTaken,
                   "\n" + terminal_of(words, {.ascii = false}));
}

}  // namespace paceline::answer
