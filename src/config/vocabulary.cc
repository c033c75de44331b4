// SPDX-License-Identifier: MIT
#include "config/vocabulary.h"

#include <algorithm>
#include <array>

#include "config/precision_table.h"

namespace paceline::config {
namespace {

using I64 = std::int64_t;

constexpr std::array<I64, 3> kImage224{3, 224, 224}, kImage32{3, 32, 32}, kFeatureMap{128, 56, 56};
constexpr std::array<I64, 1> kTokens{kSequence}, kRow2048{2048};

constexpr std::array kImageInput{ModelInput{"input", DType::kFloat32, kImage224}};
constexpr std::array kTinyInput{ModelInput{"input", DType::kFloat32, kImage32}};
constexpr I64 kBertVocabulary = 30522, kGptVocabulary = 50257;
constexpr std::array kBertInput{ModelInput{"input_ids", DType::kInt64, kTokens, kBertVocabulary},
                                ModelInput{"attention_mask", DType::kInt64, kTokens}};
constexpr std::array kGptInput{ModelInput{"input_ids", DType::kInt64, kTokens, kGptVocabulary}};
constexpr std::array kGemmInput{ModelInput{"a", DType::kFloat32, kRow2048}};
constexpr std::array kConvInput{ModelInput{"x", DType::kFloat32, kFeatureMap}};

// Projections and feed-forward of one block, and both attention products, for every block of a transformer.
constexpr I64 transformer_macs(I64 layers, I64 hidden, I64 feed_forward, I64 s) {
  return layers * (4 * hidden * hidden + 2 * hidden * feed_forward) * s + layers * 2 * s * s * hidden;
}

constexpr I64 resnet50_macs(I64) {
  return 4'089'184'256;
}
constexpr I64 vit_b_16_macs(I64) {
  return transformer_macs(12, 768, 3072, 197) + I64{196} * 768 * 768 + I64{768} * 1000;  // + patches + head
}
constexpr I64 bert_large_macs(I64 s) {
  return transformer_macs(24, 1024, 4096, s);
}  // the encoder, pooler left out
constexpr I64 gpt2_macs(I64 s) {
  return transformer_macs(12, 768, 3072, s) + I64{768} * kGptVocabulary * s;
}  // + language-model head
constexpr I64 tiny_cnn_macs(I64) {
  return I64{32} * 32 * 16 * 27 + I64{16} * 16 * 32 * 144 + I64{2048} * 10;
}
constexpr I64 peak_gemm_macs(I64) {
  return I64{2048} * 2048;
}
constexpr I64 peak_conv_macs(I64) {
  return I64{56} * 56 * 128 * 128 * 9;
}

constexpr std::array kModels{
    Model{"resnet50", Task::kCnn, "images", kImageInput, 0, 0, 25'557'032, resnet50_macs},
    Model{"vit_b_16", Task::kTransformer, "images", kImageInput, 0, 0, 86'567'656, vit_b_16_macs},
    Model{"bert-large", Task::kTransformer, "sequences", kBertInput, 128, 512, 335'141'888, bert_large_macs,
          false, 0, "none"},
    Model{"gpt2", Task::kTransformer, "sequences", kGptInput, 128, 1024, 124'439'808, gpt2_macs, false, 0,
          "tokens"},
    Model{"tiny_cnn", Task::kCnn, "images", kTinyInput, 0, 0, 25'626, tiny_cnn_macs},
    Model{"peak_gemm", Task::kCnn, "rows", kGemmInput, 0, 0, 4'194'304, peak_gemm_macs, true, 2048},
    Model{"peak_conv", Task::kCnn, "images", kConvInput, 0, 0, 147'456, peak_conv_macs, true, 8},
};

constexpr std::array kEngines{
    Engine{"eager", "torch", "LibTorch, one operator after the other"},
    Engine{"torchscript", "torch", "LibTorch: trace, freeze, optimize_for_inference"},
    Engine{"aotinductor", "torch", "a model compiled ahead of time by PyTorch (.pt2)"},
    Engine{"openvino", "openvino", "OpenVINO on the CPU (.onnx, .xml and .blob files)", "onnx"},
    Engine{"onnxruntime", "onnxruntime", "ONNX Runtime on the CPU (.onnx files)", "onnx"},
    Engine{"tensorrt", "tensorrt", "TensorRT on an NVIDIA GPU (.plan and .engine files)"},
};

constexpr std::array<std::string_view, 2> kScriptReaders{"eager", "torchscript"};
constexpr std::array<std::string_view, 1> kPackageReaders{"aotinductor"};
constexpr std::array<std::string_view, 2> kOnnxReaders{"onnxruntime", "openvino"};
constexpr std::array<std::string_view, 1> kIrReaders{"openvino"};
constexpr std::array<std::string_view, 1> kPlanReaders{"tensorrt"};

constexpr std::array kFileTypes{
    FileType{".pt", "", kScriptReaders},
    FileType{".ts", "", kScriptReaders},
    FileType{".jit", "", kScriptReaders},
    FileType{".pth", "", kScriptReaders},
    FileType{".pt2", "aotinductor", kPackageReaders},
    FileType{".onnx", "onnxruntime", kOnnxReaders},
    FileType{".xml", "openvino", kIrReaders},
    FileType{".blob", "openvino", kIrReaders},
    FileType{".plan", "tensorrt", kPlanReaders},
    FileType{".engine", "tensorrt", kPlanReaders},
};

template <typename Rows>
auto find_row(const Rows& rows, std::string_view name) -> decltype(rows.data()) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

std::span<const Model> models() {
  return kModels;
}
std::span<const Engine> engines() {
  return kEngines;
}
std::span<const Precision> precisions() {
  return kPrecisions;
}
std::span<const FileType> file_types() {
  return kFileTypes;
}

const Model* find_model(std::string_view name) {
  return find_row(kModels, name);
}
const Engine* find_engine(std::string_view name) {
  return find_row(kEngines, name);
}
const Precision* find_precision(std::string_view name) {
  return find_row(kPrecisions, name);
}

const FileType* find_file_type(std::string_view path) {
  const auto ends = [&](const FileType& type) {
    return path.size() > type.suffix.size() && path.ends_with(type.suffix);
  };
  const auto row = std::find_if(kFileTypes.begin(), kFileTypes.end(), ends);
  return row == kFileTypes.end() ? nullptr : &*row;
}

std::vector<TensorSpec> model_inputs(const Model& model, std::int64_t batch, std::int64_t sequence_length) {
  std::vector<TensorSpec> specs;
  for (const auto& input : model.inputs) {
    TensorSpec spec{std::string(input.name), input.dtype, {batch}};
    for (const auto size : input.shape) spec.shape.push_back(size == kSequence ? sequence_length : size);
    specs.push_back(std::move(spec));
  }
  return specs;
}

const Tolerance& tolerance(const Precision& precision, Task task) {
  return task == Task::kCnn ? precision.cnn : precision.transformer;
}

}  // namespace paceline::config
