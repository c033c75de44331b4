// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/worker.h"
#include "workload/inference/inputs.h"

// Inputs and expected outputs as files, made in a worker: no tensor is ever in the coordinator's memory.
namespace paceline::run {

// Starts a worker for a pass that prepares something.
using PreparePass = std::function<WorkerOutcome(const workload::PassSpec&)>;

// Such a pass did not go well.
class PassFailure : public Error {
 public:
  explicit PassFailure(const WorkerOutcome& outcome)
      : Error(error_code_of(outcome.reason_code), outcome.reason), reason_code_(outcome.reason_code) {}
  [[nodiscard]] const std::string& reason_code() const { return reason_code_; }

 private:
  std::string reason_code_;
};

struct InputFiles {
  std::vector<std::string> files;  // one .npy an input; they may hold fewer samples than were asked for
  std::int64_t given = 0;          // samples that the user's files hold; 0: generated, or not counted
};
// PREFIX-0.npy and so on. Throws PassFailure.
InputFiles make_input_files(const workload::InputsTo& to, const PreparePass& run);

// A user's file as a reference file of so many samples. Throws PassFailure.
void make_expected_file(const workload::ExpectedTo& to, std::int64_t samples, const PreparePass& run);

}  // namespace paceline::run
