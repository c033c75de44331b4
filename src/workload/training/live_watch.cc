// SPDX-License-Identifier: MIT
#include "workload/training/live_watch.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "result/summarize_training.h"
#include "workload/training/live_words.h"
#include "workload/training/rank_report.h"

namespace paceline::workload {
namespace {

using result::StepRow;

constexpr double kEveryNs = 5e9, kFirstAfterNs = 2e9;
constexpr std::size_t kFewestSteps = 10, kMostSteps = 50;
constexpr std::size_t kMostRows = 20'000;  // of all ranks together

std::size_t steps_in(double ns, const StepRow& last) {
  const double steps = ns / static_cast<double>(std::max<std::int64_t>(1, last.step_ns));
  return std::max(kFewestSteps, static_cast<std::size_t>(std::min(steps, 1e9)));
}

}  // namespace

void LiveWatch::look(const std::vector<StepRow>& rows) {
  auto* group = rank_.group();
  if (!group || group->world() < 2 || !rank_.spec().train.settings.ddp.enabled) return;
  if (rows.empty() || rows.back().phase != result::StepPhase::kTimed) return;
  observer_.between_steps();
  if (begun_ && rows.size() < end_) return;
  if (begun_) exchange(rows);
  open_window(rows);
}

// Rank 0 knows how long a step takes; the others wait for its answer, so that all go on together.
void LiveWatch::open_window(const std::vector<StepRow>& rows) {
  std::uint64_t steps = steps_in(begun_ ? kEveryNs : kFirstAfterNs, rows.back());
  rank_.group()->broadcast(std::as_writable_bytes(std::span(&steps, 1)), 0);
  begin_ = rows.size(), end_ = begin_ + steps, begun_ = true;
  observer_.begin();
}

void LiveWatch::exchange(const std::vector<StepRow>& rows) {
  const auto world = static_cast<std::size_t>(rank_.group()->world());
  const std::size_t made = rows.size() - begin_;
  const std::size_t told = std::min({made, kMostSteps, std::max(kFewestSteps, kMostRows / world)});
  auto mine = steps_of(rank_, {rows.end() - static_cast<std::ptrdiff_t>(told), rows.end()});
  mine.rank.evidence = observer_.evidence(static_cast<std::int64_t>(made));
  const auto texts = rank_.group()->gather(result::rank_steps_text(mine));
  if (rank_.leads()) judge(texts, static_cast<std::int64_t>(told));
}

void LiveWatch::judge(const std::vector<std::string>& texts, std::int64_t steps) {
  std::vector<result::RankSteps> tables;
  for (const auto& text : texts) tables.push_back(result::rank_steps_from_json(nlohmann::json::parse(text)));
  result::Training last;
  last.ddp = true;
  result::summarize_training(last, tables, rank_.loader().samples_per_step() * rank_.spec().world_size);
  slowest_ = slowest_words(last);
  const auto warning = live_warning(last, steps);
  const auto about = last.late.empty() ? std::nullopt : std::optional(last.late.front().rank);
  if (!warning.empty() && warned_of_.insert(about).second) rank_.sink().emit(pass::notice_record(warning));
}

}  // namespace paceline::workload
