// SPDX-License-Identifier: MIT
#include "run/artefacts.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/random.h"

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

InputFiles Artefacts::inputs(const config::Case& c, const workload::PassSpec& pass, bool count_given,
                             const PreparePass& run) {
  return made(fmt::format("input-{}{}", input_key(c, pass), count_given ? "-counted" : ""),
              input_request(c, pass), count_given, run);
}

std::vector<std::string> Artefacts::calibration_inputs(const workload::InputRequest& request,
                                                       const PreparePass& run) {
  return made("calibration-" + request_key(request), request, /*count_given=*/false, run).files;
}

const InputFiles& Artefacts::made(const std::string& name, const workload::InputRequest& request,
                                  bool count_given, const PreparePass& run) {
  if (const auto it = inputs_.find(name); it != inputs_.end()) return it->second;
  return inputs_[name] = make_input_files({request, (folder_ / name).string(), count_given}, run);
}

std::string Artefacts::expected_outputs(const std::string& file, std::int64_t given, std::int64_t samples,
                                        const PreparePass& run) {
  const fs::path made = folder_ / fmt::format("expected-{:016x}-{}-{}.npy", hash64(file), given, samples);
  if (!fs::exists(made)) make_expected_file({file, given, made.string()}, samples, run);
  return made.string();
}

}  // namespace paceline::run
