// SPDX-License-Identifier: MIT
#include "result/figures/two_states.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "stats/median.h"

namespace paceline::result {
namespace {

constexpr double kOrdered = 0.9;    // share of ordered pairs from which a quantity tells states apart
constexpr double kMostlyOne = 0.9;  // share of a process's samples in one state, for it to have stayed there
constexpr double kFewestWays = 20;  // in which the readings could be split between the states
constexpr double kSmallRatio = 1.03;  // of medians
constexpr double kSmallShare = 0.02;  // difference of shares

// Readings in the fast state and in the slow one.
struct Readings {
  std::string what, unit;
  std::array<std::vector<double>, 2> by_state{};
};

struct Split {
  double fast_ns = 0, slow_ns = 0;
  [[nodiscard]] std::size_t state_of(double ns) const { return ns * ns > fast_ns * slow_ns ? 1 : 0; }
};

// Figures of a process that may explain its state.
struct ProcessFigure {
  const char *what, *unit;
  Number (*get)(const Repetition&);
};
constexpr std::array kProcessFigures{
    ProcessFigure{"clock of the CPU", "MHz", [](const Repetition& r) { return r.noise.core_mhz; }},
    ProcessFigure{"waiting for a CPU", "1", [](const Repetition& r) { return r.noise.runq_wait_frac; }},
    ProcessFigure{"CPU time of other programs", "1",
                  [](const Repetition& r) { return r.noise.foreign_cpu_frac; }},
    ProcessFigure{"time stolen by the host", "1", [](const Repetition& r) { return r.noise.steal_frac; }},
    ProcessFigure{"time of fixed work", "ns", [](const Repetition& r) { return r.control_ns; }},
};

// Metrics of samplers that say more about the state than about the work, by their words.
struct SampledQuantity {
  std::string_view metric, words;
};
constexpr std::array kQuantities{
    SampledQuantity{"sm_clock", "SM clock"}, SampledQuantity{"memory_clock", "memory clock"},
    SampledQuantity{"power", "power"}, SampledQuantity{"temperature", "temperature"}};

// Ways to split n readings into groups of these sizes.
double ways(std::size_t a, std::size_t b) {
  double ways = 1;
  for (std::size_t i = 1; i <= std::min(a, b); ++i)
    ways *= static_cast<double>(a + b - i + 1) / static_cast<double>(i);
  return ways;
}

// Share of the pairs of a fast and a slow reading of which the slow one is larger; ties count by half.
double ordered_share(const std::vector<double>& fast, const std::vector<double>& slow) {
  auto sorted = fast;
  std::ranges::sort(sorted);
  double larger = 0;
  for (const double one : slow) {
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), one);
    const auto above = std::upper_bound(below, sorted.end(), one);
    larger += static_cast<double>(below - sorted.begin()) + static_cast<double>(above - below) / 2;
  }
  return larger / static_cast<double>(fast.size() * slow.size());
}

bool is_large(const Readings& r, double fast, double slow) {
  if (r.unit == "1") return std::abs(slow - fast) >= kSmallShare;
  const double less = std::min(fast, slow);
  return less > 0 && std::max(fast, slow) / less >= kSmallRatio;
}

// How surely a quantity tells the states apart: from kOrdered to 1; 0: not.
double sureness(const Readings& r, StateSign& sign) {
  const auto& [fast, slow] = r.by_state;
  sign = {r.what, r.unit, stats::median(fast), stats::median(slow)};
  const double share = ordered_share(fast, slow);
  const double sure = std::max(share, 1 - share);
  return sure >= kOrdered && is_large(r, sign.fast, sign.slow) ? sure : 0;
}

void conclude(TwoStates& states, const std::vector<Readings>& all) {
  std::vector<std::pair<double, StateSign>> found;
  for (const auto& one : all) {
    if (ways(one.by_state[0].size(), one.by_state[1].size()) < kFewestWays) continue;
    StateSign sign;
    const double sure = sureness(one, sign);
    if (sure > 0)
      found.emplace_back(sure, std::move(sign));
    else if (std::ranges::find(states.alike, one.what) == states.alike.end())
      states.alike.push_back(one.what);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), [](const auto& one) { return one.first; });
  for (auto& [sure, sign] : found) states.signs.push_back(std::move(sign));
}

using Counts = std::array<std::size_t, 2>;

std::map<std::int64_t, Counts> counts_by_process(const std::vector<Sample>& samples, const Split& split) {
  std::map<std::int64_t, Counts> counts;
  for (const auto& sample : samples)
    if (sample.counts() && !sample.lost())
      ++counts[sample.repetition][split.state_of(static_cast<double>(sample.host_ns))];
  return counts;
}

