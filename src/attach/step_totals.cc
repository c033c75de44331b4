// SPDX-License-Identifier: MIT
#include "attach/step_totals.h"

#include <algorithm>
#include <cstring>

#include "attach/step_header.h"
#include "base/error.h"
#include "base/mapped_file.h"

namespace paceline::attach {
namespace {

void count_records(const MappedFile& file, const StepHeader& header, RankTotals& totals) {
  const auto count = std::min(header.used, header.capacity);
  totals.full = header.used > header.capacity;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepRecord record;
    std::memcpy(&record, file.data() + kRecordsAt + i * kRecordBytes, sizeof record);
    const auto kind = static_cast<StepKind>(record.kind);
    totals.full = totals.full || kind == StepKind::kOutOfRoom;
    if (kind == StepKind::kStep) totals.steps = std::max(totals.steps, record.value);
  }
}

RankTotals totals_of(const std::filesystem::path& path) try {
  RankTotals totals{.file = path.filename().string()};
  const MappedFile file(path);
  StepHeader header{};
  std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
  totals.problem = header_problem(header, file.size());
  if (!totals.problem.empty()) return totals;
  totals.rank = header.rank;
  totals.world = header.world;
  totals.rank_known = header.rank_known != 0;
  totals.started_ns = header.realtime_ns;
  totals.lost = header.lost;
  totals.orderly = header.closed_ns != 0;
  totals.exception = field_text(header.exception);
  if (totals.orderly) totals.ended_ns = header.realtime_ns + (header.closed_ns - header.monotonic_ns);
  count_records(file, header, totals);
  return totals;
} catch (const Error& e) {
  return {.file = path.filename().string(), .problem = e.what()};
}

}  // namespace

std::vector<RankTotals> step_totals(const std::filesystem::path& folder) {
  std::vector<RankTotals> all;
  for (const auto& path : step_files(folder)) all.push_back(totals_of(path));
  return all;
}

}  // namespace paceline::attach
