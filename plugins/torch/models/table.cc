// SPDX-License-Identifier: MIT
#include "torch/models/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "torch/models/builders.h"
#include "torch/models/folder.h"
#include "torch/models/model.h"

namespace paceline::torch_plugin {
namespace {

// Spreads are chosen so that activations keep their size through the depth: there is a gain before each ReLU,
// and branches that are added to a residual stream are scaled down. Biases and norms are not at neutral
// values, so that wrong folding shows. Balanced filters (their weights add up to 0) remove what all images
// have in common after a ReLU: without some of them a deep network answers nearly the same for every image.
constexpr double kHe = 1.4142135623730951;  // keeps the second moment: sqrt(2)
// Keeps the variance, which is (1 - 1/pi)/2 after a ReLU of a standard normal; for balanced filters.
constexpr double kAfterRelu = 1.7128585504496627;
constexpr double kBranch24 = 0.2041241452319315;  // 1/sqrt(24): 12 layers with two branches each
constexpr double kBranch48 = 0.1443375672974065;  // 24 layers

constexpr WeightRule kConvolutional[] = {
    {"bn3.weight", Law::kAround, 0.2, 0.05},
    {"bn1.weight", Law::kAround, 1, 0.1},
    {"bn2.weight", Law::kAround, 1, 0.1},
    {"downsample.1.weight", Law::kAround, 1, 0.1},
    {"running_mean", Law::kAround, 0, 0.1},
    {"running_var", Law::kAround, 1, 0.1},
    {"fc.weight", Law::kFanInBalanced, 0, 1},
    {"bias", Law::kAround, 0, 0.1},
    {"downsample.0.weight", Law::kFanInBalanced, 0, kAfterRelu},
    {"weight", Law::kFanIn, 0, kHe},
};
constexpr WeightRule kVitWeights[] = {
    {"class_token", Law::kAround, 0, 1},
    {"pos_embedding", Law::kAround, 0, 0.2},
    {"ln_1.weight", Law::kAround, 1, 0.1},
    {"ln_2.weight", Law::kAround, 1, 0.1},
    {"ln.weight", Law::kAround, 1, 0.1},
    {"in_proj_bias", Law::kAround, 0, 0.1},
    {"bias", Law::kAround, 0, 0.1},
    {"out_proj.weight", Law::kFanIn, 0, 1},
    {"mlp.3.weight", Law::kFanIn, 0, kBranch24},
    {"weight", Law::kFanIn, 0, 1},
};
constexpr WeightRule kBertWeights[] = {
    {"word_embeddings.weight", Law::kAround, 0, 0.05},
    {"position_embeddings.weight", Law::kAround, 0, 0.02},
    {"token_type_embeddings.weight", Law::kAround, 0, 0.02},
    {"LayerNorm.weight", Law::kAround, 1, 0.1},
    {"bias", Law::kAround, 0, 0.05},
    {"output.dense.weight", Law::kFanIn, 0, kBranch48},
    {"weight", Law::kFanIn, 0, 1},
};
constexpr WeightRule kGpt2Weights[] = {
    {"wte.weight", Law::kAround, 0, 0.05},
    {"wpe.weight", Law::kAround, 0, 0.02},
    {"ln_1.weight", Law::kAround, 1, 0.1},
    {"ln_2.weight", Law::kAround, 1, 0.1},
    {"ln_f.weight", Law::kAround, 1, 0.1},
    {"bias", Law::kAround, 0, 0.05},
    {"c_proj.weight", Law::kFanInTransposed, 0, kBranch24},
    {"weight", Law::kFanInTransposed, 0, 1},
};
constexpr WeightRule kPeak[] = {
    {"b", Law::kFanIn, 0, 1}, {"bias", Law::kAround, 0, 0.1}, {"weight", Law::kFanIn, 0, 1}};

constexpr std::int64_t kImageNetClasses = 1000, kTinyClasses = 10;
constexpr const char* kBertLargeName = "bert-large";
constexpr TransformerShape kBertLarge{.layers = 24,
                                      .width = 1024,
                                      .heads = 16,
                                      .feed_forward = 4096,
                                      .eps = 1e-12,
                                      .vocabulary = 30522,
                                      .positions = 512,
                                      .token_types = 2};
constexpr TransformerShape kGpt2{.layers = 12,
                                 .width = 768,
                                 .heads = 12,
                                 .feed_forward = 3072,
                                 .eps = 1e-5,
                                 .tanh_gelu = true,
                                 .vocabulary = 50257,
                                 .positions = 1024};
constexpr TransformerShape kVitB16{.layers = 12,
                                   .width = 768,
                                   .heads = 12,
                                   .feed_forward = 3072,
                                   .eps = 1e-6,
                                   .image = 224,
                                   .patch = 16,
                                   .channels = 3,
                                   .labels = kImageNetClasses};

constexpr std::string_view kBatchNormCounters[] = {"num_batches_tracked"};
constexpr std::string_view kBertExtras[] = {"embeddings.position_ids", "cls."};
constexpr std::string_view kMaskedLmExtras[] = {"embeddings.position_ids", "pooler.", "cls.seq_relationship",
                                                "cls.predictions.decoder."};
constexpr std::string_view kGpt2Extras[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight"};

const std::vector<ModelRow>& table() {
  static const std::vector<ModelRow> rows = {
      {"resnet50",
       [] { return build_resnet50(kImageNetClasses); },
       {{"input", DType::kFloat32, {3, 224, 224}}},
       kConvolutional,
       {"", kBatchNormCounters}},
      {"vit_b_16",
       [] { return build_vit(kVitB16, TransformerHead::kClasses); },
       {{"input", DType::kFloat32, {3, 224, 224}}},
       kVitWeights,
       {"", {}}},
      {kBertLargeName,
       [] { return build_bert(kBertLarge, TransformerHead::kPooled); },
       {{"input_ids", DType::kInt64, {-512}}, {"attention_mask", DType::kInt64, {-512}}},
       kBertWeights,
       {"bert.", kBertExtras}},
      {"gpt2",
       [] { return build_gpt2(kGpt2, TransformerHead::kTokenScores); },
       {{"input_ids", DType::kInt64, {-1024}}},
       kGpt2Weights,
       {"transformer.", kGpt2Extras}},
      {"tiny_cnn",
       [] { return build_tiny_cnn(kTinyClasses); },
       {{"input", DType::kFloat32, {3, 32, 32}}},
       kConvolutional,
       {"", kBatchNormCounters}},
      {"peak_gemm", build_peak_gemm, {{"a", DType::kFloat32, {2048}}}, kPeak, {"", {}}},
      {"peak_conv", build_peak_conv, {{"input", DType::kFloat32, {128, 56, 56}}}, kPeak, {"", {}}},
  };
  return rows;
}

bool extent_fits(std::int64_t extent, std::int64_t wanted) {
  return wanted < 0 ? extent >= 1 && extent <= -wanted : extent == wanted;
}

bool shape_fits(const Shape& shape, const std::vector<std::int64_t>& per_sample) {
  if (shape.size() != per_sample.size() + 1 || shape[0] < 1) return false;
  for (std::size_t i = 0; i < per_sample.size(); ++i)
    if (!extent_fits(shape[i + 1], per_sample[i])) return false;
  return true;
}

std::string describe(const InputRow& row) {
  std::string text = fmt::format("{}:N", row.name);
  for (const auto extent : row.per_sample)
    text += extent < 0 ? fmt::format("x(1..{})", -extent) : fmt::format("x{}", extent);
  return text + fmt::format(":{}", dtype_name(row.dtype));
}

std::string describe(const TensorSpec& spec) {
  return fmt::format("{}:{}:{}", spec.name, fmt::join(spec.shape, "x"), dtype_name(spec.dtype));
}

std::string describe_all(const auto& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(describe(item));
  return texts.empty() ? "nothing" : join(texts, ", ");
}

}  // namespace

ModelRow find_model(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& row : table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  if (is_pretrained_folder(name)) return folder_row(name);
  const auto nearest = nearest_name(name, names);
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown model '{}'{}; there are: {}", name,
                          nearest ? fmt::format(", did you mean '{}'?", *nearest) : "", join(names, ", ")));
}

