// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

// Measures what a plain loop of multiply-adds in fp32 reaches here: a ceiling that needs no library.
namespace paceline::host {

struct FmaRate {
  std::string instructions;         // "avx512f": the instruction set that the loop was compiled for
  std::vector<double> flops_per_s;  // of each repetition, all threads together; a multiply-add counts as two
};

// Runs `threads` threads side by side, once for each instruction set that this CPU has and the loop is
// written for; empty where it has none of them. Throws Error(kUnavailable) where not all threads can be
// started.
std::vector<FmaRate> measure_fma_rates(int threads, int repetitions = 15, double seconds_each = 0.02);

}  // namespace paceline::host
