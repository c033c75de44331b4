// SPDX-License-Identifier: MIT
#include "run/inference/file_inputs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "process/spawn.h"
#include "process/worker.h"
#include "result/reasons.h"

namespace paceline::run {
namespace {

constexpr std::size_t kLogBytes = 500;

}  // namespace

std::vector<DeclaredInput> file_inputs(const EngineDirectory& engines, const std::string& engine,
                                       const std::string& file, double timeout_s,
                                       const std::atomic<bool>& interrupt) {
  const auto home = engines.find(engine);
  if (home.file.empty()) throw Error(ErrorCode::kUnavailable, home.unavailable);
  process::WorkerRequest request;
  request.spec.kind = pass::PassKind::kInspect;
  request.spec.plugin_file = home.file.string();
  request.spec.engine = engine;
  request.spec.model.file = std::filesystem::absolute(file).string();
  const FileDescriptor log_file = process::memory_file("");
  request.log = fmt::format("/proc/self/fd/{}", log_file.get());
  request.timeout_s = timeout_s;
  const auto outcome = process::run_worker(request, interrupt, {});
  if (outcome.ok) return outcome.report.file_inputs;
  const auto log = file_tail(request.log, kLogBytes);
  throw Error(result::reason_of(outcome.reason_code).error,
              fmt::format("{}{}{}", outcome.reason, log.empty() ? "" : "\n", log));
}

}  // namespace paceline::run
