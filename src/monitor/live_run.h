// SPDX-License-Identifier: MIT
// A run of this tool in progress, from its live.json.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"

namespace paceline::monitor {

// Rank that computes longest among those that train together, and its share beyond the median rank's time.
struct LiveSlowest {
  std::int64_t rank = 0;
  double beyond = 0;
  std::string cause{};  // as evidence says; empty: unknown, or it is not late
};

struct LiveRun {
  std::int64_t process_id = 0;
  std::string folder, experiment;
  std::string label, kind;          // of the case and the pass: timed, check, …
  std::int64_t number = 0, of = 0;  // of timed passes; 0: none yet
  std::optional<double> seconds_left;
  std::string phase;  // empty: nothing was heard of the pass yet
  std::int64_t samples = 0;
  bool blocks = false;                        // samples are blocks of inferences
  std::optional<double> p50_ns, per_s;        // of inferences or steps so far
  std::optional<std::int64_t> step;           // training
  std::optional<double> samples_per_s, loss;  // of all ranks; the loss of training alone
  std::optional<LiveSlowest> slowest;
  std::string parts;  // of a step: "data 1.0 %  fwd 40.0 %"
};

// From live.json. What is missing or of another type is left out: the file may be of another version.
LiveRun read_live_file(const nlohmann::json& live);

nlohmann::json to_json(const LiveRun& run);
// Throws nlohmann's exceptions for another shape.
LiveRun live_run_of(const nlohmann::json& json);

// One line: "27/60  resnet50 b8 · rep 3  measuring  n=6  p50 331 ms  2 m 52 s left".
std::string in_words(const LiveRun& run);

}  // namespace paceline::monitor
