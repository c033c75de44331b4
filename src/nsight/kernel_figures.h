// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace paceline::nsight {

// Launches of one kernel together. Shares are of 1, weighted by time; what the file does not have is missing.
struct KernelFigures {
  std::string name;
  std::size_t launches = 0;
  double time_ns = 0, share = 0;                // of all kernels in the file
  std::optional<double> compute, memory, dram;  // of the highest throughput that the hardware can sustain
  std::optional<double> tensor;                 // of cycles in which the tensor cores work
  std::optional<double> occupancy, occupancy_limit;  // warps: achieved, and what registers and so on allow
  std::optional<double> l1_hits, l2_hits;
  std::optional<double> bank_conflicts;            // of the wavefronts of shared memory
  std::optional<double> flops_per_s, bytes_per_s;  // of arithmetic in floating point; from and to DRAM
  std::optional<double> registers, waves;          // per thread; grids per turn of all multiprocessors
  std::string limited_by;                          // "registers": what limits the occupancy; empty: not known
  std::string stall;                               // "long scoreboard": why warps wait most; empty: not known
  std::optional<double> stall_share;               // of the cycles in which warps wait
};

}  // namespace paceline::nsight
