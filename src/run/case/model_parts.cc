// SPDX-License-Identifier: MIT
#include "run/case/model_parts.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/display_text.h"
#include "base/error.h"
#include "base/model_content.h"
#include "base/pretrained_model.h"
#include "base/reading.h"
#include "onnx/model_file.h"

namespace paceline::run {
namespace fs = std::filesystem;

std::set<std::string> model_parts(const std::string& file) {
  if (file.empty()) return {};
  std::set<std::string> files{file};
  const fs::path path(file);
  const auto suffix = model_suffix(file);
  if (suffix == ".xml") files.insert(weights_of_network(path).string());
  if (!no_regular_file(path).empty()) return files;
  try {
    if (file.ends_with(kWeightsIndex))
      for (const auto& [tensor, part] : indexed_weights(path)) files.insert(part.string());
    if (suffix != ".onnx") return files;
    for (const auto& part : onnx::files_on_disk(path)) files.insert(part.string());
  } catch (const Error&) {  // its engine says what is wrong with it
  }
  return files;
}

std::int64_t size_of_parts(const std::string& file) {
  std::set<fs::path> counted;  // "a.data" and "./a.data" are one file
  std::int64_t bytes = 0;
  for (const fs::path part : model_parts(file)) {
    std::error_code error;
    const auto size = fs::file_size(part, error);
    if (!error && counted.insert(part.lexically_normal()).second) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

std::string unusable_part(const std::string& file) {
  for (const auto& part : model_parts(file)) {
    std::error_code unknown;
    const bool absent = fs::status(part, unknown).type() == fs::file_type::not_found;
    const auto why = absent ? std::string() : part == file ? no_model_file(part) : no_data_file(part);
    if (!why.empty()) return fmt::format("'{}' {}", shown_path(part), why);
  }
  return {};
}

}  // namespace paceline::run
