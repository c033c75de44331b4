// SPDX-License-Identifier: MIT
#include "workload/training/rank_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cluster/roll_call.h"
#include "host/machine/affinity.h"
#include "host/machine/memory.h"
#include "host/system_files.h"

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

result::RankSteps steps_of(TrainingRank& rank, std::vector<result::StepRow> rows) {
  result::RankSteps mine;
  mine.rank.rank = rank.spec().rank;
  mine.rank.host = cluster::host_name();
  mine.rank.process_id = ::getpid();
  mine.rank.cpus = host::format_cpu_list(host::current_affinity());
  mine.rank.threads = rank.train().settings.threads;
  mine.rank.rss_peak_bytes = host::process_memory().rss_peak_bytes;
  if (const auto peak = rank.trainer().info().peak_tensor_bytes) mine.rank.device_peak_bytes = *peak;
  mine.loader_samples_per_s = {rank.loader().deliverable_samples_per_s(), "one batch, always the same"};
  mine.rows = std::move(rows);
  return mine;
}

void report_steps(TrainingRank& rank, RankReport report) {
  auto steps = steps_of(rank, std::move(report.rows));
  steps.rank.evidence = std::move(report.evidence);
  if (rank.leads()) steps.held_out = std::move(report.held_out);
  const auto mark = collect_steps(rank.group(), steps, {rank.spec().repetition, report.interrupted},
                                  rank.spec().table_file);
  if (mark) rank.sink().emit(pass::step_file_record(*mark));
}

result::Training known_here(TrainingRank& rank) {
  const auto& train = rank.train();
  const auto& ranks = rank.spec().ranks;
  const auto info = rank.trainer().info();
  result::Training t;
  t.ddp = rank.group() != nullptr && train.settings.ddp.enabled;
  t.backend = t.ddp ? ranks.backend : "";
  t.launcher = ranks.launcher;
  t.parameters = info.parameters;
  t.parameter_tensors = info.parameter_tensors;
  t.bucket_bytes = info.bucket_bytes;
  t.fingerprint = rank.trainer().fingerprint();
  if (const auto scale = rank.last_outcome().loss_scale) t.loss_scale = *scale;
  return t;
}

}  // namespace paceline::workload
