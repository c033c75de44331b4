// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "process/worker.h"
#include "result/figures/picture_parts.h"
#include "result/judged/reasons.h"

// Inputs and expected outputs as files, made in a worker: no tensor is ever in the coordinator's memory.
namespace paceline::run {

// Starts a worker for a pass that prepares something.
using PreparePass = std::function<process::WorkerOutcome(const pass::PassSpec&)>;

// Such a pass did not go well.
class PassFailure : public Error {
 public:
  explicit PassFailure(const process::WorkerOutcome& outcome)
      : Error(result::reason_of(outcome.reason_code).error, outcome.reason),
        reason_code_(outcome.reason_code) {}
  [[nodiscard]] const std::string& reason_code() const { return reason_code_; }

 private:
  std::string reason_code_;
};

struct InputFiles {
  std::vector<std::string> files;  // one .npy per input; they may contain fewer samples than requested
  std::int64_t given = 0;          // samples in the user's files; 0: generated, or not counted
  result::PictureTimes pictures{};
  std::string left_out{};  // files of image_dir that are no pictures, in words; empty: none
};
// PREFIX-0.npy and so on. Throws PassFailure.
InputFiles make_input_files(const pass::InputsTo& to, const PreparePass& run);

// Writes a user's file as a reference file of `samples` samples. Throws PassFailure.
void make_expected_file(const pass::ExpectedTo& to, std::int64_t samples, const PreparePass& run);

}  // namespace paceline::run
