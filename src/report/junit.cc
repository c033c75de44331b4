// SPDX-License-Identifier: MIT
#include "report/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/gates.h"
#include "base/text.h"
#include "report/answer_parts.h"
#include "result/stored/verdicts.h"

namespace paceline::report {
namespace {

using result::Outcome;

struct TestCase {
  std::string name;
  std::string element;  // failure | error | skipped; empty: passed
  std::string message;
  double seconds = 0;
};

double seconds_of(const result::CaseResult& one) {
  std::int64_t total_ns = 0;
  for (const auto& repetition : one.repetitions) total_ns += repetition.elapsed_ns;
  return static_cast<double>(total_ns) / 1e9;
}

// Follows the exit code: what does not give 0 there is not green here.
TestCase test_of(const result::RunResult& run, const result::CaseResult& one, const JunitOptions& options) {
  const std::string name = one.label.empty() ? one.case_id : one.label;
  if (!options.allow_noisy && analysis::noise_counts(run, one, options.strict))
    return {name, "failure", "grade C: " + join(one.grade_reasons, ", "), seconds_of(one)};
  if (const auto open = analysis::open_question(one, options.strict); !open.empty())
    return {name, "error", open, seconds_of(one)};
  if (one.outcome == Outcome::kOk) return {name, "", "", seconds_of(one)};
  return {name, one.outcome == Outcome::kSkipped ? "skipped" : "failure", one.reason, seconds_of(one)};
}

TestCase test_of(const result::GateResult& gate) {
  const std::string name = fmt::format("{} [{}]", gate.expression, gate.case_id);
  if (gate.verdict == result::kMet) return {name, "", "", 0};
  return {name, gate.verdict == result::kMissed ? "failure" : "error", gate.verdict + ": " + gate.detail, 0};
}

std::string element_xml(const TestCase& test, std::string_view suite) {
  const std::string open = fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.3f}")", suite,
                                       escape_xml(test.name), test.seconds);
  if (test.element.empty()) return open + "/>\n";
  return fmt::format("{}>\n      <{} message=\"{}\"/>\n    </testcase>\n", open, test.element,
                     escape_xml(test.message));
}

auto count(const std::vector<TestCase>& tests, std::string_view element) {
  return std::ranges::count(tests, element, &TestCase::element);
}

std::string document_xml(std::string_view name, const std::string& suites) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n{}</testsuites>\n", name,
      suites);
}

std::string suite_xml(std::string_view name, const std::vector<TestCase>& tests) {
  std::string out =
      fmt::format(R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}">)", name,
                  tests.size(), count(tests, "failure"), count(tests, "error"), count(tests, "skipped"));
  out += '\n';
  for (const TestCase& test : tests) out += element_xml(test, name);
  return out + "  </testsuite>\n";
}

}  // namespace

std::string junit_xml(const result::RunResult& run, const JunitOptions& options) {
  std::vector<TestCase> cases, gates;
  for (const auto& one : run.cases) cases.push_back(test_of(run, one, options));
  if (const auto unfinished = analysis::unfinished_text(run); !unfinished.empty())
    cases.push_back({"the whole run", "error", unfinished, 0});
  for (const auto& gate : run.gates) gates.push_back(test_of(gate));
  const std::string experiment = escape_xml(run.experiment_name);
  return document_xml(experiment,
                      suite_xml(experiment + ".cases", cases) + suite_xml(experiment + ".gates", gates));
}

std::string junit_of_no_run(const std::string& message) {
  return document_xml("paceline", suite_xml("paceline.cases", {{"the whole run", "error", message, 0}}));
}

}  // namespace paceline::report