double slow_share(const Counts& counts) {
  return static_cast<double>(counts[1]) / static_cast<double>(counts[0] + counts[1]);
}

bool stayed(const Counts& counts) {
  return std::abs(slow_share(counts) - 0.5) >= kMostlyOne - 0.5;
}

std::vector<Readings> process_readings(const CaseResult& one, const std::map<std::int64_t, Counts>& counts) {
  std::vector<Readings> all;
  for (const auto& figure : kProcessFigures) {
    Readings readings{figure.what, figure.unit};
    for (const auto& repetition : one.repetitions) {
      const auto process = counts.find(repetition.index);
      const auto value = figure.get(repetition);
      if (process != counts.end() && value)
        readings.by_state[slow_share(process->second) > 0.5 ? 1 : 0].push_back(*value);
    }
    all.push_back(std::move(readings));
  }
  return all;
}

// State of the sample that a moment fell into; none between two.
std::optional<std::size_t> state_at(const std::vector<const Sample*>& samples, double at_ns,
                                    const Split& split) {
  const auto after = std::ranges::upper_bound(
      samples, at_ns, {}, [](const Sample* s) { return static_cast<double>(s->start_ns); });
  if (after == samples.begin()) return std::nullopt;
  const auto& sample = **std::prev(after);
  const auto duration = static_cast<double>(sample.host_ns);
  if (at_ns > static_cast<double>(sample.start_ns) + duration) return std::nullopt;
  return split.state_of(duration);
}

void add_readings(Readings& into, const SampledSeries& series, const std::vector<const Sample*>& samples,
                  const Split& split) {
  for (std::size_t i = 0; i < series.numbers.size(); ++i) {
    const double at = static_cast<double>(samples.front()->start_ns) + series.times_s[i] * 1e9;
    if (const auto state = state_at(samples, at, split)) into.by_state[*state].push_back(series.numbers[i]);
  }
}

// A window begins where its first sample does. Devices are told apart, the windows of one are not.
std::vector<Readings> sampled_readings(const std::vector<Sample>& samples,
                                       const std::vector<SampledWindow>& windows, const Split& split) {
  std::map<std::int64_t, std::vector<const Sample*>> by_process;
  for (const auto& sample : samples)
    if (sample.counts() && !sample.lost()) by_process[sample.repetition].push_back(&sample);
  for (auto& [process, own] : by_process) std::ranges::sort(own, {}, &Sample::start_ns);
  std::map<std::pair<std::string_view, std::string>, Readings> found;
  for (const auto& window : windows) {
    const auto own = by_process.find(window.repetition);
    if (own == by_process.end()) continue;
    for (const auto& series : window.series) {
      const auto* quantity = std::ranges::find(kQuantities, series.metric, &SampledQuantity::metric);
      if (quantity == kQuantities.end() || series.numbers.size() != series.times_s.size()) continue;
      auto& readings = found[{quantity->words, series.device}];
      readings.what = quantity->words, readings.unit = series.unit;
      add_readings(readings, series, own->second, split);
    }
  }
  std::vector<Readings> all;
  for (auto& [key, readings] : found) all.push_back(std::move(readings));
  return all;
}

}  // namespace

std::optional<TwoStates> two_states(const CaseResult& one, const std::vector<Sample>& samples,
                                    const std::vector<SampledWindow>& windows) {
  auto modes = one.noise.modes;
  if (modes.size() < 2) return std::nullopt;
  std::ranges::stable_sort(modes, std::ranges::greater(), &Noise::Mode::share);
  const auto [fast, slow] = std::minmax(modes[0].median_ns, modes[1].median_ns);
  const Split split{fast, slow};
  const auto counts = counts_by_process(samples, split);
  if (counts.empty()) return std::nullopt;
  Counts sum{};
  for (const auto& [process, own] : counts) sum[0] += own[0], sum[1] += own[1];
  TwoStates states{.fast_ns = fast, .slow_ns = slow, .slow_share = slow_share(sum)};
  states.by_process =
      counts.size() > 1 && std::ranges::all_of(counts, [](const auto& c) { return stayed(c.second); });
  conclude(states,
           states.by_process ? process_readings(one, counts) : sampled_readings(samples, windows, split));
  if (states.signs.empty() && states.alike.empty())
    states.unread =
        states.by_process ? "too few processes were in each" : "nothing was read beside the samples";
  return states;
}

}  // namespace paceline::result
