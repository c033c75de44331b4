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
constexpr double kAlpha = 0.05;     // of a false sign, over all quantities that are compared
constexpr double kSmallRatio = 1.03;  // of medians
constexpr double kSmallShare = 0.02;  // difference of shares

// Readings in the fast state and in the slow one, each by itself.
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
    ProcessFigure{"clock of the fastest core", "MHz", [](const Repetition& r) { return r.noise.core_mhz; }},
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
constexpr std::array kQuantities{SampledQuantity{"sm_clock", "SM clock"},
                                 SampledQuantity{"memory_clock", "memory clock"},
                                 SampledQuantity{"power", "power"}};

// Two-sided p of the Mann-Whitney test, for the share of ordered pairs among a and b readings: exact for few
// of them (Mann and Whitney 1947, their recursion without ties), else by the normal distribution.
double p_of_order(double share, std::size_t a, std::size_t b) {
  constexpr std::size_t kFewPairs = 400;
  const std::size_t pairs = a * b;
  const auto all = static_cast<double>(pairs);
  const double least = std::min(share, 1 - share) * all;
  if (pairs > kFewPairs)
    return std::erfc((all / 2 - least) / std::sqrt(all * static_cast<double>(a + b + 1) / 6));
  // orders[i][u]: of i slow and the fast readings so far, with u pairs in order.
  std::vector<std::vector<double>> orders(a + 1, std::vector<double>(pairs + 1));
  for (auto& of : orders) of[0] = 1;
  for (std::size_t fast = 1; fast <= b; ++fast)
    for (std::size_t i = 1; i <= a; ++i)
      for (std::size_t u = fast; u <= pairs; ++u) orders[i][u] += orders[i - 1][u - fast];
  double below = 0, sum = 0;
  for (std::size_t u = 0; u <= pairs; ++u) {
    sum += orders[a][u];
    if (static_cast<double>(u) <= std::ceil(least)) below += orders[a][u];
  }
  return std::min(1.0, 2 * below / sum);
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
double sureness(const Readings& r, double alpha, StateSign& sign) {
  const auto& [fast, slow] = r.by_state;
  sign = {r.what, r.unit, stats::median(fast), stats::median(slow)};
  const double share = ordered_share(fast, slow);
  const double sure = std::max(share, 1 - share);
  const bool certain = p_of_order(share, slow.size(), fast.size()) <= alpha;
  return certain && sure >= kOrdered && is_large(r, sign.fast, sign.slow) ? sure : 0;
}

bool in_both(const Readings& r) {
  return !r.by_state[0].empty() && !r.by_state[1].empty();
}

void conclude(TwoStates& states, const std::vector<Readings>& all) {
  const auto compared = std::max<std::ptrdiff_t>(1, std::ranges::count_if(all, in_both));
  const double alpha = kAlpha / static_cast<double>(compared);
  std::vector<std::pair<double, StateSign>> found;
  for (const auto& one : all) {
    if (!in_both(one)) continue;
    const bool too_few = p_of_order(1, one.by_state[1].size(), one.by_state[0].size()) > alpha;
    if (too_few) continue;
    StateSign sign;
    const double sure = sureness(one, alpha, sign);
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

// State of the sample that a moment fell into; none between two. A sample with the mean of several inferences
// lasts until the next one.
std::optional<std::size_t> state_at(const std::vector<const Sample*>& samples, double at_ns,
                                    const Split& split) {
  const auto after = std::ranges::upper_bound(
      samples, at_ns, {}, [](const Sample* s) { return static_cast<double>(s->start_ns); });
  if (after == samples.begin()) return std::nullopt;
  const auto& sample = **std::prev(after);
  const auto duration = static_cast<double>(sample.host_ns);
  const bool is_mean = (sample.flags & (kSampleBatched | kSamplePipelined)) != 0 && after != samples.end();
  if (!is_mean && at_ns > static_cast<double>(sample.start_ns) + duration) return std::nullopt;
  return split.state_of(duration);
}

// The median of each stretch in one state: readings that follow one another depend on each other.
void add_readings(Readings& into, const SampledSeries& series, const std::vector<const Sample*>& samples,
                  const Split& split) {
  std::optional<std::size_t> before;
  std::vector<double> stretch;
  const auto end = [&] {
    if (!stretch.empty()) into.by_state[*before].push_back(stats::median(stretch));
    stretch.clear();
  };
  for (std::size_t i = 0; i < series.numbers.size(); ++i) {
    const double at = static_cast<double>(samples.front()->start_ns) + series.times_s[i] * 1e9;
    const auto state = state_at(samples, at, split);
    if (!state) continue;
    if (state != before) end();
    before = state;
    stretch.push_back(series.numbers[i]);
  }
  end();
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
  if (!states.by_process && one.load()) {
    states.unread = "requests overlap, so that a reading is of several";
    return states;
  }
  conclude(states,
           states.by_process ? process_readings(one, counts) : sampled_readings(samples, windows, split));
  if (states.signs.empty() && states.alike.empty())
    states.unread = states.by_process ? "too few processes were in each"
                    : windows.empty() ? "nothing was read beside the samples"
                                      : "too few readings were in each";
  return states;
}

}  // namespace paceline::result