void check_inputs(const ModelRow& row, std::span<const TensorSpec> inputs) {
  bool fits = inputs.size() == row.inputs.size();
  for (std::size_t i = 0; fits && i < inputs.size(); ++i) {
    const auto& wanted = row.inputs[i];
    fits = inputs[i].name == wanted.name && inputs[i].dtype == wanted.dtype &&
           shape_fits(inputs[i].shape, wanted.per_sample) && inputs[i].shape[0] == inputs[0].shape[0];
  }
  if (!fits)
    throw Error(ErrorCode::kUsage, fmt::format("model {} takes {} (N is the batch), got {}", row.name,
                                               describe_all(row.inputs), describe_all(inputs)));
}

namespace {

std::shared_ptr<Model> build_vit_b_16(std::int64_t classes) {
  auto shape = kVitB16;
  shape.labels = classes;
  return build_vit(shape, TransformerHead::kClasses);
}

// Models of which the number of classes can be chosen.
struct Classifier {
  std::string_view model;
  std::shared_ptr<Model> (*build)(std::int64_t classes);
};
constexpr Classifier kClassifiers[] = {
    {"resnet50", build_resnet50}, {"vit_b_16", build_vit_b_16}, {"tiny_cnn", build_tiny_cnn}};

std::shared_ptr<Model> make(const ModelRow& row, const plugin::ModelSpec& spec, int threads) {
  check_inputs(row, spec.inputs);
  auto model = row.build();
  if (spec.weights_file.empty())
    fill_random(*model, row.weights, spec.weights_seed, threads);
  else
    model->left_out = load_weights(*model, row.checkpoint, spec.weights_file);
  model->eval();
  return model;
}

}  // namespace

std::shared_ptr<Model> make_model(const plugin::ModelSpec& spec, int threads) {
  return make(find_model(spec.name), spec, threads);
}

std::shared_ptr<Model> make_model_with_training_head(const plugin::ModelSpec& spec, int threads,
                                                     std::int64_t classes) {
  auto row = find_model(spec.name);
  for (const auto& classifier : kClassifiers)
    if (classes > 0 && row.name == classifier.model)
      row.build = [&classifier, classes] { return classifier.build(classes); };
  if (row.name == kBertLargeName) {
    row.build = [] { return build_bert(kBertLarge, TransformerHead::kTokenScores); };
    row.checkpoint.ignored = kMaskedLmExtras;
  }
  return make(row, spec, threads);
}

}  // namespace paceline::torch_plugin
