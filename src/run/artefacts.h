// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/input_files.h"
#include "run/input_requests.h"

namespace paceline::run {

// Files that passes share: inputs, made once and keyed by what they are made of, and reference outputs.
// They live in the run directory and go when this goes out of scope.
class Artefacts {
 public:
  explicit Artefacts(const std::filesystem::path& run_dir);
  Artefacts(const Artefacts&) = delete;
  Artefacts& operator=(const Artefacts&) = delete;
  ~Artefacts();

  // One .npy an input of the model; they may hold fewer samples than the pass wants. `count_given`: the
  // samples of the user's files are counted. Throws PassFailure when loaded data do not fit.
  InputFiles inputs(const config::Case& c, const workload::PassSpec& pass, bool count_given,
                    const PreparePass& run);
  // The same for calibration data.
  std::vector<std::string> calibration_inputs(const workload::InputRequest& request, const PreparePass& run);
  [[nodiscard]] std::filesystem::path model_file(const std::string& key, const std::string& format) const {
    return folder_ / ("model-" + key + "." + format);
  }
  // The first `given` outputs of a user's file as a reference file of `samples`, filled up as inputs are.
  // Throws PassFailure.
  std::string expected_outputs(const std::string& file, std::int64_t given, std::int64_t samples,
                               const PreparePass& run);
  // Where workers unpack things: what a killed one leaves behind goes with this folder.
  [[nodiscard]] const std::filesystem::path& temp_folder() const { return temp_; }
  [[nodiscard]] std::filesystem::path reference_file(const std::string& key) const {
    return folder_ / ("reference-" + key + ".npy");
  }

 private:
  const InputFiles& made(const std::string& name, const workload::InputRequest& request, bool count_given,
                         const PreparePass& run);

  std::filesystem::path folder_, temp_;
  std::map<std::string, InputFiles> inputs_;  // by name
};

}  // namespace paceline::run
