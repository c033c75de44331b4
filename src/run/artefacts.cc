// SPDX-License-Identifier: MIT
#include "run/artefacts.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/npy.h"
#include "base/random.h"
#include "workload/inference/expected.h"

namespace paceline::run {
namespace fs = std::filesystem;

Artefacts::Artefacts(const fs::path& run_dir)
    : folder_(fs::absolute(run_dir) / ".artefacts"), temp_(folder_ / "tmp") {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);  // what a killed run left behind
  make_directories(temp_);
}

Artefacts::~Artefacts() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> Artefacts::inputs(const config::Case& c, const workload::PassSpec& pass) {
  return write_inputs("input-" + input_key(c, pass), input_request(c, pass));
}

std::vector<std::string> Artefacts::calibration_inputs(const workload::InputRequest& request) {
  return write_inputs("calibration-" + request_key(request), request);
}

std::vector<std::string> Artefacts::write_inputs(const std::string& key,
                                                 const workload::InputRequest& request) {
  if (const auto it = inputs_.find(key); it != inputs_.end()) return it->second;
  std::vector<std::string> files;
  for (auto& tensor : workload::make_inputs(request)) {
    const fs::path file = folder_ / (key + "-" + std::to_string(files.size()) + ".npy");
    write_npy(file, tensor.view());
    files.push_back(file.string());
  }
  return inputs_[key] = files;
}

std::string Artefacts::expected_outputs(const std::string& file, std::int64_t given, std::int64_t samples) {
  const fs::path made = folder_ / fmt::format("expected-{:016x}-{}-{}.npy", hash64(file), given, samples);
  if (fs::exists(made)) return made.string();
  std::vector<std::int64_t> filled;
  for (std::int64_t i = 0; i < samples; ++i) filled.push_back(i % given);
  const auto rows = workload::select_samples(workload::read_expected_outputs(file, given, samples), filled);
  write_npy(made, to_tensor(rows).view());
  return made.string();
}

}  // namespace paceline::run
