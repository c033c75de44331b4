// SPDX-License-Identifier: MIT
#include "workload/training/step_collection.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace paceline::workload {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // of all ranks together

std::vector<std::string> gathered(plugin::RankGroup* group, const std::string& mine) {
  return group ? group->gather(mine) : std::vector{mine};
}

}  // namespace

std::optional<result::StepFileMark> collect_steps(plugin::RankGroup* group, const result::RankSteps& mine,
                                                  const StepOrigin& origin,
                                                  const std::filesystem::path& file) {
  std::array<double, 2> most{static_cast<double>(mine.rows.size()),
                             static_cast<double>(result::most_buckets(mine))};
  if (group) group->reduce_max(most);
  const auto rows = static_cast<std::size_t>(most[0]), buckets = static_cast<std::size_t>(most[1]);
  const auto ranks = static_cast<std::size_t>(group ? group->world() : 1);
  const auto piece = std::max<std::size_t>(1, kPieceBytes / ranks / result::step_row_bytes(buckets));

  auto entries = gathered(group, result::step_file_entry(mine));
  std::optional<result::StepFileWriter> writer;
  if (!group || group->rank() == 0)
    writer.emplace(file,
                   result::StepFileHead{origin.repetition, origin.interrupted, buckets, std::move(entries)});
  for (std::size_t first = 0; first < rows; first += piece)
    for (const auto& block : gathered(group, result::step_block(mine, first, piece, buckets)))
      if (writer && !block.empty()) writer->add(block);
  std::optional<result::StepFileMark> mark;
  if (writer) mark = writer->finish();
  if (group) group->barrier();  // nobody leaves before the file is there
  return mark;
}

}  // namespace paceline::workload
