// SPDX-License-Identifier: MIT
#include "attach/step_totals.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "attach/running.h"
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
    if (kind == StepKind::kStep) totals.place.steps = std::max(totals.place.steps, record.value);
  }
}

RankTotals totals_of(const std::filesystem::path& path) try {
  RankTotals totals{.file = path.filename().string()};
  const MappedFile file(path);
  StepHeader header{};
  std::memcpy(&header, file.data(), std::min(file.size(), sizeof header));
  totals.problem = header_problem(header, file.size());
  if (!totals.problem.empty()) return totals;
  totals.place = place_of(header);
  totals.lost = header.lost;
  totals.orderly = header.closed_ns != 0;
  totals.running = is_running(header);
  totals.exception = field_text(header.exception);
  if (totals.orderly) totals.ended_ns = header.realtime_ns + (header.closed_ns - header.monotonic_ns);
  count_records(file, header, totals);
  return totals;
} catch (const Error& e) {
  return {.file = path.filename().string(), .problem = e.what()};
}

}  // namespace

FolderTotals step_totals(const std::filesystem::path& folder) {
  FolderTotals totals;
  std::vector<RankTotals> readable;
  for (const auto& path : step_files(folder)) {
    auto one = totals_of(path);
    (one.problem.empty() ? readable : totals.unreadable).push_back(std::move(one));
  }
  std::vector<FilePlace> places;
  for (const auto& one : readable) places.push_back(one.place);
  const auto files = job_files(places);
  const auto move_to = [&](std::vector<RankTotals>& to, const std::vector<std::size_t>& from) {
    for (const auto i : from) to.push_back(std::move(readable[i]));
  };
  move_to(totals.job, files.job), move_to(totals.others, files.others), move_to(totals.apart, files.apart);
  return totals;
}

std::vector<RankTotals> newest_starts(const FolderTotals& totals) {
  auto newest = totals.job;
  for (const auto& other : totals.others)
    for (auto& one : newest)
      if (other.place.rank == one.place.rank && other.place.started_ns > one.place.started_ns) one = other;
  return newest;
}

}  // namespace paceline::attach
