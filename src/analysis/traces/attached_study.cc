// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/traces/attached_cost.h"
#include "analysis/traces/attached_rank.h"
#include "analysis/traces/attached_scopes.h"
#include "attach/step_header.h"
#include "base/error.h"
#include "base/units.h"

namespace paceline::analysis::traces {
namespace {

using Files = std::vector<const attach::StepFile*>;

// Since the epoch: of the last record, on the clock of the host.
std::int64_t last_record_ns(const attach::StepFile& file) {
  std::int64_t last = file.header.monotonic_ns;
  for (const auto& record : file.records)
    if (!is_kind(record, attach::StepKind::kDevice)) last = std::max(last, record.end_ns);
  return file.header.realtime_ns + (last - file.header.monotonic_ns);
}

std::int64_t optimizer_steps(const attach::StepFile& file) {
  return std::ranges::count_if(file.records,
                               [](const auto& record) { return is_kind(record, attach::StepKind::kStep); });
}

// A rank begins again after its earlier process has ended; clocks of two hosts do not tell.
void require_restart(const attach::StepFile& older, const attach::StepFile& newer) {
  if (older.host != newer.host || last_record_ns(older) <= newer.header.realtime_ns) return;
  throw Error(
      ErrorCode::kData,
      fmt::format("{} and {} are both of rank {} and of the same time, so neither is a restart of the "
                  "other: they are of two jobs; read the files of one job",
                  older.file, newer.file, older.header.rank));
}

// The newest start of each rank.
Files newest(const Files& files, std::vector<std::string>& left_out) {
  std::map<std::int64_t, const attach::StepFile*> by_rank;
  for (const auto* file : files) {
    auto& one = by_rank[file->header.rank];
    const auto* older = !one || one->header.realtime_ns < file->header.realtime_ns ? one : file;
    if (older != file) one = file;
    if (!older) continue;
    require_restart(*older, *one);
    left_out.push_back(fmt::format("{}: rank {} was started again, and {} is of its newest start",
                                   older->file, older->header.rank, one->file));
  }
  Files found;
  for (const auto& [rank, file] : by_rank) found.push_back(file);
  return found;
}

// Processes whose rank nobody said are no starts of one rank: without ranks, the one with most steps counts.
Files files_of_job(const std::vector<attach::StepFile>& files, std::vector<std::string>& left_out) {
  Files known, others;
  for (const auto& file : files) (file.header.rank_known != 0 ? known : others).push_back(&file);
  if (known.empty() && !others.empty()) {
    const auto most = std::ranges::max_element(
        others, {}, [](const attach::StepFile* file) { return optimizer_steps(*file); });
    known.push_back(*most);
    others.erase(most);
  } else {
    known = newest(known, left_out);
  }
  for (const auto* file : others)
    left_out.push_back(
        fmt::format("{}: it is of another process, whose rank nobody said; read it by itself", file->file));
  return known;
}

std::set<std::int64_t> known_steps(const RankTrace& one) {
  std::set<std::int64_t> numbers;
  for (const auto& step : one.steps) numbers.insert(step.number);
  for (const auto& step : one.left_out) numbers.insert(step.number);
  return numbers;
}

// Leaves out on each rank what some other rank has no record of, and says how many steps that are.
void level_steps(std::vector<RankTrace>& ranks) {
  std::set<std::int64_t> all, common;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    auto known = known_steps(ranks[r]);
    all.insert(known.begin(), known.end());
    if (r == 0) {
      common = std::move(known);
      continue;
    }
    std::erase_if(common, [&](std::int64_t number) { return !known.contains(number); });
  }
  if (all.size() == common.size()) return;
  for (auto& one : ranks) {
    const auto lacks = [&](const TraceStep& step) { return !common.contains(step.number); };
    std::erase_if(one.steps, lacks);
    std::erase_if(one.attached->unsteady, [&](const auto& step) { return !common.contains(step.number); });
  }
  if (std::ranges::any_of(ranks, [](const auto& one) { return one.attached->running; })) return;
  ranks.front().notes.push_back(
      fmt::format("{} that only some ranks have: a rank ended earlier, or had fewer batches",
                  plural(static_cast<std::int64_t>(all.size() - common.size()), "step")));
}

// A step is of the most telling sort that a rank saw in it, and costs what it cost the rank that it cost
// most.
std::vector<OtherTime> other_times(const std::vector<RankTrace>& ranks, double observed_ns) {
  std::map<std::int64_t, std::pair<StepSort, std::int64_t>> by_step;
  for (const auto& one : ranks)
    for (const auto& step : one.attached->unsteady) {
      const auto [at, is_new] = by_step.try_emplace(step.number, step.sort, step.extra_ns);
      auto& [sort, extra_ns] = at->second;
      sort = std::max(sort, step.sort), extra_ns = std::max(extra_ns, step.extra_ns);
    }
  std::map<StepSort, OtherTime> sums;
  for (const auto& [number, step] : by_step) {
    auto& sum = sums[step.first];
    sum.sort = step.first, ++sum.steps, sum.extra_ns += static_cast<double>(step.second);
  }
  std::vector<OtherTime> all;
  for (auto& [sort, one] : sums) {
    one.extra_ns = std::max(0.0, one.extra_ns);  // the sum alone: else noise would add up
    one.share = observed_ns > 0 ? one.extra_ns / observed_ns : 0;
    all.push_back(one);
  }
  std::ranges::stable_sort(all, std::greater{}, &OtherTime::extra_ns);
  return all;
}

void add_unseen(const AttachedRank& one, AttachedStudy& study) {
  if (!one.has_first)
    study.notes.emplace_back("the first step is in no figure: recording begins with its optimizer step");
  if (!one.unwatched.empty())
    study.notes.push_back(fmt::format("{} in no figure: the observer was off, which measures its cost",
                                      plural(std::ssize(one.unwatched), "step")));
}

void add_running(const std::vector<RankTrace>& ranks, AttachedStudy& study) {
  for (const auto& one : ranks) {
    if (!one.attached->running) continue;
    study.running = true;
    study.notes.push_back(fmt::format("rank {} is still running: {} so far", *one.rank,
                                      plural(one.attached->last_step + 1, "step")));
  }
}

void add_exceptions(const std::vector<RankTrace>& ranks, AttachedStudy& study) {
  for (const auto& one : ranks)
    if (const auto& exception = one.attached->exception; !exception.empty())
      study.notes.push_back(fmt::format("rank {} ended with {}", *one.rank, exception));
}

void add_habits(const AttachedRank& one, AttachedStudy& study) {
  if (one.optimizer_steps > 1)
    study.notes.push_back(fmt::format("a step is a round of {} optimizer steps", one.optimizer_steps));
  if (one.other_steps > 0)
    study.notes.push_back(fmt::format("{} of another phase of the job {} left out",
                                      plural(one.other_steps, "optimizer step"),
                                      one.other_steps == 1 ? "is" : "are"));
  if (one.micro_steps > 1)
    study.notes.push_back(fmt::format("a step has {} backward passes", one.micro_steps));
  if (one.sharded)
    study.notes.emplace_back(
        "parameters are sharded (FSDP): all-gathers are in the forward and backward pass");
}

}  // namespace

