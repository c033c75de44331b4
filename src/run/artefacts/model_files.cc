// SPDX-License-Identifier: MIT
#include "run/artefacts/model_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "result/judged/reasons.h"
#include "run/case/short_hash.h"

namespace paceline::run {

pass::PreparedFile export_model(const EngineDirectory& engines, const plugin::ModelSpec& model,
                                const pass::ExportTo& target, double timeout_s,
                                const std::atomic<bool>& interrupt) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kExport;
  spec.use(plugin::Role::kExporter, target.format, engines.require(plugin::Role::kExporter, target.format));
  spec.model = model;
  spec.task = target;
  const auto [outcome, log] = ask_plugin(spec, timeout_s, interrupt);
  if (const auto* made = std::get_if<pass::PreparedFile>(&outcome.report.payload); outcome.ok && made)
    return *made;
  throw Error(result::reason_of(outcome.reason_code).error,
              fmt::format("cannot export {}: {}{}", model.name, outcome.reason, log));
}

pass::PassSpec export_pass(const pass::PassSpec& base, const std::string& format) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExport;
  pass.case_id = base.case_id;
  pass.model = base.model;
  pass.task = pass::ExportTo{format, {}, {}};
  pass.batch = base.batch;
  for (auto& input : pass.model.inputs) input.shape.at(0) = 1;
  return pass;
}

std::string model_file_key(const pass::PassSpec& pass) {
  const auto json = pass::to_json(pass);
  return short_hash({json.at("model"), json.at("export_to")});
}

}  // namespace paceline::run
