// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/artefacts/input_files.h"
#include "run/artefacts/input_requests.h"

namespace paceline::run {

// Files that passes share: inputs, made once and keyed by what they are made of, and reference outputs.
// They lie in a folder of the caller's.
class Artefacts {
 public:
  explicit Artefacts(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // One .npy an input of the model; they may hold fewer samples than the pass wants. `count_given`: the
  // samples of the user's files are counted. Throws PassFailure when loaded data do not fit.
  InputFiles inputs(const config::Case& c, const pass::PassSpec& pass, bool count_given,
                    const PreparePass& run);
  // Makes calibration data likewise.
  std::vector<std::string> calibration_inputs(const pass::InputRequest& request, const PreparePass& run);
  [[nodiscard]] std::filesystem::path model_file(const std::string& key, const std::string& format) const {
    return folder_ / ("model-" + key + "." + format);
  }
  // The first `given` outputs of a user's file as a reference file of `samples`, filled up as inputs are.
  // Throws PassFailure.
  std::string expected_outputs(const std::string& file, std::int64_t given, std::int64_t samples,
                               const PreparePass& run);
  [[nodiscard]] std::filesystem::path reference_file(const std::string& key) const {
    return folder_ / ("reference-" + key + ".npy");
  }

 private:
  const InputFiles& made(const std::string& name, const pass::InputRequest& request, bool count_given,
                         const PreparePass& run);

  std::filesystem::path folder_;
  std::map<std::string, InputFiles> inputs_;  // by name
};

}  // namespace paceline::run
