// SPDX-License-Identifier: MIT
#include "history/since_last.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/display_text.h"
#include "base/units.h"
#include "result/metric_table.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::history {
namespace {

constexpr std::size_t kMostLines = 3;
constexpr double kConfidence = 0.95;

struct CaseSinceLast {
  const CaseEntry* one;
  SinceLast since;
  std::string word;  // "slower"
  std::string last_folder;
};

// Returns "slower" for more time, "faster" for a higher rate.
std::string direction_of(const std::string& metric, bool more) {
  const auto* row = result::find_metric(metric);
  const bool lower_is_better = row && row->better == result::Better::kLower;
  return more == lower_is_better ? "slower" : "faster";
}

std::string percent_beside_one(double ratio) {
  return format_percent(std::abs(ratio - 1), std::abs(ratio - 1) < 0.1 ? 1 : 0);
}

// "2.1–6.0 %", or with signs where the range includes no change.
std::string percent_range(const SinceLast& since) {
  if (!since.differs())
    return fmt::format("{:+.1f} to {:+.1f} %", 100 * (since.low - 1), 100 * (since.high - 1));
  const double a = std::abs(since.low - 1), b = std::abs(since.high - 1);
  return fmt::format("{:.1f}–{:.1f} %", 100 * std::min(a, b), 100 * std::max(a, b));
}

// As the user may type it.
std::string from_here(const std::string& folder) {
  std::error_code error;
  const auto relative = std::filesystem::proximate(folder, error);
  return on_one_line(error ? folder : relative.string());
}

std::string line_of(const CaseSinceLast& found, const std::string& folder, bool only_case) {
  const auto subject = (only_case ? std::string() : on_one_line(found.one->label) + ": ") +
                       (found.one->outcome == kCutShort ? "interrupted; " : "");
  if (!found.since.differs())
    return fmt::format("{}within the spread of the last {} runs here ({})", subject, found.since.runs,
                       percent_range(found.since));
  return fmt::format(
      "{}{} {} than the last {} runs here ({}); not measured in turns, so drift may be the cause: "
      "paceline compare {} {}",
      subject, percent_beside_one(found.since.ratio), found.word, found.since.runs,
      percent_range(found.since), from_here(found.last_folder), from_here(folder));
}

std::optional<CaseSinceLast> found_since_last(const Index& index, const RunEntry& run, const CaseEntry& one) {
  const auto* figure = headline_figure(one);
  if (!figure || run.machine.empty()) return std::nullopt;
  const auto earlier = index.earlier(one.key, figure->metric, run, kMostEarlier);
  std::vector<double> values;
  for (const auto& before : earlier) values.push_back(before.value);
  const auto since = since_last(figure->value, values);
  if (!since) return std::nullopt;
  return CaseSinceLast{&one, *since, direction_of(figure->metric, since->ratio > 1), earlier.front().folder};
}

}  // namespace

std::optional<SinceLast> since_last(double value, std::span<const double> earlier) {
  if (std::ssize(earlier) < kFewestEarlier || value <= 0) return std::nullopt;
  std::vector<double> logs;
  for (const double before : earlier) {
    if (before <= 0) return std::nullopt;
    logs.push_back(std::log(before));
  }
  const auto n = static_cast<double>(logs.size());
  const double centre = stats::mean(logs);
  const double half = stats::student_t(n - 1, kConfidence) * *stats::stddev(logs) * std::sqrt(1 + 1 / n);
  const double change = std::log(value) - centre;
  return SinceLast{std::exp(change), std::exp(change - half), std::exp(change + half), std::ssize(logs)};
}

std::vector<std::string> since_last_lines(const Index& index, const RunEntry& run) {
  std::vector<CaseSinceLast> found;
  for (const auto& one : run.cases)
    if (auto since = found_since_last(index, run, one)) found.push_back(std::move(*since));
  const auto size = [](const CaseSinceLast& one) {
    return one.since.differs() ? std::abs(std::log(one.since.ratio)) : 0;
  };
  std::ranges::stable_sort(found, std::ranges::greater(), size);
  std::vector<std::string> lines;
  for (const auto& one : found) {
    if (lines.size() == kMostLines) break;
    lines.push_back(line_of(one, run.folder, run.cases.size() == 1));
  }
  if (found.size() > kMostLines)
    lines.push_back(fmt::format("{} cases more: paceline history trend", found.size() - kMostLines));
  return lines;
}

}  // namespace paceline::history
