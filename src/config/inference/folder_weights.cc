// SPDX-License-Identifier: MIT
#include "config/inference/folder_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "config/folder_models.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace fs = std::filesystem;
namespace {

void check_weights_of(const std::string& name) {
  const auto* model = find_folder_model(name);
  std::error_code error;
  if (model && !fs::exists(pretrained_weights(model->folder), error))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("model '{}' has no {}, nor {}; write it with save_pretrained, or give another file as "
                    "weights",
                    name, kPretrainedWeights[0], kPretrainedWeights[2]));
}

}  // namespace

std::string folder_of_weights(const std::string& model, const std::string& weights) {
  const auto family = find_family(model);
  if (!family) return {};
  const auto parent = fs::path(weights).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (weights.empty() || !is_pretrained_folder(folder)) {
    if (find_model(model)) return {};
    throw Error(
        ErrorCode::kUsage,
        fmt::format("model '{0}' has the sizes of the config.json beside its weights{1}; give weights: "
                    "FOLDER/{2}, or FOLDER as the model",
                    model, weights.empty() ? "" : fmt::format(", and '{}' has none beside it", weights),
                    kPretrainedWeights[0]));
  }
  const auto found = read_folder_family(folder);
  if (found != *family)
    throw Error(ErrorCode::kUsage,
                fmt::format("model '{}': the config.json beside '{}' is that of a {}; give model: {}", model,
                            weights, family_name(found), family_name(found)));
  return folder;
}

void imply_folders(WorkloadDraft& draft) {
  auto& settings = draft.settings;
  if (!settings.has("models")) return;
  const auto weights = settings.has("weights") ? settings.text("weights") : std::string();
  std::vector<Value> models;
  for (const auto& model : settings.texts("models")) {
    models.emplace_back(model);
    try {
      if (const auto folder = folder_of_weights(model, weights); !folder.empty()) models.back() = folder;
      if (weights.empty()) check_weights_of(model);
    } catch (const Error& error) {
      draft.report("models", error.what());
    }
  }
  settings.set_list("models", std::move(models));
}

std::string weights_of(const Settings& settings) {
  if (settings.has("weights")) return settings.text("weights");
  const Model* model = settings.has("model") ? find_model(settings.text("model")) : nullptr;
  return model && !model->folder.empty() ? pretrained_weights(model->folder).string() : "";
}

}  // namespace paceline::config
