// SPDX-License-Identifier: MIT
#include "run/inference/engine_build.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "onnx/model_file.h"
#include "process/worker.h"
#include "result/reasons.h"
#include "run/inference/package_build.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

process::WorkerRequest request_of(const BuildOrder& order, const fs::path& plugin_file,
                                  const fs::path& file) {
  process::WorkerRequest request;
  auto& spec = request.spec;
  spec.kind = pass::PassKind::kBuild;
  spec.use(plugin::Role::kBuilder, order.engine, plugin_file.string());
  spec.model.file = order.source.string();
  spec.settings.precision = order.precision;
  spec.settings.threads = order.threads;
  spec.settings.options = order.options;
  spec.task = pass::BuildTo{file.string(), order.log.string(), order.profiles};
  request.log = order.log;
  request.timeout_s = order.timeout_s;
  return request;
}

// Beside the target and of its type: engines look at the suffix. Another build may write to the same target.
fs::path unfinished(const fs::path& file) {
  return file.parent_path() /
         fmt::format(".{}.{}.unfinished{}", file.stem().string(), ::getpid(), file.extension().string());
}

BuiltFile build_in_worker(const EngineDirectory& engines, const BuildOrder& order, const fs::path& file,
                          const std::atomic<bool>& interrupt) {
  const auto plugin_file = engines.require(plugin::Role::kBuilder, order.engine);
  onnx::check_data_files(order.source);
  write_file_atomic(order.log, "");
  const auto outcome = process::run_worker(request_of(order, plugin_file, file), interrupt, {});
  if (const auto* made = std::get_if<pass::PreparedFile>(&outcome.report.payload); outcome.ok && made)
    return {*made, outcome.report.versions, outcome.report.effective_settings};
  throw Error(result::reason_of(outcome.reason_code).error,
              fmt::format("cannot build '{}' for {}: {}; log: {}", order.model, order.engine, outcome.reason,
                          order.log.string()));
}

}  // namespace

BuiltFile build_engine(const EngineDirectory& engines, const BuildOrder& order,
                       const std::atomic<bool>& interrupt) {
  if (fs::is_directory(order.file))
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is a folder; name a file", order.file.string()));
  const auto part = unfinished(order.file);
  check_own_name(part);
  try {
    const auto build = order.engine == kPackageEngine ? compile_package : build_in_worker;
    auto built = build(engines, order, part, interrupt);
    fs::rename(part, order.file);
    return built;
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
}

}  // namespace paceline::run
