// SPDX-License-Identifier: MIT
#include "config/folder_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "config/model.h"

namespace paceline::config {
namespace {

using I64 = std::int64_t;

constexpr I64 kDefaultTokens = 128;

// A row of the vocabulary and everything that it points to.
struct FolderModel {
  std::string folder;
  PretrainedModel pretrained;
  std::array<I64, 3> image{};
  std::vector<ModelInput> inputs;
  Model row;
};

MacCount head_macs(const PretrainedModel& model) {
  const auto& s = model.shape;
  const bool bert = model.family == TransformerFamily::kBert;
  switch (model.head) {
    case TransformerHead::kTokenScores:
      return {0, s.width * s.vocabulary + (bert ? s.width * s.width : 0)};
    case TransformerHead::kClasses:
      return {s.width * s.labels + (bert ? s.width * s.width : 0)};
    case TransformerHead::kTokenClasses:
      return {0, s.width * s.labels};
    case TransformerHead::kPooled:
      return {s.width * s.width};
    case TransformerHead::kNone:
      break;
  }
  return {};
}

MacCount macs_of(const PretrainedModel& model) {
  const auto& s = model.shape;
  const auto layers = transformer_macs(s.layers, s.width, s.feed_forward);
  const auto head = head_macs(model);
  if (model.family != TransformerFamily::kVit)
    return {head.fixed, layers.per_token + head.per_token, layers.per_pair_of_tokens};
  const auto patches = (s.image / s.patch) * (s.image / s.patch);
  return {layers(patches + 1) + patches * s.width * s.channels * s.patch * s.patch + head.fixed};
}

std::string_view answers_of(const PretrainedModel& model) {
  if (model.head == TransformerHead::kClasses) return "classes";
  const bool next_token =
      model.family == TransformerFamily::kGpt2 && model.head == TransformerHead::kTokenScores;
  return next_token ? "tokens" : "none";
}

void set_inputs(FolderModel& model) {
  const auto& shape = model.pretrained.shape;
  if (model.pretrained.family == TransformerFamily::kVit) {
    model.image = {shape.channels, shape.image, shape.image};
    model.inputs = {{"pixel_values", DType::kFloat32, model.image}};
    return;
  }
  model.inputs = {{"input_ids", DType::kInt64, kTokens, shape.vocabulary}};
  if (model.pretrained.family == TransformerFamily::kBert)
    model.inputs.push_back({"attention_mask", DType::kInt64, kTokens});
}

void set_row(FolderModel& model) {
  auto& row = model.row;
  row.name = row.folder = model.folder;
  row.task = Task::kTransformer;
  row.item = model.pretrained.family == TransformerFamily::kVit ? "images" : "sequences";
  row.inputs = model.inputs;
  row.max_sequence_length = model.pretrained.shape.positions;
  row.default_sequence_length = std::min(kDefaultTokens, row.max_sequence_length);
  row.forward_macs = macs_of(model.pretrained);
  row.answers = answers_of(model.pretrained);
}

// Rows are never removed, because cases point to them.
struct Folders {
  std::vector<std::unique_ptr<FolderModel>> all;
  std::map<std::string, const FolderModel*, std::less<>> latest;
};
Folders& folders() {
  static Folders known;
  return known;
}

const FolderModel& read(const std::string& folder) {
  auto model = std::make_unique<FolderModel>();
  model->folder = folder;
  model->pretrained = read_pretrained_model(folder);
  set_inputs(*model);
  set_row(*model);
  folders().latest[folder] = model.get();
  folders().all.push_back(std::move(model));
  return *folders().all.back();
}

}  // namespace

const Model& read_folder_model(const std::string& folder) {
  return read(folder).row;
}

TransformerFamily read_folder_family(const std::string& folder) {
  return read(folder).pretrained.family;
}

const Model* find_folder_model(std::string_view folder) {
  const auto& latest = folders().latest;
  const auto found = latest.find(folder);
  return found == latest.end() ? nullptr : &found->second->row;
}

}  // namespace paceline::config
