// SPDX-License-Identifier: MIT
#include "result/stored_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "result/result_json.h"

namespace paceline::result {
namespace {

using Json = nlohmann::json;

// Lines of the last repetition that was not interrupted.
RankSteps steps_in(const std::string& text, std::int64_t rank, const std::string& file) {
  std::int64_t last = -1;
  Json rows = Json::array();
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) continue;
    Json row = parse_json(line, file);
    const auto repetition = row.value("repetition", std::int64_t{0});
    if (row.value("interrupted", false) || repetition < last) continue;
    if (repetition > last) rows.clear();
    last = repetition;
    rows.push_back(std::move(row));
  }
  return rank_steps_from_json({{"rank", {{"rank", rank}}}, {"rows", std::move(rows)}});
}

}  // namespace

std::vector<RankSteps> read_rank_steps(const StoredRun& stored, const CaseResult& one) {
  const auto folder = folder_of_case(stored, one.case_id);
  std::vector<RankSteps> tables;
  for (std::int64_t rank = 0; rank < one.benchmark.world_size && !one.training.empty(); ++rank) {
    const auto file = folder / fmt::format("rank{}.jsonl", rank);
    if (!std::filesystem::exists(file)) return {};
    tables.push_back(steps_in(read_file(file), rank, file.string()));
  }
  return tables;
}

}  // namespace paceline::result
