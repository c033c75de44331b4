// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/shape_range.h"
#include "pass/records.h"
#include "run/case/plugin_choice.h"

// ONNX files compiled ahead of time for one engine.
namespace paceline::run {

struct BuildOrder {
  std::string engine;
  std::string precision;
  int threads = 1;
  double timeout_s = 7200;
  std::filesystem::path onnx_file, file;
  std::filesystem::path log;  // of the library and of the worker, written anew
  std::vector<ShapeProfile> profiles;
  std::map<std::string, std::string> options;  // the engine's own
};

struct BuiltFile {
  pass::PreparedFile file;
  std::vector<std::pair<std::string, std::string>> versions;
  std::map<std::string, std::string> settings;
};

// In a worker process. Throws Error naming the reason and the log, kUnavailable when the engine is not here;
// a file that was there before stays as it was then.
BuiltFile build_engine(const EngineDirectory& engines, const BuildOrder& order,
                       const std::atomic<bool>& interrupt);

}  // namespace paceline::run