std::vector<RankTrace> attached_ranks(const std::vector<attach::StepFile>& files,
                                      std::vector<std::string>& left_out) {
  std::vector<RankTrace> ranks;
  for (const auto* file : files_of_job(files, left_out)) ranks.push_back(attached_rank(*file));
  if (ranks.size() > 1) level_steps(ranks);
  return ranks;
}

bool is_attached(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return !attach::step_files(path).empty();
  return path.filename().string().ends_with(".steps");
}

std::vector<RankTrace> attached_in(const std::filesystem::path& from, std::vector<std::string>& left_out) {
  const bool folder = std::filesystem::is_directory(from);
  const auto paths = folder ? attach::step_files(from) : std::vector{from};
  std::vector<attach::StepFile> files;
  for (const auto& path : paths) files.push_back(attach::read_step_file(path, path.filename().string()));
  return attached_ranks(files, left_out);
}

AttachedStudy attached_study(const std::vector<RankTrace>& ranks) {
  const auto& first = *ranks.front().attached;
  AttachedStudy study;
  study.torch = first.torch, study.device = first.device, study.command = first.command;
  for (const auto& one : ranks)
    study.observed_ns = std::max(study.observed_ns, static_cast<double>(one.attached->observed_ns));
  study.other = other_times(ranks, study.observed_ns);
  add_running(ranks, study);
  add_exceptions(ranks, study);
  add_habits(first, study);
  add_unseen(first, study);
  set_watching(first.watching, study);
  return study;
}

}  // namespace paceline::analysis::traces
