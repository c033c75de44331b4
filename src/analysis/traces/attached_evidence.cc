// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_evidence.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace paceline::analysis::traces {
namespace {

using attach::StepCounter;

constexpr double kLeastCpus_ns = 200e6;  // of the CPUs: the kernel counts their time in steps of 10 ms

// Counters that were read together.
struct Reading {
  std::int64_t at_ns = 0;
  CounterValues values{};
};

std::vector<Reading> readings_in(const attach::StepFile& file) {
  std::vector<Reading> all;
  for (const auto& record : file.records) {
    if (static_cast<attach::StepKind>(record.kind) != attach::StepKind::kCounter) continue;
    if (record.group >= static_cast<std::uint16_t>(StepCounter::kCount)) continue;
    if (all.empty() || all.back().at_ns != record.begin_ns) all.push_back({record.begin_ns});
    all.back().values.at(record.group) = record.value;
  }
  return all;
}

// Whether the counter is the growth since the reading before, or no count at all.
bool stands_alone(std::size_t counter) {
  return counter == static_cast<std::size_t>(StepCounter::kRunQueueWait) ||
         counter == static_cast<std::size_t>(StepCounter::kCpuSet);
}

// Steps that end between two readings. Steps and readings are in order.
struct Window {
  const Reading *from, *to;
  std::int64_t steps = 0;
  bool steady = true;
};

std::vector<Window> windows_of(const std::vector<Reading>& readings, const std::vector<Round>& rounds,
                               const std::vector<UnsteadyStep>& unsteady) {
  std::set<std::int64_t> others;
  for (const auto& one : unsteady) others.insert(one.number);
  std::vector<Window> windows;
  auto round = rounds.begin();
  for (std::size_t i = 1; i < readings.size(); ++i) {
    Window window{&readings[i - 1], &readings[i]};
    while (round != rounds.end() && round->span.end <= window.from->at_ns) ++round;
    for (; round != rounds.end() && round->span.end <= window.to->at_ns; ++round) {
      ++window.steps;
      if (others.contains(round->number)) window.steady = false;
    }
    if (window.steps > 0) windows.push_back(window);
  }
  const auto is_steady = [](const Window& one) { return one.steady; };
  if (std::ranges::any_of(windows, is_steady)) std::erase_if(windows, std::not_fn(is_steady));
  return windows;
}

// A counter that one reading lacks is known nowhere.
void add(const Window& window, CounterGrowth& growth) {
  const bool first = growth.steps == 0;
  growth.steps += window.steps;
  growth.wall_ns += static_cast<double>(window.to->at_ns - window.from->at_ns);
  for (std::size_t i = 0; i < growth.values.size(); ++i) {
    const auto& before = window.from->values[i];
    const auto& after = window.to->values[i];
    auto& sum = growth.values[i];
    if (!before || !after || (!first && !sum)) {
      sum.reset();
      continue;
    }
    if (i == static_cast<std::size_t>(StepCounter::kCpuSet))
      sum = after;
    else
      sum = sum.value_or(0) + (stands_alone(i) ? *after : *after - std::min(*before, *after));
  }
}

const CounterGrowth& growth_of(const RankTrace& one) {
  return one.attached->counters;
}

Number missing() {
  return Number::missing("not counted in the step files");
}

Number per_step(const CounterGrowth& growth, StepCounter counter) {
  const auto value = growth.of(counter);
  return value && growth.steps > 0 ? Number(*value / static_cast<double>(growth.steps)) : missing();
}

bool have_the_same_cpus(const RankTrace& a, const RankTrace& b) {
  return a.host == b.host && growth_of(a).of(StepCounter::kCpuSet) == growth_of(b).of(StepCounter::kCpuSet);
}

// CPU time of all ranks that may use the CPUs of this one, in its own time; none where processes of their
// own are beside them.
std::optional<double> ranks_cpu_ns(const std::vector<RankTrace>& ranks, std::size_t rank) {
  const auto& own = growth_of(ranks[rank]);
  double sum = 0;
  for (const auto& one : ranks) {
    const auto& growth = growth_of(one);
    if (!have_the_same_cpus(one, ranks[rank])) continue;
    if (one.attached->loads_in_processes) return std::nullopt;
    const auto cpu = growth.of(StepCounter::kCpuTime);
    if (!cpu || growth.wall_ns <= 0) return std::nullopt;
    sum += *cpu * own.wall_ns / growth.wall_ns;
  }
  return sum;
}

void set_cpus(const std::vector<RankTrace>& ranks, std::size_t rank, result::RankEvidence& evidence) {
  const auto& own = growth_of(ranks[rank]);
  const auto busy = own.of(StepCounter::kBusyCpus), stolen = own.of(StepCounter::kStolenCpus),
             all = own.of(StepCounter::kAllCpus);
  if (!busy || !stolen || !all || *all < kLeastCpus_ns) return;
  evidence.steal_frac = *busy + *stolen > 0 ? *stolen / (*busy + *stolen) : 0;
  if (const auto used = ranks_cpu_ns(ranks, rank))
    evidence.foreign_frac = std::max(0.0, *busy - *used) / *all;
}

}  // namespace

bool shares_cpus(const std::vector<RankTrace>& ranks, std::size_t rank) {
  const auto& own = ranks[rank];
  if (!own.attached->device.empty() || !growth_of(own).of(StepCounter::kCpuSet)) return false;
  return std::ranges::any_of(
      ranks, [&](const RankTrace& other) { return &other != &own && have_the_same_cpus(other, own); });
}

CounterGrowth counter_growth(const attach::StepFile& file, const std::vector<Round>& rounds,
                             const std::vector<UnsteadyStep>& unsteady) {
  const auto readings = readings_in(file);
  CounterGrowth growth;
  for (const auto& window : windows_of(readings, rounds, unsteady)) add(window, growth);
  return growth;
}

result::RankEvidence evidence_of(const std::vector<RankTrace>& ranks, std::size_t rank) {
  result::RankEvidence evidence;
  const auto& growth = growth_of(ranks[rank]);
  evidence.runq_wait_ns = per_step(growth, StepCounter::kRunQueueWait);
  evidence.cpu_ns = per_step(growth, StepCounter::kCpuTime);
  evidence.system_ns = per_step(growth, StepCounter::kSystemTime);
  evidence.minor_faults = per_step(growth, StepCounter::kMinorFaults);
  evidence.major_faults = per_step(growth, StepCounter::kMajorFaults);
  evidence.throttled_ns = per_step(growth, StepCounter::kThrottled);
  evidence.steal_frac = evidence.foreign_frac = evidence.core_mhz = evidence.device_mhz = missing();
  set_cpus(ranks, rank, evidence);
  return evidence;
}

}  // namespace paceline::analysis::traces
