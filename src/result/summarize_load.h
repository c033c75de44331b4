// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "result/case_result.h"
#include "result/samples.h"

// Samples of the load scenarios to their figures (methodology: load scenarios). Pure.
namespace paceline::result {

// What a worker can tell (saturation, offered rate, arrival, SLO) stands in `load`; everything that follows
// from the samples of its process is filled in.
void summarize_load(Load& load, const std::string& scenario, const std::vector<Sample>& samples);

// The harness, not the server, was too slow: free lanes noticed requests late. Latencies are too long then,
// so that an objective that is met stays met, and one that is missed cannot be said to be.
bool issued_late(const Load& load);

// "120/s holds; 239/s was tried and missed", or "at least 120/s: " and why no rate above it is known to miss.
std::string capacity_in_words(const Capacity& capacity);

// Over the repetitions of a case: sums of counts, the worst of every figure that can be bad.
std::vector<Load> combined_load(const std::vector<Repetition>& repetitions,
                                const std::vector<Sample>& samples);

// Times from one completion to the next of one process, in ns: what throughput is made of. Closed loop: while
// every lane is in use; offline: from the first start on.
std::vector<double> completion_periods(const std::string& scenario, const std::vector<Load>& load,
                                       const std::vector<Sample>& samples);

// Withdraws the quantiles that the run is too short for, with how many requests are missing.
void apply_length_rule(CaseResult& result);

// Grade C for latencies that the load makes invalid.
void apply_load_rules(CaseResult& result);

}  // namespace paceline::result
