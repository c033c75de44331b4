// SPDX-License-Identifier: MIT
// Step files as rank 0 writes them, from tables that are there.
#pragma once
#include <algorithm>
#include <filesystem>
#include <vector>

#include "result/stored/step_file.h"

namespace paceline::testing {

inline result::StepFileMark write_step_file(const std::filesystem::path& path,
                                            const std::vector<result::RankSteps>& ranks,
                                            std::int64_t repetition = 0) {
  constexpr std::size_t kRows = 64;  // of a rank, before the next one's
  result::StepFileHead head{.repetition = repetition};
  std::size_t rows = 0;
  for (const auto& table : ranks) {
    head.entries.push_back(result::step_file_entry(table));
    head.buckets = std::max(head.buckets, result::most_buckets(table));
    rows = std::max(rows, table.rows.size());
  }
  result::StepFileWriter writer(path, head);
  for (std::size_t first = 0; first < rows; first += kRows)
    for (const auto& table : ranks) writer.add(result::step_block(table, first, kRows, head.buckets));
  return writer.finish();
}

}  // namespace paceline::testing
