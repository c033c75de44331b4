// SPDX-License-Identifier: MIT
// What `paceline build` asks for, and what it gets.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shape_range.h"
#include "base/tensor.h"
#include "pass/records.h"

namespace paceline::run {

inline constexpr std::string_view kPackageEngine = "aotinductor";  // whose files PyTorch's Python compiles

struct BuildOrder {
  std::string engine;
  std::string precision;
  int threads = 1;
  double timeout_s = 7200;
  std::string model;                   // as the user named it, for messages
  std::filesystem::path source, file;  // an ONNX file; for aotinductor a TorchScript file
  std::filesystem::path log;           // of the library and of the worker, written anew
  std::vector<ShapeProfile> profiles;
  std::vector<TensorSpec> inputs{};            // of a TorchScript file, which does not declare them all
  std::map<std::string, std::string> options;  // the engine's own
};

struct BuiltFile {
  pass::PreparedFile file;
  std::vector<std::pair<std::string, std::string>> versions;
  std::map<std::string, std::string> settings;
};

}  // namespace paceline::run
