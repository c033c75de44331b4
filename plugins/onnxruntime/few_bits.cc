// SPDX-License-Identifier: MIT
#include "onnxruntime/few_bits.h"

#include <onnxruntime_session_options_config_keys.h>

#include <cstring>
#include <filesystem>

#include "base/mapped_file.h"
#include "onnx/few_bits.h"
#include "onnx/model_file.h"

namespace paceline::ort_plugin {
namespace {

const char* const kLevelOfFusions = kOrtSessionOptionsQDQMatMulNBitsAccuracyLevel;
const char* const kDataFolder = kOrtSessionOptionsModelExternalInitializersFileFolderPath;

bool names_few_bits(const std::string& file) {
  const MappedFile mapped(file);
  const std::string_view name = onnx::kFewBits;
  return ::memmem(mapped.data(), mapped.size(), name.data(), name.size()) != nullptr;
}

}  // namespace

bool keeps_activations(const plugin::EngineSettings& settings) {
  return settings.precision == "fp32" && !settings.precision_of_file;
}

void keep_activations(Ort::SessionOptions& options) {
  options.AddConfigEntry(kLevelOfFusions, std::to_string(onnx::kFloatLevel).c_str());
}

Ort::Session open_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options) {
  if (!options.HasConfigEntry(kLevelOfFusions) || !names_few_bits(file)) return {env, file.c_str(), options};
  auto model = onnx::read_without_data(file);
  if (!onnx::set_float_levels(model)) return {env, file.c_str(), options};
  options.AddConfigEntry(kDataFolder, std::filesystem::absolute(file).parent_path().c_str());
  const auto bytes = model.SerializeAsString();
  return {env, bytes.data(), bytes.size(), options};
}

}  // namespace paceline::ort_plugin
