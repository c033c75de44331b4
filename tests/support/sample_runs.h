// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "result/stored/run_result.h"
#include "result/stored/samples.h"

// Deterministic runs for tests of findings and reports: invented figures, no measurement.
namespace paceline::testing {

struct CaseSpec {
  const char* model;
  const char* engine;
  const char* precision;
  std::int64_t batch;
  double p50_ms;  // with an interval of ±2 %
  double memory_mb;
  double ratio = 1;  // speed-up over the baseline, with an interval of ±3 %
  const char* layout = "contiguous";
};

inline constexpr int kRepetitions = 6;
inline constexpr int kSamplesPerRepetition = 60;

inline result::Estimate around(double value, double share, const char* method) {
  return {value, value * (1 - share), value * (1 + share), 0.95, method};
}

inline std::string id_of(const CaseSpec& spec) {
  std::string id = std::string(spec.model) + "-" + spec.engine + "-" + spec.precision;
  if (std::string(spec.layout) != "contiguous") id += std::string("-") + spec.layout;
  return id + "-b" + std::to_string(spec.batch);
}

inline result::Speed verdict_for(double ratio) {
  return ratio > 1.03   ? result::Speed::kFaster
         : ratio < 0.97 ? result::Speed::kSlower
                        : result::Speed::kEquivalent;
}

// Within 1 % of 1, in another order for each engine, precision and batch; the median over repetitions is 1.
inline double wobble(const CaseSpec& spec, int index) {
  const auto shift =
      static_cast<std::int64_t>(std::string(spec.engine).size() + std::string(spec.precision).size());
  return 1 + 0.004 * (static_cast<double>((index + shift + spec.batch) % 6) - 2.5);
}

inline result::Repetition repetition_of(const CaseSpec& spec, int index) {
  result::Repetition repetition;
  repetition.index = index;
  repetition.started_utc = "2026-11-21T01:45:00Z";
  repetition.n = kSamplesPerRepetition;
  repetition.p50_ns = spec.p50_ms * 1e6 * wobble(spec, index);
  repetition.mean_ns = 1.01 * *repetition.p50_ns;
  repetition.warmup_mode = "auto";
  repetition.warmup_iterations = 12;
  repetition.steady_state = "reached";
  repetition.converged = true;
  repetition.stop_reason = "converged";
  repetition.memory.rss_peak_above_load_bytes =
      static_cast<std::int64_t>((spec.memory_mb - 0.5 * index) * 1e6);
  return repetition;
}

inline result::CaseResult case_of(const CaseSpec& spec) {
  result::CaseResult one;
  one.case_id = id_of(spec);
  one.run_id = "20261121T014500Z-7f3a";
  auto& b = one.benchmark;
  b.id = one.case_id;
  b.model = spec.model;
  b.engine = spec.engine;
  b.precision = spec.precision;
  b.layout = spec.layout;
  b.batch_per_rank = spec.batch;
  b.threads = 2;
  one.label = b.model + " " + b.engine + " " + b.precision +
              (b.layout == "contiguous" ? "" : " " + b.layout) + " b" + std::to_string(spec.batch);
  one.complete = true;
  one.repetitions_planned = kRepetitions;
  auto& c = one.correctness;
  c.checked = c.passed = true;
  c.reference = "eager fp32, same weights and inputs";
  c.inputs = "random, seed 1";
  c.generated_inputs = true;
  c.samples = 64;
  c.judged_by = "outputs";
  c.judged_because = "random weights";
  c.max_rel_err = 0.004;
  c.centred_cosine = 0.995;
  c.top1_agreement = 1.0;
  c.max_rel_err_tolerance = 0.1;
  c.centred_cosine_tolerance = 0.98;
  one.precision = {b.precision, {{b.precision, 1.0, 53}}, "profiler"};
  one.headline = {"between_process", around(spec.p50_ms * 1e6, 0.02, "binomial_processes"), 0.012, 0.006};
  one.stats.n = kRepetitions * kSamplesPerRepetition;
  one.stats.min_ns = spec.p50_ms * 0.97e6;
  one.stats.max_ns = spec.p50_ms * 1.4e6;
  one.stats.mean_ns = spec.p50_ms * 1.01e6;
  one.stats.quantiles = {
      {0.5, spec.p50_ms * 1e6, spec.p50_ms * 0.98e6, spec.p50_ms * 1.02e6, 0.95, "binomial", 0.957, 360.0},
      {0.99, Number::missing("needs 368 independent samples, had 216"), {}, {}, 0.95, "", {}, {}}};
  one.stats.highest_claimable_p = 0.98;
  one.throughput.per_s = around(static_cast<double>(spec.batch) * 1e3 / spec.p50_ms, 0.02, "t_log_processes");
  one.first_iteration_ns = spec.p50_ms * 6e6;
  one.load_ns = 4.1e8;
  one.speedup = {"",
                 around(spec.ratio, 0.03, "binomial_processes"),
                 kRepetitions,
                 "between_process",
                 verdict_for(spec.ratio),
                 0.03};
  one.memory.rss_peak_above_load_bytes = static_cast<std::int64_t>(spec.memory_mb * 1e6);
  one.flops.model_flops_per_item = 8.178e9;
  one.flops.achieved_flops_per_s = 8.178e9 * static_cast<double>(spec.batch) * 1e3 / spec.p50_ms;
  one.flops.peak_measured_flops_per_s = b.precision == "fp32" ? 2.6e11 : 5.2e11;
  one.flops.peak_source = "convolution " + b.precision + ", 2 threads";
  one.flops.share_of_measured_peak = *one.flops.achieved_flops_per_s / *one.flops.peak_measured_flops_per_s;
  one.overhead.overhead_fraction = 0.00002;
  one.noise.foreign_cpu_frac = 0.01;
  for (int index = 0; index < kRepetitions; ++index) one.repetitions.push_back(repetition_of(spec, index));
  one.effective_settings = {{"threads", "2"},
                            {"interop_threads", "1"},
                            {"blas", "mkl"},
                            {"version.LibTorch", "2.15.0"},
                            {"version.oneDNN", "3.13"}};
  one.config_effective = {{"warmup_iterations", "auto"}, {"repetitions", kRepetitions}, {"seed", 42}};
  return one;
}

// Times of `one` over those of `base`, pair by pair: low, four times the middle, high.
inline void pair_with(result::CaseResult& one, const result::CaseResult& base, double low, double middle,
                      double high) {
  for (std::size_t i = 0; i < one.repetitions.size(); ++i) {
    const double ratio = i == 0 ? low : i + 1 == one.repetitions.size() ? high : middle;
    one.repetitions[i].p50_ns = ratio * *base.repetitions.at(i).p50_ns;
    one.repetitions[i].mean_ns = ratio * *base.repetitions.at(i).mean_ns;
  }
}

// As trained weights are judged: `changed` of `samples` answers are not the reference's (made-up interval
// ends).
inline void judge_by_answers(result::CaseResult& one, double changed, std::int64_t samples) {
  auto& c = one.correctness;
  c.judged_by = c.judged_because = "answers";
  c.answers = "classes";
  c.samples = samples;
  const double same = 1 - changed / static_cast<double>(samples);
  c.top1 = {same, same - 0.03, std::min(1.0, same + 0.01), 0.95, "clopper_pearson"};
  c.top1_agreement = same;
}

inline result::CaseResult without_numbers(const CaseSpec& spec, result::Outcome outcome, std::string code,
                                          std::string reason) {
  const result::CaseResult full = case_of(spec);
  result::CaseResult one;
  one.case_id = full.case_id;
  one.label = full.label;
  one.run_id = full.run_id;
  one.benchmark = full.benchmark;
  one.outcome = outcome;
  one.reason_code = std::move(code);
  one.reason = std::move(reason);
  return one;
}

inline nlohmann::json sample_environment() {
  return {{"cpu",
           {{"model", "EPYC (test)"},
            {"cores_online", 2},
            {"isa", {"avx2", "avx512f", "avx512_bf16"}},
            {"flags", {"constant_tsc"}},
            {"governor", nullptr}}},
          {"memory", {{"total_bytes", 24000000000}}},
          {"os", {{"kernel", "6.1.0"}}}};
}

inline void add_baselines(result::RunResult& run) {
  for (auto& one : run.cases)
    for (const auto& other : run.cases)
      if (other.benchmark.model == one.benchmark.model && other.benchmark.engine == "eager" &&
          other.benchmark.precision == "fp32" && other.benchmark.layout == "contiguous" &&
          other.benchmark.batch_per_rank == one.benchmark.batch_per_rank &&
          one.outcome == result::Outcome::kOk)
        one.speedup.baseline_case_id = other.case_id;
}

// Ten cases: eight measured (one of grade B that did not converge), one skipped, one that failed its accuracy
// check.
inline result::RunResult sample_run() {
  result::RunResult run;
  run.suite = {"0.1.0", "abc1234", "Release", "g++ 12.2"};
  run.experiment_name = "quickstart";
  run.run_id = "20261121T014500Z-7f3a";
  run.started_utc = "2026-11-21T01:45:00Z";
  run.finished_utc = "2026-11-21T01:50:11Z";
  run.command_line = "paceline run examples/plans/quickstart.yaml";
  run.outcome = "ok";
  for (const CaseSpec& spec :
       std::vector<CaseSpec>{{"resnet50", "eager", "fp32", 1, 54.1, 312},
                             {"resnet50", "torchscript", "fp32", 1, 47.9, 301, 1.13},
                             {"resnet50", "eager", "bf16", 1, 90.2, 280, 0.6},
                             {"resnet50", "eager", "fp32", 8, 512, 660},
                             {"resnet50", "eager", "bf16", 8, 249.8, 540, 2.05},
                             {"resnet50", "eager", "fp32", 8, 410, 655, 1.25, "channels_last"},
                             {"vit_b_16", "eager", "fp32", 1, 158, 640},
                             {"vit_b_16", "torchscript", "fp32", 1, 150, 636, 1.053}})
    run.cases.push_back(case_of(spec));
  run.cases.push_back(without_numbers({"resnet50", "eager", "fp16", 1, 1, 1}, result::Outcome::kSkipped,
                                      "unsupported",
                                      "fp16 arithmetic needs AVX512_FP16, which this CPU lacks"));
  run.cases.push_back(without_numbers({"vit_b_16", "eager", "bf16", 1, 1, 1}, result::Outcome::kFailed,
                                      "accuracy", "centred cosine 0.41 is below 0.98"));
  run.cases.back().log_tail = "check: 8 samples compared\ncentred cosine 0.41";
  auto& noisy = run.cases[7];
  noisy.grade = result::Grade::kB;
  noisy.grade_reasons = {"foreign CPU 6 %"};
  noisy.noise.foreign_cpu_frac = 0.06;
  noisy.repetitions[3].converged = false;
  noisy.repetitions[3].unmet = {"p50 half-width 2.4 % > 2 %"};
  run.environment = sample_environment();
  run.warnings = {"neighbours used 0.3 cores before the run"};
  add_baselines(run);
  return run;
}

// Right-skewed iteration times of every measured case, with one severe outlier a repetition.
inline std::map<std::string, std::vector<result::Sample>> sample_times(
    const result::RunResult& run, int per_repetition = kSamplesPerRepetition) {
  std::map<std::string, std::vector<result::Sample>> all;
  std::uint64_t state = 42;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  for (const auto& one : run.cases) {
    if (one.outcome != result::Outcome::kOk) continue;
    std::int64_t now = 1'000'000'000;
    for (std::int32_t repetition = 0; repetition < kRepetitions; ++repetition)
      for (std::int64_t index = 0; index < per_repetition; ++index) {
        const double tail = index == per_repetition / 2 ? 0.4 : -0.012 * std::log(1 - uniform());
        const auto host = static_cast<std::int64_t>(*one.headline.p50_ns.value * (0.99 + tail));
        all[one.case_id].push_back({repetition, 0, index, now, host, {}, 0});
        now += host;
      }
  }
  return all;
}

}  // namespace paceline::testing
