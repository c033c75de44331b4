// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/figures/pair_ratio.h"
#include "result/figures/summarize.h"
#include "result/stored/run_result.h"

// Queries about the cases of a run, shared by findings, gates and reports.
namespace paceline::analysis {

using result::CaseResult;
using result::kPairsForClaim;
using result::no_claim_reason;
using result::pairs_for_claim;
using result::RunResult;

// The requested precision of a model file that runs in its own precision.
inline constexpr std::string_view kOwnPrecision = "auto";

bool is_ok(const CaseResult& one);
bool has_fault(const CaseResult& one);  // one was injected on purpose
// Measured, and its median is the time of its work on a GPU: no sweep, no request that waits.
bool is_timed_on_gpu(const CaseResult& one);
const CaseResult* find_case(const RunResult& run, std::string_view case_id);

// True when "faster" or "slower" may be said: at least six process pairs, and an interval that excludes 1.
bool may_claim(const result::SpeedUp& speedup);

// True when a measurement ended at its limit without a result: one of its processes did not reach the
// precision asked for, and there are not six processes whose spread gives the interval instead.
bool inconclusive(const CaseResult& one);

// Says what a measured case leaves undecided: a cross-check without a ratio; with `strict` also an interval
// wider than requested, or outputs that could not be checked. Empty if nothing.
std::string open_question(const CaseResult& one, bool strict);

// Whether other cases of this run are compared with it.
bool is_baseline(const RunResult& run, const CaseResult& one);

// Measured cases of a model that no other beats in both latency and throughput, lowest latency first: a case
// is out when another has no higher median and no lower rate, and differs in one. Only points count here;
// beaten() looks at intervals.
std::vector<const CaseResult*> pareto_front(const RunResult& run, std::string_view model);
// True when another case of the model is better in latency and in throughput, by the intervals of both
// ratios.
bool beaten(const RunResult& run, const CaseResult& one);

// Names of the axes in which two benchmarks differ: model, engine, precision, layout, batch, world_size, …
std::vector<std::string> differing_axes(const result::Benchmark& a, const result::Benchmark& b);
std::string axis_value(const result::Benchmark& benchmark, std::string_view axis);
// Its parameters that not all of these cases share: "gpus=2 io=pinned".
std::string differing_params(const result::Benchmark& one, std::span<const CaseResult* const> among);

// A measured case beside its baseline, where the two differ in one axis only; strongest effect first.
struct Comparison {
  const CaseResult* one = nullptr;
  const CaseResult* baseline = nullptr;
};
std::vector<Comparison> comparisons(const RunResult& run, std::string_view axis);

// A copy of `one` whose speed-up is over `base`, not over its baseline.
result::CaseResult against(const RunResult& run, const CaseResult& one, const CaseResult& base);

// The case in words without one axis: "eager resnet50 at batch 8".
std::string describe_without(const result::Benchmark& benchmark, std::string_view axis);

// Describes an unfinished run (killed, interrupted, or still running) and how to continue it; else empty.
std::string unfinished_text(const RunResult& run);

std::string format_range(double low, double high, int digits = 3);  // "1.99–2.11"
bool has_interval(const result::Estimate& estimate);
std::string format_range_of(const result::Estimate& estimate);  // empty without an interval

// The rate that the case can sustain: its throughput; for a server its saturation, not the offered rate.
result::Estimate rate_of(const CaseResult& one);
std::string rate_words(const CaseResult& one);  // "512 inputs/s (505–519)"; only where there is a rate
std::string p50_words(const CaseResult& one);   // "p50 1.95 ms"

std::string list_labels(const std::vector<const CaseResult*>& cases, std::size_t shown = 3);

// The folder of the run: as given to the command, else the default in which it was written.
std::string run_folder(const RunResult& run);
// Quoted where a shell would interpret a blank or another character.
std::string shell_word(const std::string& text);
// The command that finishes the run and measures these cases again.
std::string resume_command(const RunResult& run);
std::string rerun_command(const RunResult& run, const std::vector<std::string>& case_ids);
// Adds their baselines, and to a baseline all cases compared with it: a case measured again alone has no
// pairs.
std::string rerun_with_baselines(const RunResult& run, std::vector<std::string> case_ids);
// False for training that has left checkpoints: without checkpoint.resume, repeating it is refused, and with
// it the epochs are already done, so that nothing is left to time.
bool measures_again(const CaseResult& one);

}  // namespace paceline::analysis
