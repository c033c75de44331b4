// SPDX-License-Identifier: MIT
#include "analysis/difference/step_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "base/units.h"
#include "result/figures/step_account.h"

namespace paceline::analysis::difference {
namespace {

using result::RankAccount;
using result::StepAccount;

constexpr double kMostly = 0.5;  // of the exchanges in which some rank is last

// "waits for rank 3, the last in 91 % of the steps"; empty where no rank is last in most of them.
std::string wait_note(const std::vector<StepAccount>& accounts, const std::vector<result::RankSteps>& ranks) {
  std::map<std::size_t, double> last;
  double known = 0;
  for (const auto& step : accounts)
    if (step.last) ++last[*step.last], ++known;
  const auto most = std::ranges::max_element(last, {}, [](const auto& one) { return one.second; });
  if (most == last.end() || most->second < kMostly * known) return {};
  return fmt::format("waits for rank {}, the last in {} of the steps",
                     result::by_rank(ranks)[most->first]->rank.rank,
                     format_percent(most->second / static_cast<double>(accounts.size()), 0));
}

// Per step of a stretch between two exchanges.
template <typename Get>
std::vector<double> per_step(const std::vector<StepAccount>& accounts, std::size_t rank, Get get) {
  std::vector<double> times;
  for (const auto& step : accounts) times.push_back(get(step.ranks[rank]) / static_cast<double>(step.steps));
  return times;
}

TimedPart step_part(const char* name, std::vector<double> times) {
  return {.is = {"step part", name}, .times_ns = std::move(times)};
}

std::vector<std::int64_t> sizes_of(const result::StepRow& row) {
  std::vector<std::int64_t> sizes;
  for (const auto& bucket : row.buckets) sizes.push_back(bucket.bytes);
  return sizes;
}

// Time of each bucket that none before it takes; none where an end was not heard of.
std::optional<std::vector<double>> bucket_times(const result::StepRow& row) {
  std::vector<double> times;
  std::int64_t before = 0;
  for (const auto& bucket : row.buckets) {
    if (!bucket.finish_ns) return std::nullopt;
    times.push_back(static_cast<double>(
        std::max<std::int64_t>(0, *bucket.finish_ns - std::max(before, bucket.launch_ns))));
    before = std::max(before, *bucket.finish_ns);
  }
  return times;
}

}  // namespace

TimedParts step_parts(const std::vector<result::RankSteps>& ranks) {
  TimedParts side{.unit_words = "step", .ordered = false};
  const auto accounts =
      ranks.empty() ? std::vector<StepAccount>() : result::accounts_of(result::aligned(ranks));
  if (accounts.empty()) {
    side.missing = ranks.empty() ? "there are no steps of its ranks" : "no step follows another one";
    return side;
  }
  const auto rank = result::typical_rank(accounts);
  for (const auto part : result::kOwnParts)
    side.parts.push_back(
        step_part(traits_of(part).late_in,
                  per_step(accounts, rank, [&](const RankAccount& one) { return one.own[part]; })));
  side.parts.push_back(step_part("waiting for late ranks",
                                 per_step(accounts, rank, std::mem_fn(&RankAccount::straggler_wait))));
  side.parts.back().note = wait_note(accounts, ranks);
  side.parts.push_back(
      step_part("communication", per_step(accounts, rank, std::mem_fn(&RankAccount::communication))));
  side.total_ns = per_step(accounts, rank, std::mem_fn(&RankAccount::sum));
  return side;
}

TimedParts bucket_parts(const std::vector<result::RankSteps>& ranks) {
  TimedParts side{.unit_words = "exchange", .ordered = false};
  side.missing = "there are no steps of its ranks";
  if (ranks.empty()) return side;
  const auto accounts = result::accounts_of(result::aligned(ranks));
  const auto& rows = result::by_rank(ranks)[accounts.empty() ? 0 : result::typical_rank(accounts)]->rows;
  side.missing = "its steps have no all-reduces whose end is known";
  if (rows.empty() || rows.back().buckets.empty()) return side;
  const auto sizes = sizes_of(rows.back());
  for (const auto bytes : sizes)
    side.parts.push_back(
        {.is = {"all_reduce", "all-reduce", {}, {}, format_bytes(static_cast<double>(bytes))},
         .note = wait_note(accounts, ranks)});
  for (const auto& row : rows) {
    const auto times =
        row.phase == result::StepPhase::kTimed && sizes_of(row) == sizes ? bucket_times(row) : std::nullopt;
    if (!times) continue;
    side.missing.clear();
    side.total_ns.push_back(0);
    for (std::size_t k = 0; k < times->size(); ++k)
      side.parts[k].times_ns.push_back((*times)[k]), side.total_ns.back() += (*times)[k];
  }
  return side;
}

}  // namespace paceline::analysis::difference
