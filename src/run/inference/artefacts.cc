// SPDX-License-Identifier: MIT
#include "run/inference/artefacts.h"

#include <fmt/format.h>

#include "base/random.h"

namespace paceline::run {
namespace fs = std::filesystem;

InputFiles Artefacts::inputs(const config::Case& c, const pass::PassSpec& pass, bool count_given,
                             const PreparePass& run) {
  return made(fmt::format("input-{}{}", input_key(c, pass), count_given ? "-counted" : ""),
              input_request(c, pass), count_given, run);
}

std::vector<std::string> Artefacts::calibration_inputs(const pass::InputRequest& request,
                                                       const PreparePass& run) {
  return made("calibration-" + request_key(request), request, /*count_given=*/false, run).files;
}

const InputFiles& Artefacts::made(const std::string& name, const pass::InputRequest& request,
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
