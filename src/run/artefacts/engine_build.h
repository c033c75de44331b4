// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape_range.h"
#include "base/tensor.h"
#include "run/artefacts/graph.h"
#include "run/case/plugin_choice.h"

// Models compiled ahead of time for one engine.
namespace paceline::run {

inline constexpr std::string_view kPackageEngine = "aotinductor";  // whose files PyTorch's Python compiles

// Order of `paceline build`.
struct BuildOrder {
  std::string engine;
  std::string precision;
  int threads = 1;
  double timeout_s = 7200;
  std::string model;                   // as the user named it, for messages
  std::filesystem::path source, file;  // an ONNX file; for aotinductor a TorchScript file
  std::filesystem::path log;           // of the library and of the worker; replaced if it exists
  std::vector<ShapeProfile> profiles;
  std::vector<TensorSpec> inputs{};            // of a TorchScript file, which does not declare them all
  std::map<std::string, std::string> options;  // the engine's own
  std::map<std::string, std::string> env{};    // on top of this process's, as its case will have it
};

// Builds in a separate process. The report has the file (pass::PreparedFile), versions and settings. Throws
// Error with the reason and the log, kUnavailable if the engine is not here; an existing file stays unchanged
// then.
pass::PassReport build_engine(const EngineDirectory& engines, const BuildOrder& order,
                              const std::atomic<bool>& interrupt);

// The file of the order. `engines` and `interrupt` outlive it.
Target built_file(const EngineDirectory& engines, const BuildOrder& order,
                  const std::atomic<bool>& interrupt);

}  // namespace paceline::run
