// SPDX-License-Identifier: MIT
#include "config/foreign_models.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

namespace paceline::config {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTensorFlow =
    "is a TensorFlow model; convert it with python3 -m tf2onnx.convert (pip install tf2onnx) and give the "
    ".onnx file";

constexpr std::string_view kWeightsOfAFolder =
    "names or contains weights alone; give the folder that it lies in with its config.json as --model";

struct ForeignKey {
  std::string_view suffix, advice;
};
constexpr std::array<ForeignKey, 11> kFiles{{
    {"pytorch_model.bin", kWeightsOfAFolder},
    {".index.json", kWeightsOfAFolder},
    {".safetensors",
     "contains weights alone; give the folder that it lies in with its config.json as --model, or the "
     "built-in model that they belong to, e.g. --model resnet50 --weights model.safetensors"},
    {".ckpt", "is a checkpoint of a training; export its model to ONNX or TorchScript and give that file"},
    {".bin", "contains weights alone; an OpenVINO model is the .xml file beside it"},
    {".pb", kTensorFlow},
    {".h5", kTensorFlow},
    {".keras", kTensorFlow},
    {".tflite", kTensorFlow},
    {".pdmodel", "is a PaddlePaddle model; convert it with paddle2onnx and give the .onnx file"},
    {".gguf", "is a model of llama.cpp, which no engine here reads"},
}};
// A file that shows what its folder is.
constexpr std::array<ForeignKey, 1> kFolders{{
    {"saved_model.pb", kTensorFlow},
}};

}  // namespace

std::string foreign_model_advice(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const auto& [file, advice] : kFolders)
      if (fs::exists(fs::path(path) / file, error)) return std::string(advice);
    return "is a folder; give the model file in it";
  }
  for (const auto& [suffix, advice] : kFiles)
    if (path.ends_with(suffix)) return std::string(advice);
  return {};
}

}  // namespace paceline::config
