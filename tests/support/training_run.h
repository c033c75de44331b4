// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/figures/aligned_steps.h"
#include "result/figures/summarize.h"
#include "result/figures/summarize_training.h"
#include "result/judged/training_scaling.h"
#include "result/stored/run_result.h"

// A deterministic run of a scaling plan for tests of findings and reports: invented steps, real statistics.
namespace paceline::testing {

struct WorldSpec {
  std::int64_t ranks = 1;
  bool ddp = false;
  double forward_ms = 30;
  double exposed_ms = 0;
  double data_wait_ms = 1;
  double late = 1;  // the last rank computes so much longer
};

inline result::StepRow training_step(std::int64_t step, const WorldSpec& spec, double factor) {
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  using Part = result::StepPart;
  result::StepRow row;
  row.step = step;
  row.epoch = step / 20;
  row.phase = step < 4 ? result::StepPhase::kWarmup : result::StepPhase::kTimed;
  row.ns[Part::kDataWait] = ns(spec.data_wait_ms);
  row.ns[Part::kForward] = ns(spec.forward_ms * factor + 0.01 * static_cast<double>(step % 7));
  row.ns[Part::kBackward] = ns(60 * factor);
  // The ranks that are on time wait for the late one; one step in ten exchanges twice as long.
  row.ns[Part::kExposed] =
      ns(spec.exposed_ms * (step % 10 == 0 ? 2 : 1)) + ns((spec.late - factor) * (spec.forward_ms + 60));
  row.ns[Part::kOptimizer] = ns(5);
  row.step_ns = row.ns.sum();
  row.start_ns = step * ns(250);
  row.loss = 7 - 0.05 * static_cast<double>(step);
  row.correct = step % 8;
  row.judged = 8;
  row.learning_rate = 0.1;
  const std::int64_t ready = row.ns[Part::kDataWait] + row.ns[Part::kForward] + row.ns[Part::kBackward];
  if (spec.ddp)
    row.buckets = {{1 << 20, ready - ns(30), ready - ns(10)},
                   {25 << 20, ready, ready + row.ns[Part::kExposed]}};
  return row;
}

inline std::vector<result::RankSteps> training_tables(const WorldSpec& spec) {
  std::vector<result::RankSteps> tables;
  for (std::int64_t rank = 0; rank < spec.ranks; ++rank) {
    result::RankSteps table;
    table.rank.rank = rank;
    table.rank.host = "node-a";
    table.rank.cpus = std::to_string(rank);
    table.rank.threads = 1;
    table.rank.rss_peak_bytes = 900'000'000;
    table.loader_samples_per_s = 400.0;
    for (std::int64_t step = 0; step < 40; ++step)
      table.rows.push_back(training_step(step, spec, rank + 1 == spec.ranks ? spec.late : 1));
    tables.push_back(table);
  }
  return tables;
}

inline result::CaseResult training_case(const WorldSpec& spec) {
  constexpr std::int64_t kBatch = 8;
  result::CaseResult one;
  const std::string ddp = spec.ddp && spec.ranks == 1 ? " ddp=true" : "";
  one.label = "resnet50 train fp32 b8 r" + std::to_string(spec.ranks) + ddp;
  one.case_id = "resnet50-train-fp32-b8-r" + std::to_string(spec.ranks) + (ddp.empty() ? "" : "-ddp");
  auto& b = one.benchmark;
  b.id = one.case_id;
  b.kind = WorkloadKind::kTraining;
  b.model = "resnet50";
  b.precision = "fp32";
  b.batch_per_rank = kBatch;
  b.world_size = spec.ranks;
  if (!ddp.empty()) b.params["ddp.enabled"] = "true";
  one.complete = true;
  std::vector<result::Sample> samples;
  for (std::int32_t index = 0; index < 6; ++index) {
    result::Repetition r;
    r.index = index;
    auto& t = r.payload.emplace<result::Training>();
    t.ddp = spec.ddp;
    t.backend = spec.ddp ? "gloo" : "";
    t.launcher = "paceline";
    t.parameters = 25'557'032;
    t.parameter_tensors = 161;
    result::summarize_training(t, training_tables(spec), kBatch * spec.ranks);
    const auto steps = result::step_samples(training_tables(spec), index);
    result::summarize_repetition(r, result::latencies_ns(steps));
    samples.insert(samples.end(), steps.begin(), steps.end());
    one.repetitions.push_back(std::move(r));
  }
  result::SummaryOptions options;
  options.items_per_iteration = static_cast<double>(kBatch * spec.ranks);
  result::summarize(one, samples, options);
  one.payload.set(result::combined_training(one.repetitions));
  if (spec.ranks > 1)
    one.training()->notes = {
        "ranks are CPU processes over gloo: their throughput and its scaling do not speak "
        "for GPUs"};
  return one;
}

inline result::RunResult training_run(const std::vector<WorldSpec>& worlds) {
  result::RunResult run;
  run.experiment_name = "scaling";
  run.run_id = "20261121T200000Z-0001";
  run.started_utc = "2026-11-21T20:00:00Z";
  run.outcome = "ok";
  for (const auto& spec : worlds) run.cases.push_back(training_case(spec));
  std::vector<result::CaseResult*> cases;
  for (auto& one : run.cases) cases.push_back(&one);
  result::compare_scaling(cases);
  return run;
}

// No DDP, DDP with one rank, two ranks that scale well, four that do not.
inline result::RunResult training_run() {
  return training_run({{.ranks = 1},
                       {.ranks = 1, .ddp = true, .exposed_ms = 0.5},
                       {.ranks = 2, .ddp = true, .exposed_ms = 4},
                       {.ranks = 4, .ddp = true, .exposed_ms = 16, .data_wait_ms = 8, .late = 1.08}});
}

}  // namespace paceline::testing
