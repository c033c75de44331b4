// SPDX-License-Identifier: MIT
#include "run/inference/model_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "process/spawn.h"
#include "result/reasons.h"
#include "run/case/short_hash.h"

namespace paceline::run {
EngineHome exporter_home(const EngineDirectory& engines) {
  return engines.find("eager");
}

pass::PreparedFile export_model(const EngineDirectory& engines, const plugin::ModelSpec& model,
                                const pass::ExportTo& target, double timeout_s,
                                const std::atomic<bool>& interrupt) {
  const auto home = exporter_home(engines);
  if (home.file.empty()) throw Error(ErrorCode::kUnavailable, home.unavailable);
  process::WorkerRequest request;
  request.spec.kind = pass::PassKind::kExport;
  request.spec.plugin_file = home.file.string();
  request.spec.model = model;
  request.spec.export_to = target;
  const FileDescriptor log_file = process::memory_file("");
  request.log = fmt::format("/proc/self/fd/{}", log_file.get());
  request.timeout_s = timeout_s;
  const auto outcome = process::run_worker(request, interrupt, {});
  if (outcome.ok && outcome.report.prepared) return *outcome.report.prepared;
  const auto log = file_tail(request.log, 500);
  throw Error(
      result::reason_of(outcome.reason_code).error,
      fmt::format("cannot export {}: {}{}{}", model.name, outcome.reason, log.empty() ? "" : "\n", log));
}

pass::PassSpec export_pass(const pass::PassSpec& base, const std::string& format) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExport;
  pass.case_id = base.case_id;
  pass.model = base.model;
  pass.export_to.format = format;
  pass.batch = base.batch;
  for (auto& input : pass.model.inputs) input.shape.at(0) = 1;
  return pass;
}

std::string model_file_key(const pass::PassSpec& pass) {
  const auto json = pass::to_json(pass);
  return short_hash({json.at("model"), json.at("export_to")});
}

}  // namespace paceline::run
