// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/stored/case_result.h"
#include "result/stored/samples.h"

// Summarizes samples of the load scenarios to their figures (methodology: load scenarios). Pure.
namespace paceline::result {

// `load` holds what only a worker knows (saturation, offered rate, arrival, SLO); everything that follows
// from the samples of its process is filled in.
void summarize_load(Load& load, Scenario scenario, const std::vector<Sample>& samples);

// True when the harness, not the server, was too slow: free lanes noticed requests late. Latencies are then
// too long, so that "met" stays valid and "missed" cannot be said.
bool issued_late(const Load& load);

// "120/s holds; 239/s was tried and missed", or "at least 120/s: " and why no higher rate is known to miss.
std::string capacity_in_words(const Capacity& capacity);

// "schedule flow.csv (CSV, column timestamp_ms, in ms): 3000 of 5000 times, 2 times as fast".
std::string replay_in_words(const Replay& replay);

// Combines the repetitions of a case: sums of counts, and the worst of every figure that can be bad.
std::optional<Load> combined_load(const std::vector<Repetition>& repetitions,
                                  const std::vector<Sample>& samples);

// Times from one completion to the next in one process, in ns: the basis of throughput. Closed loop: while
// all lanes are in use; offline: from the first start.
std::vector<double> completion_periods(Scenario scenario, std::int64_t concurrency,
                                       const std::vector<Sample>& samples);

// Withdraws the quantiles for which the run is too short, saying how many requests are missing.
void apply_length_rule(CaseResult& result);

// Gives grade C to latencies that the load makes invalid.
void apply_load_rules(CaseResult& result);

}  // namespace paceline::result
