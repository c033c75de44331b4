// SPDX-License-Identifier: MIT
#include "config/vocabulary.h"

#include <algorithm>
#include <array>

#include "base/lower_case.h"
#include "base/model_content.h"
#include "config/folder_models.h"
#include "config/precision_table.h"

namespace paceline::config {
namespace {

using I64 = std::int64_t;

constexpr std::array<I64, 3> kImage224{3, 224, 224}, kImage32{3, 32, 32}, kFeatureMap{128, 56, 56};
constexpr std::array<I64, 1> kRow2048{2048};

constexpr std::array kImageInput{ModelInput{"input", DType::kFloat32, kImage224}};
constexpr std::array kTinyInput{ModelInput{"input", DType::kFloat32, kImage32}};
constexpr I64 kBertVocabulary = 30522, kGptVocabulary = 50257;
constexpr std::array kBertInput{ModelInput{"input_ids", DType::kInt64, kTokens, kBertVocabulary},
                                ModelInput{"attention_mask", DType::kInt64, kTokens}};
constexpr std::array kGptInput{ModelInput{"input_ids", DType::kInt64, kTokens, kGptVocabulary}};
constexpr std::array kGemmInput{ModelInput{"a", DType::kFloat32, kRow2048}};
constexpr std::array kConvInput{ModelInput{"x", DType::kFloat32, kFeatureMap}};

constexpr MacCount kResnet50Macs{4'089'184'256};
constexpr I64 kResnet50Head = I64{2048} * 1000, kVitB16Patches = I64{196} * 768 * 768,
              kTinyCnnHead = I64{2048} * 10;
constexpr MacCount kVitB16Macs{transformer_macs(12, 768, 3072)(197) + kVitB16Patches + I64{768} * 1000};
constexpr MacCount kBertLargeMacs = transformer_macs(24, 1024, 4096);  // the encoder without the pooler
constexpr MacCount kTinyCnnMacs{I64{32} * 32 * 16 * 27 + I64{16} * 16 * 32 * 144 + kTinyCnnHead};
constexpr MacCount kPeakGemmMacs{I64{2048} * 2048};
constexpr MacCount kPeakConvMacs{I64{56} * 56 * 128 * 128 * 9};

// Two activations of the largest size: what an operator reads, and what it makes of it.
constexpr MacCount kResnet50Live{I64{2} * 256 * 56 * 56}, kVitB16Live{I64{2} * 197 * 3072},
    kBertLargeLive{0, I64{2} * 4096}, kGptLive{0, kGptVocabulary};

constexpr MacCount gpt2_macs() {
  auto macs = transformer_macs(12, 768, 3072);
  macs.per_token += I64{768} * kGptVocabulary;  // language-model head
  return macs;
}

constexpr std::array kModels{
    Model{"resnet50",
          Task::kCnn,
          "images",
          kImageInput,
          0,
          0,
          25'557'032,
          kResnet50Macs,
          false,
          0,
          "classes",
          {},
          kResnet50Live,
          kResnet50Macs.fixed - kResnet50Head},
    Model{"vit_b_16",
          Task::kTransformer,
          "images",
          kImageInput,
          0,
          0,
          86'567'656,
          kVitB16Macs,
          false,
          0,
          "classes",
          {},
          kVitB16Live,
          kVitB16Patches},
    Model{"bert-large",
          Task::kTransformer,
          "sequences",
          kBertInput,
          128,
          512,
          335'141'888,
          kBertLargeMacs,
          false,
          0,
          "none",
          {},
          kBertLargeLive},
    Model{"gpt2",
          Task::kTransformer,
          "sequences",
          kGptInput,
          128,
          1024,
          124'439'808,
          gpt2_macs(),
          false,
          0,
          "tokens",
          {},
          kGptLive},
    Model{"tiny_cnn",
          Task::kCnn,
          "images",
          kTinyInput,
          0,
          0,
          25'626,
          kTinyCnnMacs,
          false,
          0,
          "classes",
          {},
          {},
          kTinyCnnMacs.fixed - kTinyCnnHead},
    Model{"peak_gemm", Task::kCnn, "rows", kGemmInput, 0, 0, 4'194'304, kPeakGemmMacs, true, 2048},
    Model{"peak_conv",
          Task::kCnn,
          "images",
          kConvInput,
          0,
          0,
          147'456,
          kPeakConvMacs,
          true,
          8,
          "classes",
          {},
          {},
          kPeakConvMacs.fixed},
};

constexpr std::array kEngines{
    Engine{"eager", "torch", "LibTorch, one operator after the other"},
    Engine{"torchscript", "torch", "LibTorch: trace, freeze, optimize_for_inference"},
    Engine{"aotinductor", "torch", "a model compiled ahead of time by PyTorch (.pt2)", "torchscript", true},
    Engine{"openvino", "openvino", "OpenVINO on the CPU (.onnx, .xml and .blob files)", "onnx"},
    Engine{"onnxruntime", "onnxruntime", "ONNX Runtime (.onnx and .ort files)", "onnx"},
    Engine{"tensorrt", "tensorrt", "TensorRT on an NVIDIA GPU (.plan and .engine files)", "onnx", true},
};

// Declarations of engines by plug-ins, and the file types that follow.
struct OfPlugins {
  std::vector<DeclaredEngine> engines;
  std::vector<FileType> file_types;
};

OfPlugins& of_plugins() {
  static OfPlugins kept;
  return kept;
}

FileType& file_type_of(const std::string& suffix) {
  auto& types = of_plugins().file_types;
  const auto found = std::ranges::find(types, suffix, &FileType::suffix);
  return found == types.end() ? types.emplace_back(FileType{suffix, {}, {}}) : *found;
}

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
  return of_plugins().file_types;
}
std::span<const DeclaredEngine> declared_engines() {
  return of_plugins().engines;
}

void use_declared_engines(std::vector<DeclaredEngine> engines) {
  of_plugins() = {std::move(engines), {}};
  for (const auto& engine : of_plugins().engines) {
    for (const auto& suffix : engine.reads) file_type_of(suffix).readers.push_back(engine.name);
    for (const auto& suffix : engine.selected_by)
      if (auto& type = file_type_of(suffix); type.engine.empty()) type.engine = engine.name;
  }
}

const Model* find_model(std::string_view name) {
  const Model* model = find_row(kModels, name);
  return model ? model : find_folder_model(name);
}
std::string item_of_model(std::string_view name) {
  const Model* model = find_model(name);
  return model ? std::string(model->item) : "items";
}

const Engine* find_engine(std::string_view name) {
  return find_row(kEngines, name);
}
const DeclaredEngine* find_declared_engine(std::string_view name) {
  return find_row(declared_engines(), name);
}
const Precision* find_precision(std::string_view name) {
  return find_row(kPrecisions, name);
}

// By the ending, in any case, or else by the content of the file.
const FileType* find_file_type(std::string_view path) {
  const auto name = lower_case(std::string(path));
  const auto ends = [&](const FileType& type) {
    return name.size() > type.suffix.size() && name.ends_with(type.suffix);
  };
  auto row = std::ranges::find_if(file_types(), ends);
  if (row == file_types().end())
    row = std::ranges::find(file_types(), suffix_of_content(path), &FileType::suffix);
  return row == file_types().end() ? nullptr : &*row;
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
