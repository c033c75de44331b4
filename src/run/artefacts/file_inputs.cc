// SPDX-License-Identifier: MIT
#include "run/artefacts/file_inputs.h"

#include <filesystem>

#include "base/error.h"
#include "result/judged/reasons.h"
#include "run/case/model_parts.h"

namespace paceline::run {

std::vector<DeclaredInput> file_inputs(const EngineDirectory& engines, const std::string& engine,
                                       const std::string& file, const std::vector<std::string>& libraries,
                                       double timeout_s, const std::atomic<bool>& interrupt) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kInspect;
  spec.use(plugin::Role::kEngine, engine, engines.require(plugin::Role::kEngine, engine));
  for (const auto& library : libraries)
    spec.load_libraries.push_back(std::filesystem::absolute(library).string());
  spec.model.file = std::filesystem::absolute(file).string();
  if (auto why = unusable_part(spec.model.file); !why.empty()) throw Error(ErrorCode::kData, why);
  const auto [outcome, log] = ask_plugin(spec, timeout_s, interrupt);
  if (outcome.ok) return outcome.report.get<pass::FileInputs>().inputs;
  throw Error(result::reason_of(outcome.reason_code).error, outcome.reason + log);
}

}  // namespace paceline::run
