// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/traces/exchanges.h"
#include "analysis/traces/trace_cycles.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::size_t kNamed = 8;                  // numbers that a message names
constexpr std::int64_t kSameHost = 1'000'000'000;  // so far apart steps of one run may lie on one clock
constexpr const char* kNoCommunication =
    "or the profiler did not see it. Record ProfilerActivity.CPU, and ProfilerActivity.CUDA for NCCL, and "
    "initialise torch.distributed before the profiler starts";
constexpr std::array<std::string_view, 3> kAnyHost{"", "localhost", "localhost.localdomain"};

template <typename... Args>
[[noreturn]] void refuse_traces(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(ErrorCode::kData, fmt::format(text, std::forward<Args>(args)...));
}

// Numbers in names are ranks where they count the files that have one from 0.
bool numbers_are_ranks(const std::vector<RankTrace>& ranks) {
  std::vector<std::int64_t> all;
  for (const auto& one : ranks)
    if (const auto number = one.rank ? one.rank : one.number) all.push_back(*number);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

void require_ranks(std::vector<RankTrace>& ranks) {
  if (ranks.size() == 1 && !ranks.front().rank) {
    ranks.front().rank = 0;
    ranks.front().rank_assumed = !ranks.front().world;
    if (!ranks.front().world) ranks.front().world = 1;
  }
  const bool counted = numbers_are_ranks(ranks);
  std::vector<std::string> silent;
  for (auto& one : ranks) {
    if (!one.rank && counted) one.rank = one.number;
    if (!one.rank) silent.push_back(one.file);
  }
  if (!silent.empty())
    refuse_traces(
        "{} which rank it is of: there is no distributedInfo in it, and no rank in its name; name the traces "
        "trace_rank0.json, trace_rank1.json and so on",
        silent.size() == 1 ? silent.front() + " does not say"
        : silent.size() == 2
            ? fmt::format("neither {} nor {} says", silent[0], silent[1])
            : fmt::format("none of {}, {} and {} more says", silent[0], silent[1], silent.size() - 2));
  std::ranges::stable_sort(ranks, {}, [](const RankTrace& r) { return *r.rank; });
  for (std::size_t i = 1; i < ranks.size(); ++i)
    if (ranks[i].rank == ranks[i - 1].rank)
      refuse_traces("{} and {} are both of rank {}: leave one trace per rank in the folder",
                    ranks[i - 1].file, ranks[i].file, *ranks[i].rank);
}

void require_world(std::vector<RankTrace>& ranks) {
  const RankTrace* first = nullptr;
  for (const auto& one : ranks) {
    if (!one.world) continue;
    if (first && first->world != one.world)
      refuse_traces("{} is of a run with {} and {} of one with {}: the traces are of different runs",
                    first->file, plural(*first->world, "rank"), one.file, plural(*one.world, "rank"));
    if (!first) first = &one;
  }
  const auto count = static_cast<std::int64_t>(ranks.size());
  const bool alone = count == 1 && ranks.front().communication != Communication::kNone;
  if (!first && (alone || *ranks.back().rank + 1 != count)) return;  // nothing says how many there are
  const std::int64_t world = first ? *first->world : count;
  if (*ranks.back().rank >= world)
    refuse_traces("{} is of rank {} in a run with {}: the traces are of different runs", ranks.back().file,
                  *ranks.back().rank, plural(world, "rank"));
  for (auto& one : ranks) one.world = world;
}

// Steps that one trace does not have whole are left out on all ranks.
void leave_out_steps(std::vector<RankTrace>& ranks) {
  std::set<std::int64_t> numbers;
  for (const auto& one : ranks)
    for (const auto& step : one.left_out) numbers.insert(step.number);
  for (auto& one : ranks) {
    std::erase_if(one.steps, [&](const TraceStep& step) { return numbers.contains(step.number); });
    if (one.steps.empty())
      refuse_traces("no step is whole on all ranks ({}: {}): record more steps", one.file,
                    one.left_out.empty() ? "others lack all of its steps" : one.left_out.front().why);
  }
}

std::vector<std::int64_t> numbers_of(const RankTrace& one) {
  std::vector<std::int64_t> numbers;
  for (const auto& step : one.steps) numbers.push_back(step.number);
  return numbers;
}

void require_steps(const std::vector<RankTrace>& ranks) {
  const RankTrace& longest =
      *std::ranges::max_element(ranks, {}, [](const auto& r) { return r.steps.size(); });
  const auto all = numbers_of(longest);
  for (const auto& one : ranks) {
    const auto numbers = numbers_of(one);
    if (const auto twice = std::ranges::adjacent_find(numbers); twice != numbers.end())
      refuse_traces("{} has step {} more than once: it is of several runs; record one", one.file, *twice);
    std::vector<std::int64_t> lacks, more;
    std::ranges::set_difference(all, numbers, std::back_inserter(lacks));
    if (lacks.size() == all.size())
      refuse_traces(
          "{} has steps {} to {} and {} steps {} to {}: the traces are of different runs, or of "
          "different steps of one",
          longest.file, all.front(), all.back(), one.file, numbers.front(), numbers.back());
    if (!lacks.empty())
      refuse_traces("rank {} lacks {}, which rank {} has ({}): record the same steps on every rank",
                    *one.rank, listed("step", lacks), *longest.rank, one.file);
    std::ranges::set_difference(numbers, all, std::back_inserter(more));
    if (!more.empty())
      refuse_traces("rank {} lacks {}, which rank {} has ({}): record the same steps on every rank",
                    *longest.rank, listed("step", more), *one.rank, longest.file);
  }
}

// Who begins its steps last, and who ends them first.
struct Outermost {
  const RankTrace* last_to_begin = nullptr;
  const RankTrace* first_to_end = nullptr;
  std::int64_t begin = 0, end = 0;

  void add(const RankTrace& one) {  // one that has base_ns
    std::int64_t own_begin = one.steps.front().begin, own_end = 0;
    for (const auto& step : one.steps) {
      own_begin = std::min(own_begin, step.begin);
      own_end = std::max(own_end, step.begin + step.length);
    }
    own_begin += *one.base_ns;
    own_end += *one.base_ns;
    if (!last_to_begin || own_begin > begin) last_to_begin = &one, begin = own_begin;
    if (!first_to_end || own_end < end) first_to_end = &one, end = own_end;
  }

  void require_gap_below(std::int64_t limit) const {
    if (begin - end <= limit) return;
    refuse_traces(
        "the steps in {} end {} before those in {} begin: the traces are of different runs; leave "
        "those of one run in the folder",
        first_to_end->file, format_duration_ns(static_cast<double>(begin - end)), last_to_begin->file);
  }
};

// Ranks that train together wait for each other, so on one clock their steps lie side by side. Those of other
// hosts may be wrong by any time, and a trace whose clock begins anywhere cannot be judged.
void require_one_time(const std::vector<RankTrace>& ranks) {
  std::map<std::string, Outermost> by_host;
  for (const auto& one : ranks)
    if (one.base_ns && std::ranges::find(kAnyHost, one.host) == kAnyHost.end()) by_host[one.host].add(one);
  for (const auto& [host, ends] : by_host) ends.require_gap_below(kSameHost);
}

// The end of a job, or of its recording, cuts its last step, in which the ranks then have different
// exchanges.
void leave_out_cut_step(std::vector<RankTrace>& ranks) {
  const std::size_t count = ranks.front().steps.size();
  if (ranks.size() < 2 || count < 2 || !mismatch_at(ranks, count - 2).empty()) return;
  const auto why = mismatch_at(ranks, count - 1);
  if (why.empty()) return;
  ranks.front().notes.push_back(fmt::format("step {}: the {} ended in it, and the ranks have {}",
                                            ranks.front().steps.back().number,
                                            ranks.front().attached ? "job" : "recording", why));
  for (auto& one : ranks) one.steps.pop_back();
}

void require_communication(const std::vector<RankTrace>& ranks) {
  if (ranks.size() == 1 || ranks.front().attached) return;  // the parts of an attached job's steps stay known
  std::vector<std::int64_t> silent;
  for (const auto& one : ranks)
    if (one.communication == Communication::kNone) silent.push_back(*one.rank);
  if (!silent.empty())
    refuse_traces("{} ranks, and no communication in the trace of {}: the ranks do not train together, {}",
                  ranks.size(), listed("rank", silent), kNoCommunication);
}

}  // namespace

std::string listed(std::string_view noun, const std::vector<std::int64_t>& numbers) {
  std::string text = fmt::format(
      "{}{} {}", noun, numbers.size() == 1 ? "" : "s",
      fmt::join(numbers.begin(),
                numbers.begin() + static_cast<std::ptrdiff_t>(std::min(numbers.size(), kNamed)), ", "));
  if (numbers.size() > kNamed) text += fmt::format(" and {} more", numbers.size() - kNamed);
  return text;
}

void require_one_run(std::vector<RankTrace>& ranks) {
  join_recordings(ranks);
  require_ranks(ranks);
  require_world(ranks);
  leave_out_steps(ranks);
  require_steps(ranks);
  require_one_time(ranks);
  require_communication(ranks);
  leave_out_cut_step(ranks);
}

}  // namespace paceline::analysis::traces
