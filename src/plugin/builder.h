// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shape_range.h"

namespace paceline::plugin {

struct BuildSettings {
  std::string precision = "fp32";              // as in EngineSettings
  int threads = 1;                             // of the built engine, if it stores a number
  std::vector<ShapeProfile> profiles;          // one or more, each with every input of the model
  std::map<std::string, std::string> options;  // engine-specific
  std::string log_file;                        // messages of the library during the build are appended here
};

struct BuildReport {
  std::vector<std::pair<std::string, std::string>> settings;  // as reported by the built engine
  std::vector<std::string> notes;                             // what the user should know, in words
};

// The interface of a builder, which turns an ONNX file into a file that the engine of the same name loads.
class PACELINE_EXPORT Builder {
 public:
  virtual ~Builder() = default;
  // Compiles `onnx_file` and writes `file`. Throws Error(kUnsupported) with the operator and node that the
  // library cannot build, Error(kData) for a file that is no model, Error(kUsage) for an option or a profile
  // that does not fit. If it throws, no file is left.
  virtual BuildReport build(const std::string& onnx_file, const BuildSettings& settings,
                            const std::string& file) = 0;
};

}  // namespace paceline::plugin
