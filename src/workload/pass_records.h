// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "measure/calibration.h"
#include "measure/loop_types.h"
#include "workload/pass.h"
#include "workload/records.h"

// What the records of every pass are made with, whatever it runs.
namespace paceline::workload {

// The last phase of a pass: engines and libraries are left, and what they do then may hang or crash.
inline constexpr char kUnload[] = "unload";

// Tags every record with where it comes from.
class TaggedSink {
 public:
  TaggedSink(RecordSink& sink, const PassSpec& spec) : sink_(sink), spec_(spec) {}
  void emit(nlohmann::json record) {
    record["rank"] = spec_.rank;
    record["repetition"] = spec_.repetition;
    sink_.emit(record);
  }
  void phase(const std::string& name) { emit(phase_record(name)); }

 private:
  RecordSink& sink_;
  const PassSpec& spec_;
};

// What the loop, the calibrations and the kernel say, in the words of a result.
void fill_loop(result::Repetition& r, const measure::LoopConfig& config, const measure::LoopResult& loop);
result::Overhead overhead_of(const measure::Calibration& start, const measure::Calibration& end,
                             double timed_ns);
void finish_memory(result::Memory& memory);
ProgressRecord to_progress(const measure::Progress& p);

}  // namespace paceline::workload
