// SPDX-License-Identifier: MIT
#include "torch/models/folder.h"

#include <array>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "torch/models/builders.h"
#include "torch/models/model.h"

namespace paceline::torch_plugin {
namespace {

constexpr PublicName kVitNames[] = {
    {"class_token", {"embeddings.cls_token"}},
    {"encoder.pos_embedding", {"embeddings.position_embeddings"}},
    {"conv_proj.", {"embeddings.patch_embeddings.projection."}},
    {"encoder.layers.encoder_layer_#.ln_1.", {"encoder.layer.#.layernorm_before."}},
    {"encoder.layers.encoder_layer_#.self_attention.in_proj_",
     {"encoder.layer.#.attention.attention.query.", "encoder.layer.#.attention.attention.key.",
      "encoder.layer.#.attention.attention.value."}},
    {"encoder.layers.encoder_layer_#.self_attention.out_proj.", {"encoder.layer.#.attention.output.dense."}},
    {"encoder.layers.encoder_layer_#.ln_2.", {"encoder.layer.#.layernorm_after."}},
    {"encoder.layers.encoder_layer_#.mlp.0.", {"encoder.layer.#.intermediate.dense."}},
    {"encoder.layers.encoder_layer_#.mlp.3.", {"encoder.layer.#.output.dense."}},
    {"encoder.ln.", {"layernorm."}},
    {"heads.head.", {"classifier."}},
};

// Tensors in a family's files for other heads than the one that runs, and buffers of older files.
constexpr std::string_view kBertHidden[] = {"embeddings.position_ids", "pooler.", "cls.", "classifier.",
                                            "qa_outputs."};
constexpr std::string_view kBertClasses[] = {"embeddings.position_ids", "cls."};
constexpr std::string_view kBertScores[] = {"embeddings.position_ids", "pooler.", "cls.seq_relationship.",
                                            "cls.predictions.decoder."};
constexpr std::string_view kBertTokens[] = {"embeddings.position_ids", "pooler.", "cls."};
constexpr std::string_view kGpt2Any[] = {".attn.bias", ".attn.masked_bias", "lm_head.weight"};
constexpr std::string_view kVitHidden[] = {"embeddings.mask_token", "pooler.", "classifier."};
constexpr std::string_view kVitClasses[] = {"embeddings.mask_token", "pooler."};

struct Row {
  TransformerFamily family;
  TransformerHead head;
  std::shared_ptr<Model> (*build)(const TransformerShape&, TransformerHead);
  CheckpointNames names;
};
constexpr std::array kRows{
    Row{TransformerFamily::kBert, TransformerHead::kNone, build_bert, {"bert.", kBertHidden}},
    Row{TransformerFamily::kBert, TransformerHead::kTokenScores, build_bert, {"bert.", kBertScores}},
    Row{TransformerFamily::kBert, TransformerHead::kClasses, build_bert, {"bert.", kBertClasses}},
    Row{TransformerFamily::kBert, TransformerHead::kTokenClasses, build_bert, {"bert.", kBertTokens}},
    Row{TransformerFamily::kGpt2, TransformerHead::kNone, build_gpt2, {"transformer.", kGpt2Any}},
    Row{TransformerFamily::kGpt2, TransformerHead::kTokenScores, build_gpt2, {"transformer.", kGpt2Any}},
    Row{TransformerFamily::kVit, TransformerHead::kNone, build_vit, {"vit.", kVitHidden, kVitNames}},
    Row{TransformerFamily::kVit, TransformerHead::kClasses, build_vit, {"vit.", kVitClasses, kVitNames}},
};

const Row& row_of(const PretrainedModel& model) {
  for (const auto& row : kRows)
    if (row.family == model.family && row.head == model.head) return row;
  throw Error(ErrorCode::kInternal, "no model for this head");
}

std::vector<InputRow> inputs_of(const PretrainedModel& model) {
  const auto& shape = model.shape;
  if (model.family == TransformerFamily::kVit)
    return {{"pixel_values", DType::kFloat32, {shape.channels, shape.image, shape.image}}};
  std::vector<InputRow> inputs{{"input_ids", DType::kInt64, {-shape.positions}}};
  if (model.family == TransformerFamily::kBert)
    inputs.push_back({"attention_mask", DType::kInt64, {-shape.positions}});
  return inputs;
}

}  // namespace

ModelRow folder_row(const std::string& folder) {
  const auto model = read_pretrained_model(folder);
  const auto& row = row_of(model);
  return {
      folder, [model, &row] { return row.build(model.shape, model.head); }, inputs_of(model), {}, row.names};
}

}  // namespace paceline::torch_plugin
