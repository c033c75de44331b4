// SPDX-License-Identifier: MIT
#include "run/inference/engine_build.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "onnx/model_file.h"
#include "process/worker.h"
#include "result/reasons.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

process::WorkerRequest request_of(const BuildOrder& order, const fs::path& plugin_file,
                                  const fs::path& file) {
  process::WorkerRequest request;
  auto& spec = request.spec;
  spec.kind = pass::PassKind::kBuild;
  spec.use(plugin::Role::kBuilder, order.engine, plugin_file.string());
  spec.model.file = order.onnx_file.string();
  spec.settings.precision = order.precision;
  spec.settings.threads = order.threads;
  spec.settings.options = order.options;
  spec.task = pass::BuildTo{file.string(), order.log.string(), order.profiles};
  request.log = order.log;
  request.timeout_s = order.timeout_s;
  return request;
}

// Beside the target and of its type: engines look at the suffix.
fs::path unfinished(const fs::path& file) {
  return file.parent_path() /
         fmt::format(".{}.unfinished{}", file.stem().string(), file.extension().string());
}

}  // namespace

BuiltFile build_engine(const EngineDirectory& engines, const BuildOrder& order,
                       const std::atomic<bool>& interrupt) {
  const auto plugin_file = engines.require(plugin::Role::kBuilder, order.engine);
  onnx::check_data_files(order.onnx_file);
  const auto part = unfinished(order.file);
  check_own_name(part);
  write_file_atomic(order.log, "");
  const auto outcome = process::run_worker(request_of(order, plugin_file, part), interrupt, {});
  if (const auto* made = std::get_if<pass::PreparedFile>(&outcome.report.payload); outcome.ok && made) {
    fs::rename(part, order.file);
    return {*made, outcome.report.versions, outcome.report.effective_settings};
  }
  std::error_code ignored;
  fs::remove(part, ignored);
  throw Error(result::reason_of(outcome.reason_code).error,
              fmt::format("cannot build '{}' for {}: {}; log: {}", order.onnx_file.string(), order.engine,
                          outcome.reason, order.log.string()));
}

}  // namespace paceline::run
