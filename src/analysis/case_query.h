// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "result/run_result.h"
#include "result/summarize.h"

// Questions about the cases of a run that findings, gates and reports share.
namespace paceline::analysis {

using result::kPairsForClaim;
using result::no_claim_reason;
using result::pairs_for_claim;

// The precision asked for where a model file's own runs.
inline constexpr std::string_view kOwnPrecision = "auto";

bool is_ok(const result::CaseResult& one);
const result::CaseResult* find_case(const result::RunResult& run, std::string_view case_id);

// True when "faster" or "slower" may be said: at least six process pairs, and an interval that excludes 1.
bool may_claim(const result::SpeedUp& speedup);

// True when a capped measurement decides too little: one of its processes did not reach the precision asked
// for, and there are not six processes whose spread gives the interval instead.
bool inconclusive(const result::CaseResult& one);

// The case others of this run are compared with.
bool is_baseline(const result::RunResult& run, const result::CaseResult& one);

// Measured cases of a model that no other beats in latency and throughput at once, lowest latency first: a
// case is out when another has a median no higher and a rate no lower, and differs in one. Points only: what
// intervals say is beaten().
std::vector<const result::CaseResult*> pareto_front(const result::RunResult& run, std::string_view model);
// True when another case of the model is better in latency and in throughput and both intervals lie apart, of
// cases that may be compared.
bool beaten(const result::RunResult& run, const result::CaseResult& one);

// Names of the axes in which two benchmarks differ: model, engine, precision, layout, batch, world_size, …
std::vector<std::string> differing_axes(const result::Benchmark& a, const result::Benchmark& b);
std::string axis_value(const result::Benchmark& benchmark, std::string_view axis);

// A measured case beside its baseline, where the two differ in one axis only; strongest effect first.
struct Comparison {
  const result::CaseResult* one = nullptr;
  const result::CaseResult* baseline = nullptr;
};
std::vector<Comparison> comparisons(const result::RunResult& run, std::string_view axis);

// A copy of `one` whose speed-up is the one against `base`, whatever its baseline is.
result::CaseResult against(const result::RunResult& run, const result::CaseResult& one,
                           const result::CaseResult& base);

// The case in words without one axis: "eager resnet50 at batch 8".
std::string describe_without(const result::Benchmark& benchmark, std::string_view axis);

// An unfinished run in words, with how to go on: it was killed, interrupted, or is still running. Empty for
// a finished one.
std::string unfinished_text(const result::RunResult& run);

std::string format_range(double low, double high, int digits = 3);  // "1.99–2.11"
std::string format_range_of(const result::Estimate& estimate);      // empty without an interval

// What the case can do: its throughput; of a server, whose own rate is what was offered, its saturation.
result::Estimate rate_of(const result::CaseResult& one);
std::string rate_words(
    const result::CaseResult& one);  // "512 inputs/s (505–519)"; only where there is a rate
std::string p50_words(const result::CaseResult& one);  // "p50 1.95 ms"

std::string list_labels(const std::vector<const result::CaseResult*>& cases, std::size_t shown = 3);

// Where the run is: as the command got it, else where it was written by default.
std::string run_folder(const result::RunResult& run);
// Quoted for a shell where a blank or a sign would be taken for something else.
std::string shell_word(const std::string& text);
// What to type to finish the run, and to measure these cases of it again.
std::string resume_command(const result::RunResult& run);
std::string rerun_command(const result::RunResult& run, const std::vector<std::string>& case_ids);
// False of training that has left checkpoints: without checkpoint.resume the same again is refused, and with
// it a number of epochs is done, so that nothing is left to time.
bool measures_again(const result::CaseResult& one);

}  // namespace paceline::analysis
