// SPDX-License-Identifier: MIT
#include "config/training_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// Where data come from, and for which models.
struct Source {
  std::string_view name;
  bool needs_path;
  std::string_view item;  // what one sample is; empty: anything
};
constexpr std::array kSources{Source{"synthetic", false, ""}, Source{"cifar100", false, "images"},
                              Source{"image_folder", true, "images"}, Source{"token_file", true, "sequences"},
                              Source{"npz", true, ""}};

const Source& source_of(const Settings& s) {
  return *std::find_if(kSources.begin(), kSources.end(),
                       [&](const Source& row) { return row.name == s.text("data.source"); });
}

// An option that is without effect, or impossible, unless another is set.
struct Needs {
  std::string_view option, value, needed, example;
};
constexpr std::array kNeeds{
    Needs{"training.schedule", "cosine", "training.lr_total_steps", "1000"},
    Needs{"training.schedule", "step", "training.lr_step_size", "100"},
    Needs{"checkpoint.resume", "true", "checkpoint.dir", "checkpoints"},
    Needs{"checkpoint.async", "true", "checkpoint.dir", "checkpoints"},
};

double largest(const Settings& s, std::string_view name) {
  const auto values = s.numbers(name);
  return values.empty() ? 1 : *std::max_element(values.begin(), values.end());
}

// Options may be missing because their own value was a mistake.
bool is(const Settings& s, std::string_view name, std::string_view value) {
  return s.has(name) && value_text(s.list(name).front()) == value;
}

void check_needs(const Settings& s, std::vector<Mistake>& out) {
  for (const auto& row : kNeeds)
    if (is(s, row.option, row.value) && !s.has(row.needed))
      out.push_back({std::string(row.option), fmt::format("{}: {} needs {}; add {}: {}", row.option,
                                                          row.value, row.needed, row.needed, row.example)});
  for (const std::string option : {"checkpoint.every_steps", "max_restarts"})
    if (s.has(option) && s.integer(option) > 0 && !s.has("checkpoint.dir"))
      out.push_back({option, option + " needs checkpoint.dir; add checkpoint.dir: checkpoints"});
}

void check_optimizer(const Settings& s, std::vector<Mistake>& out) {
  if (s.has("training.betas") && s.numbers("training.betas").size() != 2)
    out.push_back({"training.betas", "training.betas are two numbers: [0.9, 0.999]"});
  if (is(s, "training.nesterov", "true") && is(s, "training.momentum", "0"))
    out.push_back({"training.nesterov", "training.nesterov needs a momentum; add training.momentum: 0.9"});
}

void check_data(const Settings& s, std::vector<Mistake>& out) {
  if (!s.has("data.source")) return;
  const Source& source = source_of(s);
  if (source.needs_path && !s.has("data.path"))
    out.push_back(
        {"data.source", fmt::format("data.source: {} needs data.path, the file or folder", source.name)});
  std::error_code error;
  if (source.needs_path && s.has("data.path") && !std::filesystem::exists(s.text("data.path"), error))
    out.push_back(
        {"data.path", fmt::format("data.path '{}' does not exist; check the path", s.text("data.path"))});
}

// Every step takes whole batches, so an epoch must hold one of each rank.
void check_epoch(const Settings& s, std::vector<Mistake>& out) {
  if (!is(s, "data.source", "synthetic") || !s.has("data.synthetic_samples")) return;
  const double step =
      largest(s, "batch_sizes") * largest(s, "gpu_counts") * largest(s, "training.accumulation_steps");
  if (step > s.number("data.synthetic_samples"))
    out.push_back(
        {"batch_sizes", fmt::format("a step of the largest case takes {:.0f} samples (batch x ranks x "
                                    "accumulation), and an epoch has {:.0f}; raise "
                                    "data.synthetic_samples, or make the batch smaller",
                                    step, s.number("data.synthetic_samples"))});
}

}  // namespace

std::vector<Mistake> training_mistakes(const Settings& settings) {
  std::vector<Mistake> out;
  check_needs(settings, out);
  check_optimizer(settings, out);
  check_data(settings, out);
  check_epoch(settings, out);
  return out;
}

std::string_view ddp_for(std::string_view asked, std::int64_t ranks) {
  if (ranks > 1) return asked == "false" ? "" : "on";
  return asked == "true" ? "on" : "off";
}

bool runs_ddp(const Case& item) {
  return ddp_for(item.settings.text("ddp.enabled"), item.settings.integer("ranks")) == "on";
}

std::string optimizer_of(const Case& item) {
  const auto& asked = item.settings.text("training.optimizer");
  if (asked != "auto") return asked;
  const Model* model = find_model(item.settings.text("model"));
  return model && model->task == Task::kTransformer ? "adamw" : "sgd";
}

std::vector<std::string> training_reasons(const Case& item) {
  const Settings& s = item.settings;
  std::vector<std::string> reasons;
  const Model* model = find_model(s.text("model"));
  if (!model) {
    reasons.push_back(
        fmt::format("'{}' cannot be trained: training takes the built-in models", s.text("model")));
    return reasons;
  }
  if (s.has("sequence_length") && s.integer("sequence_length") > model->max_sequence_length)
    reasons.push_back(fmt::format("{} takes at most {} tokens, and sequence_length is {}", model->name,
                                  model->max_sequence_length, s.integer("sequence_length")));
  const Source& source = source_of(s);
  if (!source.item.empty() && source.item != model->item)
    reasons.push_back(fmt::format("data.source '{}' holds {}, and {} takes {}", source.name, source.item,
                                  model->name, model->item));
  if (ddp_for(s.text("ddp.enabled"), s.integer("ranks")).empty())
    reasons.emplace_back("'ddp.enabled: false' is for one rank: the gradients of several would stay apart");
  if (s.text("backend") == "nccl" && s.text("device") == "cpu")
    reasons.emplace_back("backend 'nccl' connects CUDA devices; use gloo with device: cpu");
  return reasons;
}

}  // namespace paceline::config
