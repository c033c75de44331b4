// SPDX-License-Identifier: MIT
#include "host/checks/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

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

constexpr std::array<const char*, 4> kStatusNames{"PASS", "WARN", "FAIL", "SKIP"};

CheckResult run_one(const Check& check) {
  try {
    return check.run();
  } catch (const std::exception& error) {
    return {CheckStatus::kFail, fmt::format("could not be checked: {}", plain_reason(error)), {}};
  }
}

std::int64_t count(const std::vector<CheckedRow>& rows, CheckStatus status) {
  return std::count_if(rows.begin(), rows.end(),
                       [&](const auto& row) { return row.result.status == status; });
}

bool is_fit(const std::vector<CheckedRow>& rows, Purpose purpose) {
  return std::none_of(rows.begin(), rows.end(), [&](const CheckedRow& row) {
    const auto& needed_by = row.needed_by;
    return row.result.status == CheckStatus::kFail &&
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
  const auto failed = count(rows, CheckStatus::kFail), warnings = count(rows, CheckStatus::kWarn);
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

bool any_failed(const std::vector<CheckedRow>& rows) {
  return count(rows, CheckStatus::kFail) > 0;
}

const char* status_name(CheckStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::string verdict_line(const std::vector<CheckedRow>& rows) {
  std::vector<std::string> parts;
  if (const auto unfit = purposes(rows, false); !unfit.empty())
    parts.push_back("not fit for " + join(unfit, " or "));
  if (const auto fit = purposes(rows, true); !fit.empty()) parts.push_back("fit for " + join(fit, " and "));
  return fmt::format("{}: {}", counts_in_words(rows), join(parts, ", "));
}

nlohmann::json checks_to_json(const std::vector<CheckedRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, needed_by, result] : rows) {
    list.push_back(
        {{"name", name}, {"status", status_name(result.status)}, {"text", result.text}, {"fix", result.fix}});
  }
  return {{"verdict", verdict_line(rows)},
          {"failed", count(rows, CheckStatus::kFail)},
          {"warnings", count(rows, CheckStatus::kWarn)},
          {"fit_for", purposes(rows, true)},
          {"checks", std::move(list)}};
}

}  // namespace paceline::host
