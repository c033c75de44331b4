// SPDX-License-Identifier: MIT
#include "result/stored_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/foreign_text.h"
#include "base/reading.h"
#include "result/stored/result_json.h"
#include "result/stored/step_file.h"

namespace paceline::result {
namespace {

using Json = nlohmann::json;

// Lines of the last repetition that was not interrupted, one at a time: a file may be large.
RankSteps steps_in(const std::string& text, std::int64_t rank, const std::string& file) {
  RankSteps table;
  table.rank.rank = rank;
  std::int64_t last = -1;
  for (std::size_t from = 0, to = 0; from < text.size(); from = to + 1) {
    to = std::min(text.find('\n', from), text.size());
    if (to == from) continue;
    Json row = parse_json(text.substr(from, to - from), file);
    const auto repetition = row.value("repetition", std::int64_t{0});
    if (row.value("interrupted", false) || repetition < last) continue;
    if (repetition > last) table.rows.clear();
    last = repetition;
    auto read = rank_steps_from_json({{"rows", Json::array({std::move(row)})}});
    table.rows.push_back(std::move(read.rows.front()));
  }
  return table;
}

}  // namespace

std::vector<RankSteps> read_rank_steps(const StoredRun& stored, const CaseResult& one) {
  const auto folder = folder_of_case(stored, one.case_id);
  if (one.training && !one.repetitions.empty()) {
    const auto file = folder / "passes" / fmt::format("timed-{}.steps.bin", one.repetitions.back().index);
    if (std::filesystem::exists(file)) return read_step_file(file).ranks;
  }
  std::vector<RankSteps> tables;
  for (std::int64_t rank = 0; rank < one.benchmark.world_size && one.training; ++rank) {
    const auto file = folder / fmt::format("rank{}.jsonl", rank);
    if (!std::filesystem::exists(file)) return {};
    tables.push_back(steps_in(read_stored(file, Foreign::kRows), rank, file.string()));
  }
  return tables;
}

}  // namespace paceline::result
