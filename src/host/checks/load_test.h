// SPDX-License-Identifier: MIT
// The load test: measures core sets and devices in turns, and judges each against its peers, twice before a
// verdict.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "host/checks/checks.h"
#include "host/checks/machine.h"

namespace paceline::host {

struct LoadReading {
  std::string what, unit;  // as in LoadFigure
  double per_s = 0;
  double spread = 0;  // of repetitions within the reading: interquartile range over median
};

// A core set or a device.
struct LoadUnit {
  std::string where;
  std::string kind;  // units of one kind are peers: "core set", the model of a GPU
  std::function<std::vector<LoadReading>()> measure;  // one round; throws where it cannot
};

struct LoadOptions {
  double seconds = 20;                // of each of the two measurements; at least two rounds
  std::vector<LoadFigure> expected;   // of a saved machine
  std::function<double()> now_s;      // default: a steady clock
  std::function<bool()> interrupted;  // default: never
};

struct LoadTest {
  std::vector<LoadFigure> figures;  // of a unit that was slow the first time, the faster measurement
  std::vector<CheckedRow> rows;     // one per unit
  bool disturbed = false;           // neighbours used the CPUs meanwhile
};

LoadTest run_load(const std::vector<LoadUnit>& units, const LoadOptions& options);

// The CPUs of each NUMA node that this thread may use; on one node, of each physical core.
std::vector<std::vector<int>> core_sets(const SystemFiles& files, const std::vector<int>& allowed);

// Multiply-adds in fp32, and copies between buffers of 16 MiB (large caches hold them), by a thread per CPU.
LoadUnit core_set_unit(const std::vector<int>& cpus);

}  // namespace paceline::host
