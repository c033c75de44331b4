// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_tables.h"

#include <cstddef>
#include <cstdint>

#include "analysis/traces/attached_evidence.h"

namespace paceline::analysis::traces {
namespace {

using result::StepPart;

// Parts of a step before and behind its last exchange of all ranks.
struct Halves {
  TimeParts before, behind;
};

bool follows(const RankTrace& one, std::size_t at) {
  return at > 0 && at < one.steps.size() && one.steps[at - 1].number + 1 == one.steps[at].number;
}

bool are_apart(const RankTrace& one) {
  for (std::size_t i = 1; i < one.steps.size(); ++i)
    if (follows(one, i)) return false;
  return true;
}

class Table {
 public:
  Table(const RankTrace& one, std::size_t rank, const Waits& waits, bool alone)
      : one_(one), rank_(rank), waits_(waits), alone_(alone) {
    for (std::size_t i = 0; i < one.steps.size(); ++i) halves_.push_back(halves_of(i));
  }

  [[nodiscard]] std::vector<result::StepRow> rows() const {
    const bool apart = are_apart(one_);
    std::vector<result::StepRow> rows;
    std::int64_t start = one_.steps.front().begin;
    for (std::size_t i = 0; i < one_.steps.size(); ++i) {
      start += pause_before(i);
      if (apart) rows.push_back(before_first(i, start));
      rows.push_back(row_of(i));
      rows.back().start_ns = start;
      start += rows.back().step_ns;
    }
    return rows;
  }

  // Sums over the rows of these steps.
  [[nodiscard]] std::int64_t communication(std::int64_t first, std::int64_t last) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < one_.steps.size(); ++i)
      if (one_.steps[i].number >= first && one_.steps[i].number <= last) sum += window(i).communication;
    return sum;
  }

 private:
  [[nodiscard]] bool has_exchange(std::size_t i) const { return alone_ || waits_.steps[i].level.has_value(); }

  [[nodiscard]] Halves halves_of(std::size_t i) const {
    const TraceStep& step = one_.steps[i];
    Halves halves{step, {}};
    const auto& level = waits_.steps[i].level;
    if (!level || alone_) return halves;
    halves.before = step.exchanges[(*level)[rank_]].until;
    halves.behind = step;
    halves.behind -= halves.before;
    return halves;
  }

  [[nodiscard]] TimeParts window(std::size_t i) const {
    TimeParts all = halves_[i].before;
    if (follows(one_, i)) all += halves_[i - 1].behind;
    return all;
  }

  [[nodiscard]] std::int64_t pause_before(std::size_t i) const {
    if (!follows(one_, i)) return 0;
    const TraceStep& before = one_.steps[i - 1];
    return one_.steps[i].begin - before.begin - before.length;
  }

  // Accounts take the optimizer of the row before: it comes behind the exchange.
  [[nodiscard]] result::StepRow row_of(std::size_t i) const {
    const TimeParts own = window(i);
    const std::int64_t optimizer =
        follows(one_, i + 1) ? window(i + 1).optimizer : halves_[i].behind.optimizer;
    result::StepRow row;
    row.step = one_.steps[i].number;
    row.step_ns = own.length - own.optimizer + optimizer;
    row.ns[StepPart::kDataWait] = own.data_wait, row.ns[StepPart::kForward] = own.forward;
    row.ns[StepPart::kBackward] = own.backward, row.ns[StepPart::kExposed] = own.exposed;
    row.ns[StepPart::kOptimizer] = optimizer;
    if (has_exchange(i)) row.buckets.emplace_back();
    if (!alone_) row.waited_ns = waits_.steps[i].waited[rank_];
    return row;
  }

  // Where no step follows another one, each counts from its own begin.
  [[nodiscard]] result::StepRow before_first(std::size_t i, std::int64_t start) const {
    result::StepRow row;
    row.step = one_.steps[i].number - 1;
    row.phase = result::StepPhase::kWarmup;
    row.ns[StepPart::kOptimizer] = window(i).optimizer;
    row.step_ns = row.ns[StepPart::kOptimizer];
    row.start_ns = start - row.step_ns;
    row.buckets.emplace_back();
    return row;
  }

  const RankTrace& one_;
  std::size_t rank_;
  const Waits& waits_;
  bool alone_;
  std::vector<Halves> halves_;
};

}  // namespace

double mean_communication(const std::vector<RankTrace>& ranks, std::size_t rank, const Waits& waits,
                          const std::vector<result::StepAccount>& accounts) {
  const Table table(ranks[rank], rank, waits, ranks.size() == 1);
  std::int64_t sum = 0, steps = 0;
  for (const auto& one : accounts) {
    sum += table.communication(one.step - one.steps + 1, one.step);
    steps += one.steps;
  }
  return static_cast<double>(sum) / static_cast<double>(steps);
}

std::vector<result::RankSteps> tables_of(const std::vector<RankTrace>& ranks, const Waits& waits) {
  std::vector<result::RankSteps> tables;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    result::RankSteps& table = tables.emplace_back();
    table.rank.rank = *ranks[r].rank;
    table.rank.host = ranks[r].host;
    if (ranks[r].attached)
      table.rank.evidence = evidence_of(ranks, r), table.rank.shares_cpus = shares_cpus(ranks, r);
    table.rows = Table(ranks[r], r, waits, ranks.size() == 1).rows();
  }
  return tables;
}

}  // namespace paceline::analysis::traces
