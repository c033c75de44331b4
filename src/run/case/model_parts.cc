// SPDX-License-Identifier: MIT
#include "run/case/model_parts.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "base/display_text.h"
#include "base/error.h"
#include "base/json.h"
#include "base/model_content.h"
#include "base/pretrained_model.h"
#include "base/reading.h"
#include "host/machine/loaded_objects.h"
#include "onnx/model_file.h"

namespace paceline::run {
namespace fs = std::filesystem;

namespace {

std::set<std::string> parts_of(const std::string& file) {
  std::set<std::string> files{file};
  const fs::path path(file);
  const auto suffix = model_suffix(file);
  if (suffix == ".xml") files.insert(weights_of_network(path).string());
  if (no_regular_file(path)) return files;
  try {
    if (file.ends_with(kWeightsIndex))
      for (const auto& [tensor, part] : indexed_weights(path)) files.insert(part.string());
    if (suffix != ".onnx") return files;
    for (const auto& part : onnx::files_on_disk(path)) files.insert(part.string());
  } catch (const Error&) {  // its engine says what is wrong with it
  }
  return files;
}

}  // namespace

// A file is parsed once, until it has another state.
std::set<std::string> model_parts(const std::string& file) {
  static std::map<std::string, std::pair<nlohmann::json, std::set<std::string>>> known;
  if (file.empty()) return {};
  auto state = host::states_of({file});
  const auto it = known.find(file);
  if (it != known.end() && it->second.first == state) return it->second.second;
  return known.insert_or_assign(file, std::pair{std::move(state), parts_of(file)}).first->second.second;
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
    const auto why = absent ? Refusal() : part == file ? no_model_file(part) : no_data_file(part);
    if (why) return fmt::format("'{}' {}", shown_path(part), *why);
  }
  return {};
}

}  // namespace paceline::run
