// SPDX-License-Identifier: MIT
#include "workload/training/live_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/bounded_json.h"
#include "base/json.h"
#include "base/text.h"
#include "result/figures/summarize_training.h"
#include "stats/quantile.h"
#include "workload/training/live_words.h"

namespace paceline::workload {
namespace {

using result::StepRow;

constexpr double kEveryNs = 5e9, kFirstAfterNs = 2e9;
constexpr std::size_t kFewestSteps = 10, kMostSteps = 500;
constexpr std::size_t kMostRows = 4'000;  // of all ranks together

// Number of steps that take about `ns`, by the median of the last ones.
double steps_in(double ns, const std::vector<StepRow>& rows) {
  std::vector<double> last;
  for (auto row = rows.rbegin(); row != rows.rend() && last.size() < kFewestSteps; ++row)
    last.push_back(static_cast<double>(row->step_ns));
  const double steps = ns / std::max(1.0, stats::median(last));
  return std::clamp(std::ceil(steps), static_cast<double>(kFewestSteps), 1e9);
}

// All that late ranks are told by: when the last gradients were ready, not each bucket.
std::vector<StepRow> last_rows(const std::vector<StepRow>& rows, std::size_t count) {
  std::vector<StepRow> last(rows.end() - static_cast<std::ptrdiff_t>(count), rows.end());
  for (auto& row : last) {
    if (row.buckets.empty()) continue;
    const auto latest = std::ranges::max_element(row.buckets, {}, &result::BucketTimes::launch_ns);
    row.buckets = {result::BucketTimes(*latest)};
  }
  return last;
}

}  // namespace

void LiveWatch::between_steps(const std::vector<StepRow>& rows) {
  if (!parts_.group || parts_.group->world() < 2) return;
  if (rows.empty() || rows.back().phase != result::StepPhase::kTimed) return;
  if (begun_ && rows.size() < end_) return;
  if (begun_) exchange(rows);
  open_window(rows);
}

// Rank 0 decides how many steps the window has. A reduction ends on no rank before all have come.
void LiveWatch::open_window(const std::vector<StepRow>& rows) {
  parts_.observer.begin();
  std::array<double, 1> steps{};
  if (parts_.group->rank() == 0) steps[0] = steps_in(begun_ ? kEveryNs : kFirstAfterNs, rows);
  parts_.group->reduce_max(steps);
  begin_ = rows.size(), end_ = begin_ + static_cast<std::size_t>(steps[0]), begun_ = true;
}

void LiveWatch::exchange(const std::vector<StepRow>& rows) {
  const auto world = static_cast<std::size_t>(parts_.group->world());
  const std::size_t made = rows.size() - begin_;
  const std::size_t told = std::min({made, kMostSteps, std::max(kFewestSteps, kMostRows / world)});
  auto mine = parts_.table_of(last_rows(rows, told));
  mine.rank.evidence = parts_.observer.evidence(static_cast<std::int64_t>(made));
  const auto texts = parts_.group->gather(result::rank_steps_text(mine));
  if (parts_.group->rank() == 0) judge(texts, static_cast<std::int64_t>(told));
}

void LiveWatch::judge(const std::vector<std::string>& texts, std::int64_t steps) {
  std::vector<result::RankSteps> tables;
  for (const auto& text : texts) tables.push_back(result::rank_steps_from_json(parsed_json(text)));
  result::Training last;
  last.ddp = true;
  result::summarize_training(last, tables, 1);
  slowest_ = slowest_rank(last);
  const auto sync = sync_warning(last, steps), late = late_warning(last);
  std::vector<std::string> fresh;
  if (!sync.empty() && !std::exchange(warned_of_sync_, true)) fresh.push_back(sync);
  if (!late.empty() && warned_of_.insert(last.late.front().rank).second) fresh.push_back(late);
  if (!fresh.empty()) parts_.warn(join(fresh, "; "));
}

}  // namespace paceline::workload
