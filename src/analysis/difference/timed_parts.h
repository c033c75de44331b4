// SPDX-License-Identifier: MIT
// Times of the parts of one side of a comparison: layers, operators, kernels, parts of a step, collectives.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace paceline::analysis::difference {

// Fewest iterations or steps per side for which a difference is claimed: below, no order-statistic interval
// of a median exists at 95 %, and Student's t has nearly no degrees of freedom.
inline constexpr std::size_t kFewestTimes = 6;

// Identity of a part, as far as its source knows it; unknown fields are empty.
struct PartSignature {
  std::string category;       // type of a layer, "operator", "kernel", "step part", name of a collective
  std::string name;           // as the engine, profiler or trace writes it
  std::string model_layer{};  // name of the layer in the model
  std::string precision{};
  std::string shape{};  // or its bucket: "25 MB"
};

struct TimedPart {
  PartSignature is;
  double calls = 1;                // per iteration or step
  std::vector<double> times_ns{};  // of all calls together, per iteration or step
  std::string note{};              // cause that the source knows: "waits for rank 3"
};

// Whether a part has enough times to be told apart from its spread; others count as time in no part.
inline bool is_timed(const TimedPart& part) {
  return part.times_ns.size() >= kFewestTimes;
}

struct TimedParts {
  std::vector<TimedPart> parts{};
  std::vector<double> total_ns{};  // per iteration or step; their count may differ from that of the parts
  std::string unit_words{};        // "inference", "step"
  bool ordered = true;             // by execution; else parts are matched by name
  // The times of a part are of single calls, each times the number of calls: parts were not measured
  // together, so that the whole is their sum and `total_ns` is empty.
  bool whole_is_sum = false;
  std::string missing{};  // why there are no parts; empty: there are
};

}  // namespace paceline::analysis::difference
