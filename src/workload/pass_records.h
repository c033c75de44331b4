// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "base/json.h"
#include "measure/loop_types.h"
#include "pass/pass.h"
#include "pass/records.h"

// Makes what the records of every pass have in common, whatever it runs.
namespace paceline::workload {

// The last phase of a pass. Engines and libraries are being left, and may hang or crash in it.
inline constexpr char kUnload[] = "unload";

// Tags every record with its origin.
class TaggedSink {
 public:
  TaggedSink(pass::RecordSink& sink, const pass::PassSpec& spec) : sink_(sink), spec_(spec) {}
  void emit(nlohmann::json record) {
    record["rank"] = spec_.rank;
    record["repetition"] = spec_.repetition;
    sink_.emit(record);
  }
  void phase(const std::string& name) { emit(pass::phase_record(name)); }

 private:
  pass::RecordSink& sink_;
  const pass::PassSpec& spec_;
};

// Fills in what the loop knows.
void fill_loop(result::Repetition& r, const measure::LoopConfig& config, const measure::LoopResult& loop);
pass::ProgressRecord to_progress(const measure::Progress& p);

}  // namespace paceline::workload
