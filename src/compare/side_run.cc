// SPDX-License-Identifier: MIT
#include "compare/side_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/error.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "stats/quantile.h"

namespace paceline::compare {
namespace {

constexpr const char* kCollectiveTimes = "collective_times.csv";
constexpr std::string_view kOneByOne = "sync";  // the mode of operations that were timed one by one
constexpr std::size_t kColumns = 7;             // repetition,bytes,in_place,mode,rank,index,duration_ns

PerProcess tails_of(const result::StoredRun& stored, const result::CaseResult& one) {
  PerProcess tails;
  const auto read = result::read_case_samples(stored, one);
  for (const auto& r : one.repetitions) {
    const auto times = result::durations_ns(read.samples, static_cast<int>(r.index));
    if (times.empty()) continue;
    if (const auto p99 = stats::estimate_quantile(times, stats::kPpmP99); p99.value && p99.ci_high)
      tails[r.index] = *p99.value;
  }
  return tails;
}

struct OperationRow {
  std::int64_t repetition = 0, bytes = 0, index = 0;
  bool in_place = false;
  double ns = 0;
};

// Empty for an operation that was timed in a batch.
std::optional<OperationRow> operation_in(const std::string& line, const std::string& origin) {
  const auto cells = split(line, ',');
  const auto wrong = [&] {
    return Error(ErrorCode::kData, fmt::format("{}: '{}' is no row of an operation", origin, line));
  };
  if (cells.size() != kColumns) throw wrong();
  if (cells[3] != kOneByOne) return std::nullopt;
  std::array<std::optional<long long>, 4> whole{parse_int(cells[0]), parse_int(cells[1]), parse_int(cells[2]),
                                                parse_int(cells[5])};
  const auto ns = parse_double(cells[6]);
  if (!ns || std::ranges::any_of(whole, [](const auto& number) { return !number; })) throw wrong();
  return OperationRow{*whole[0], *whole[1], *whole[3], *whole[2] != 0, *ns};
}

}  // namespace

std::map<std::pair<std::int64_t, bool>, PerProcess> medians_by_size(const std::string& csv,
                                                                    const std::string& origin) {
  std::map<std::tuple<std::int64_t, bool, std::int64_t, std::int64_t>, double> slowest;
  auto lines = split(csv, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    if (const auto row = operation_in(lines[i], origin)) {
      auto& ns = slowest[{row->bytes, row->in_place, row->repetition, row->index}];
      ns = std::max(ns, row->ns);
    }
  }
  std::map<std::tuple<std::int64_t, bool, std::int64_t>, std::vector<double>> times;
  for (const auto& [key, ns] : slowest)
    times[{std::get<0>(key), std::get<1>(key), std::get<2>(key)}].push_back(ns);
  std::map<std::pair<std::int64_t, bool>, PerProcess> medians;
  for (const auto& [key, all] : times)
    medians[{std::get<0>(key), std::get<1>(key)}][std::get<2>(key)] = stats::median(all);
  return medians;
}

ProcessFigures process_figures(const result::StoredRun& stored, const result::CaseResult& one) {
  ProcessFigures figures;
  if (stored.folder.empty()) return figures;
  if (traits_of(one.benchmark.kind).has_latency) figures.p99_ns = tails_of(stored, one);
  const auto file = result::folder_of_case(stored, one.case_id) / kCollectiveTimes;
  if (one.collective() && std::filesystem::exists(file))
    figures.size_ns = medians_by_size(read_stored(file, Foreign::kRows), file.string());
  return figures;
}

}  // namespace paceline::compare
