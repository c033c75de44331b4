// SPDX-License-Identifier: MIT
#include "host/checks/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>

#include "base/display_text.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::host {
namespace {

struct PurposeRow {
  Purpose purpose;
  const char* name;
};
constexpr std::array<PurposeRow, 2> kPurposes{
    {{Purpose::kMultiRankTraining, "multi-rank training"}, {Purpose::kInference, "inference"}}};

CheckResult run_one(const Check& check) {
  try {
    return check.run();
  } catch (const std::exception& error) {
    return {Verdict::kNo, fmt::format("could not be checked: {}", plain_reason(error)), {}};
  }
}

std::int64_t count(const std::vector<CheckedRow>& rows, Verdict status) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const auto& row) { return row.result.status == status; });
}

bool is_fit(const std::vector<CheckedRow>& rows, Purpose purpose) {
  return std::none_of(rows.begin(), rows.end(), [&](const CheckedRow& row) {
    const auto& needed_by = row.needed_by;
    return row.result.status == Verdict::kNo &&
           std::find(needed_by.begin(), needed_by.end(), purpose) != needed_by.end();
  });
}

std::vector<std::string> purposes(const std::vector<CheckedRow>& rows, bool fit) {
  std::vector<std::string> names;
  for (const auto& [purpose, name] : kPurposes) {
    if (is_fit(rows, purpose) == fit) names.emplace_back(name);
  }
  return names;
}

std::string counts_in_words(const std::vector<CheckedRow>& rows) {
  const auto failed = count(rows, Verdict::kNo), warnings = count(rows, Verdict::kReservedly);
  std::vector<std::string> parts;
  if (failed > 0) parts.push_back(fmt::format("{} failed", failed));
  if (warnings > 0) parts.push_back(plural(warnings, "warning"));
  return parts.empty() ? "nothing to complain about" : join(parts, ", ");
}

}  // namespace

std::vector<CheckedRow> run_checks(const std::vector<Check>& checks) {
  std::vector<CheckedRow> rows;
  rows.reserve(checks.size());
  for (const auto& check : checks) rows.push_back({check.name, check.needed_by, run_one(check)});
  return rows;
}

std::string verdict_line(const std::vector<CheckedRow>& rows) {
  std::vector<std::string> parts;
  if (const auto unfit = purposes(rows, false); !unfit.empty())
    parts.push_back("not fit for " + join(unfit, " or "));
  if (const auto fit = purposes(rows, true); !fit.empty()) parts.push_back("fit for " + join(fit, " and "));
  return fmt::format("{}: {}", counts_in_words(rows), join(parts, ", "));
}

answer::Check check_of(const CheckedRow& row) {
  const auto& [status, text, fix] = row.result;
  return {.name = row.name,
          .verdict = status,
          .text = text,
          .fix = fix,
          .exit = status == Verdict::kNo ? ExitCode::kEnvironmentInvalid : ExitCode::kOk};
}

answer::Answer answer_of(const std::vector<CheckedRow>& rows) {
  answer::Answer answer{.title = "This machine", .sentence = verdict_line(rows)};
  std::ranges::transform(rows, std::back_inserter(answer.checks), check_of);
  answer.data = {{"verdict", answer.sentence},
                 {"failed", count(rows, Verdict::kNo)},
                 {"warnings", count(rows, Verdict::kReservedly)},
                 {"fit_for", purposes(rows, true)}};
  return answer;
}

}  // namespace paceline::host
