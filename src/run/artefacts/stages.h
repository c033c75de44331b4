// SPDX-License-Identifier: MIT
// Passes that write files, as targets. No tensor is ever in the coordinator's memory.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "process/worker.h"
#include "result/judged/reasons.h"
#include "run/artefacts/graph.h"

namespace paceline::run {

// Starts the worker of a pass that prepares something.
using PreparePass = std::function<process::WorkerOutcome(const pass::PassSpec&)>;

// Such a pass did not go well.
class PassFailure : public Error {
 public:
  PassFailure(pass::PassKind kind, const process::WorkerOutcome& outcome)
      : Error(result::reason_of(outcome.reason_code).error, outcome.reason),
        kind_(kind),
        reason_code_(outcome.reason_code),
        phase_(outcome.report.phase) {}
  [[nodiscard]] pass::PassKind kind() const { return kind_; }
  [[nodiscard]] const std::string& reason_code() const { return reason_code_; }
  [[nodiscard]] const std::string& phase() const { return phase_; }  // in which it ended

 private:
  pass::PassKind kind_;
  std::string reason_code_, phase_;
};

// The files that a pass writes, as its task says, or its reference. Its `make` throws PassFailure.
Target written_by(const pass::PassSpec& pass, const PreparePass& run, std::vector<Target> inputs = {});

// Makes a built-in model a file of this format; the batch stays free. `base` has the model.
pass::PassSpec export_pass(const pass::PassSpec& base, const std::string& format);
// Short name for everything that such a file depends on.
std::string model_file_key(const pass::PassSpec& export_pass);

pass::PassSpec inputs_pass(const pass::InputsTo& to);
// One .npy per input; they may contain fewer samples than requested.
std::vector<std::string> files_of(const pass::InputsTo& to);
// Makes a user's file a reference file of `samples` samples.
pass::PassSpec expected_pass(const pass::ExpectedTo& to, std::int64_t samples);

// Keeps what a reference pass depends on; nothing else of a case can change its outputs. Cases that differ in
// the rest share the reference.
pass::PassSpec reference_alone(const pass::PassSpec& reference);

}  // namespace paceline::run
