// SPDX-License-Identifier: MIT
#include "result/collective_medians.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr const char* kTimesOfCollective = "collective_times.csv";
constexpr std::string_view kOneByOne = "sync";  // the mode of operations that were timed one by one
constexpr std::size_t kOperationColumns = 7;    // repetition,bytes,in_place,mode,rank,index,duration_ns

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
  if (cells.size() != kOperationColumns) throw wrong();
  if (cells[3] != kOneByOne) return std::nullopt;
  std::array<std::optional<long long>, 4> whole{parse_int(cells[0]), parse_int(cells[1]), parse_int(cells[2]),
                                                parse_int(cells[5])};
  const auto ns = parse_double(cells[6]);
  if (!ns || std::ranges::any_of(whole, [](const auto& number) { return !number; })) throw wrong();
  return OperationRow{*whole[0], *whole[1], *whole[3], *whole[2] != 0, *ns};
}

}  // namespace

MediansBySize medians_by_size(const std::string& csv, const std::string& origin) {
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
  MediansBySize medians;
  for (const auto& [key, all] : times)
    medians[{std::get<0>(key), std::get<1>(key)}][std::get<2>(key)] = stats::median(all);
  return medians;
}

MediansBySize medians_by_size(const StoredRun& stored, const CaseResult& one) {
  if (stored.folder.empty() || !one.collective()) return {};
  const auto file = folder_of_case(stored, one.case_id) / kTimesOfCollective;
  if (!std::filesystem::exists(file)) return {};
  return medians_by_size(read_stored(file, Foreign::kRows), file.string());
}

}  // namespace paceline::result
