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
#include "attach/job_files.h"
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

// By the optimizer that made the most.
std::uint64_t most_steps(const attach::StepFile& file) {
  std::uint64_t most = 0;
  for (const auto& record : file.records)
    if (is_kind(record, attach::StepKind::kStep)) most = std::max(most, record.value);
  return most;
}

// Whether a process had ended when another began; clocks of two hosts do not tell.
bool may_be_before(const attach::StepFile& older, const attach::StepFile& newer) {
  return older.host != newer.host || last_record_ns(older) <= newer.header.realtime_ns;
}

bool is_older(const attach::StepFile& one, const attach::StepFile& other) {
  return one.header.realtime_ns < other.header.realtime_ns;
}

// A rank begins again after its earlier process has ended.
void require_restart(const attach::StepFile& older, const attach::StepFile& newer) {
  if (may_be_before(older, newer)) return;
  throw Error(
      ErrorCode::kData,
      fmt::format("{} and {} are both of rank {} and of the same time, so neither is a restart of the "
                  "other: they are of two jobs; read the files of one job",
                  older.file, newer.file, older.header.rank));
}

// Why another start of the rank of `used` is in no figure.
std::string other_start(const attach::StepFile& other, const attach::StepFile& used) {
  if (is_older(other, used)) {
    require_restart(other, used);
    return fmt::format("{}: rank {} was started again, and {} is of the start in the figures", other.file,
                       other.header.rank, used.file);
  }
  require_restart(used, other);
  return fmt::format("{}: it is of a start that made too few steps; {} is of the one before", other.file,
                     used.file);
}

// Whether files with another number of ranks may be of another start; those of two jobs of one time are not.
bool may_be_of_another_start(const attach::StepFile& one, const Files& job) {
  return most_steps(one) == 0 || std::ranges::all_of(job, [&](const attach::StepFile* other) {
           return is_older(one, *other) ? may_be_before(one, *other) : may_be_before(*other, one);
         });
}

Files files_of_job(const std::vector<attach::StepFile>& files, std::vector<std::string>& left_out) {
  std::vector<attach::FilePlace> places;
  for (const auto& file : files) {
    places.push_back(attach::place_of(file.header));
    places.back().steps = std::max(places.back().steps, most_steps(file));
  }
  const auto found = attach::job_files(places);
  Files job;
  for (const auto i : found.job) job.push_back(&files[i]);
  const Files chosen = job;
  for (const auto i : found.others) {
    const auto& one = files[i];
    const auto same = std::ranges::find_if(
        chosen, [&](const attach::StepFile* used) { return used->header.rank == one.header.rank; });
    if (same != chosen.end())
      left_out.push_back(other_start(one, **same));
    else if (may_be_of_another_start(one, chosen))
      left_out.push_back(fmt::format("{}: it is of another start, with {}; the figures are of one with {}",
                                     one.file, plural(one.header.world, "rank"),
                                     chosen.front()->header.world));
    else
      job.push_back(&one);
  }
  for (const auto i : found.apart)
    left_out.push_back(
        fmt::format("{}: it is of a process without a known rank; read it by itself", files[i].file));
  return job;
}

// Numbers from this one on.
std::set<std::int64_t> known_steps(const RankTrace& one, std::int64_t from) {
  std::set<std::int64_t> numbers;
  for (const auto& step : one.steps) numbers.insert(step.number);
  for (const auto& step : one.left_out) numbers.insert(step.number);
  numbers.erase(numbers.begin(), numbers.lower_bound(from));
  return numbers;
}

// Lets the figures of all ranks begin at one step, where some had too many. Returns its number.
std::int64_t begin_together(std::vector<RankTrace>& ranks) {
  std::int64_t first = 0;
  for (const auto& one : ranks) first = std::max(first, one.attached->oldest_kept);
  for (auto& one : ranks)
    std::erase_if(one.steps, [&](const TraceStep& step) { return step.number < first; });
  return first;
}

// Leaves out on each rank what some other rank has no record of, and says how many steps that are.
void level_steps(std::vector<RankTrace>& ranks) {
  const auto first = begin_together(ranks);
  std::set<std::int64_t> all, common;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    auto known = known_steps(ranks[r], first);
    all.insert(known.begin(), known.end());
    if (r == 0) {
      common = std::move(known);
      continue;
    }
    std::erase_if(common, [&](std::int64_t number) { return !known.contains(number); });
  }
  if (all.size() == common.size()) return;
  for (auto& one : ranks) {
    const auto lacks = [&](const auto& step) {
      return step.number >= first && !common.contains(step.number);
    };
    std::erase_if(one.steps, lacks);
    std::erase_if(one.attached->unsteady, lacks);
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
