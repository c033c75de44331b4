// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "compare/comparison_answer.h"
#include "compare/words.h"

namespace paceline::compare {
namespace {

struct VerdictRow {
  answer::Verdict check;
  ExitCode exit;
};
constexpr std::array kOfVerdict{VerdictRow{answer::Verdict::kNo, ExitCode::kGateFailed},
                                VerdictRow{answer::Verdict::kYes, ExitCode::kOk},
                                VerdictRow{answer::Verdict::kYes, ExitCode::kOk},
                                VerdictRow{answer::Verdict::kCannotSay, ExitCode::kInconclusive}};

constexpr const char* kGroup = "compare";

answer::Check check_of(std::string name, answer::Verdict verdict, std::string text, ExitCode exit) {
  return {
      .name = std::move(name), .verdict = verdict, .text = std::move(text), .exit = exit, .group = kGroup};
}

void add_environment(const Comparison& comparison, std::vector<answer::Check>& checks) {
  if (comparison.environment.empty()) return;
  std::vector<std::string> names;
  bool blocks = false;
  for (const auto& one : comparison.environment) {
    place_of(one.name, names);
    blocks = blocks || one.blocks;
  }
  const auto text = "differs: " + join(names, ", ");
  const bool refused = blocks && !comparison.allow_env_diff;
  auto check = check_of("environment", refused ? answer::Verdict::kNo : answer::Verdict::kReservedly, text,
                        refused ? ExitCode::kEnvironmentInvalid : ExitCode::kOk);
  if (refused)
    check.fix = "measure both sides on one machine with the same software, or add --allow-env-diff";
  checks.push_back(std::move(check));
}

void add_control(const Comparison& comparison, std::vector<answer::Check>& checks) {
  if (!comparison.control) return;
  const bool moved = comparison.control->moved;
  auto check = check_of("control", moved ? answer::Verdict::kNo : answer::Verdict::kYes,
                        control_words(comparison), moved ? ExitCode::kEnvironmentInvalid : ExitCode::kOk);
  if (moved) check.fix = "measure again when nothing else runs";
  checks.push_back(std::move(check));
}

// A case without figures on one of the sides.
std::optional<answer::Check> failure_check(const ComparedCase& one, const Comparison& comparison) {
  const auto& side = comparison.sides[one.side].name;
  if (!one.failed_a.empty())
    return check_of(one.label, answer::Verdict::kCannotSay,
                    fmt::format("no result in {}: {}", comparison.sides.front().name, one.failed_a),
                    ExitCode::kInconclusive);
  if (one.failed_b.empty()) return std::nullopt;
  return one.skipped_b
             ? check_of(one.label, answer::Verdict::kCannotSay,
                        fmt::format("skipped in {}: {}", side, one.failed_b), ExitCode::kInconclusive)
             : check_of(one.label, answer::Verdict::kNo, fmt::format("failed in {}: {}", side, one.failed_b),
                        ExitCode::kWorkloadFailed);
}

answer::Check figure_check(const Figure& figure, const ComparedCase& one, const Comparison& comparison) {
  const auto& row = kOfVerdict.at(static_cast<std::size_t>(figure.verdict));
  auto text =
      fmt::format("{}: {}", stats::verdict_name(figure.verdict), change_with_range(figure, one.pairing));
  if (!figure.doubt.empty()) text += "; " + figure.doubt;
  return check_of(subject_words(comparison, one, figure), row.check, std::move(text), row.exit);
}

}  // namespace

std::vector<answer::Check> checks_of(const Comparison& comparison) {
  std::vector<answer::Check> checks;
  add_environment(comparison, checks);
  add_control(comparison, checks);
  for (const auto& one : comparison.cases) {
    if (auto failed = failure_check(one, comparison)) {
      checks.push_back(std::move(*failed));
      continue;
    }
    const auto figures = deciding(one);
    for (const auto* figure : figures) checks.push_back(figure_check(*figure, one, comparison));
    if (figures.empty())
      checks.push_back(check_of(one.label, answer::Verdict::kCannotSay, "no figure that both sides have",
                                ExitCode::kInconclusive));
  }
  return checks;
}

}  // namespace paceline::compare
