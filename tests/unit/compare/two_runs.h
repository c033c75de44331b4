// SPDX-License-Identifier: MIT
// Runs with invented processes, for tests of comparisons.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compare/runs.h"

namespace paceline::compare::test {

// Within 1 % of 1, in another order for each shift.
inline double wobble(int index, int shift) {
  return 1 + 0.004 * (static_cast<double>((index * 5 + shift) % 7) - 3);
}

struct RunSpec {
  std::string id = "run";
  std::vector<std::string> engines{"onnxruntime"};
  double p50_ms = 10;
  int processes = 6;
  int shift = 0;    // of the wobble
  int minute = -1;  // of the first start, one process per 4 s; -1: unknown
  int second = 0;
};

inline result::CaseResult case_of(const RunSpec& spec, const std::string& engine) {
  result::CaseResult one;
  one.case_id = one.benchmark.id = "resnet50-" + engine + "-b8";
  one.label = "resnet50 " + engine + " b8";
  one.run_id = spec.id;
  one.benchmark.model = "resnet50", one.benchmark.engine = engine, one.benchmark.batch_per_rank = 8;
  one.headline.p50_ns.value = spec.p50_ms * 1e6;
  auto& median = one.stats.quantiles.emplace_back();
  median.p = 0.5, median.value_ns = spec.p50_ms * 1e6;
  for (int i = 0; i < spec.processes; ++i) {
    result::Repetition r;
    r.index = i;
    r.p50_ns = spec.p50_ms * 1e6 * wobble(i, spec.shift);
    r.mean_ns = 1.01 * *r.p50_ns;
    r.memory.rss_peak_above_load_bytes = 100'000'000;
    if (spec.minute >= 0)
      r.started_utc = fmt::format("2026-11-21T01:{:02}:{:02}Z", spec.minute, (spec.second + 4 * i) % 60);
    one.repetitions.push_back(r);
  }
  one.memory.rss_peak_above_load_bytes = 100'000'000;
  return one;
}

inline SideRun side_of(const std::string& name, const RunSpec& spec) {
  SideRun side{{name, "results/" + spec.id, spec.id}, {}};
  side.stored.run.run_id = spec.id;
  for (const auto& engine : spec.engines) side.stored.run.cases.push_back(case_of(spec, engine));
  return side;
}

// Processes of the two alternate.
inline std::vector<SideRun> in_turns(RunSpec a, RunSpec b) {
  a.id = "one", b.id = "two", b.shift = 3;
  a.minute = b.minute = 10, b.second = 2;
  return {side_of("A", a), side_of("B", b)};
}

// The second begins ten minutes after the first.
inline std::vector<SideRun> apart(RunSpec a, RunSpec b) {
  a.id = "one", b.id = "two", b.shift = 3;
  a.minute = 10, b.minute = 20;
  return {side_of("A", a), side_of("B", b)};
}

inline const Figure& figure_named(const ComparedCase& one, const std::string& name) {
  for (const auto& figure : one.figures)
    if (figure.name == name) return figure;
  throw std::runtime_error("no figure " + name);
}

}  // namespace paceline::compare::test
