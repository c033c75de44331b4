// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <vector>

// Measures what plain loops reach here, as ceilings that need no library: multiply-adds in fp32, and copies.
namespace paceline::host {

struct FmaRate {
  std::string instructions;         // "avx512f": the instruction set that the loop was compiled for
  std::vector<double> flops_per_s;  // of each repetition, all threads together; a multiply-add counts as two
};

// Runs `threads` threads side by side, once for each instruction set that this CPU has and the loop is
// written for; empty where it has none of them. Throws Error(kUnavailable) where not all threads can be
// started.
std::vector<FmaRate> measure_fma_rates(int threads, int repetitions = 15, double seconds_each = 0.02);

// Copies between two buffers, each of this number of bytes per thread. They should be far larger than the
// caches. Bytes read and written per second, of each repetition, all threads together. Throws
// Error(kUnavailable) where memory or threads are missing.
std::vector<double> measure_copy_rates(int threads, std::size_t bytes_of_thread, int repetitions = 15);

}  // namespace paceline::host
