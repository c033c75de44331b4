// SPDX-License-Identifier: MIT
// Training in a plan: what `train` leaves out, the batch of a rank, and which cases would repeat another.
#include <algorithm>
#include <array>

#include "config/kind_in_plan.h"
#include "config/training/training_rules.h"

namespace paceline::config {
namespace {

constexpr std::array<std::string_view, 6> kImpliedBy{"training", "ddp",         "gpu_counts",
                                                     "ranks",    "world_sizes", "world_size"};

// `train` without a model trains ResNet-50, as the scripts of older training suites do.
FlagSet with_training_model(const FlagSet& typed) {
  FlagSet flags = typed;
  const auto named = [](const RawSetting& s) { return s.name == "models"; };
  if (std::any_of(flags.settings.begin(), flags.settings.end(), named)) return flags;
  RawSetting model;
  model.name = model.written = "models";
  model.values = {{std::string(kDefaultTrainingModel), {}, false}};
  model.on_command_line = true;
  flags.settings.push_back(std::move(model));
  return flags;
}

// benchmark.measure_by chooses among the lengths of a plan; those of the command line stand.
void drop_unmeasured(std::vector<RawSetting>& settings) {
  const auto chosen = std::find_if(settings.begin(), settings.end(), [](const RawSetting& s) {
    return s.name == "benchmark.measure_by" && s.values.size() == 1;
  });
  if (chosen == settings.end()) return;
  const auto typed = [](const RawSetting& s) {
    return s.on_command_line &&
           (s.name == "benchmark.measure_steps" || s.name == "benchmark.measure_seconds");
  };
  if (!chosen->on_command_line && std::ranges::any_of(settings, typed)) {
    settings.erase(chosen);
    return;
  }
  const bool by_time = chosen->values.front().text == "time";
  if (!by_time && chosen->values.front().text != "steps") return;
  const std::string_view dropped = by_time ? "benchmark.measure_steps" : "benchmark.measure_seconds";
  std::erase_if(settings, [&](const RawSetting& s) { return s.name == dropped && !s.on_command_line; });
}

// With strong scaling the batch is that of all ranks; training_rules refuses what cannot be divided.
std::int64_t batch_of_a_rank(const Case& item) {
  const std::int64_t batch = item.settings.integer("batch");
  const bool strong = item.settings.text("training.scaling") == "strong";
  return strong ? std::max<std::int64_t>(1, batch / item.settings.integer("ranks")) : batch;
}

bool repeats_ddp(const AxisPlace& axis, std::int64_t ranks) {
  const auto way = [&](std::size_t i) { return ddp_for(value_text(axis.values[i]), ranks); };
  if (way(axis.at).empty())  // kept with its reason where the plan asks for nothing else
    return axis.values.size() > 1;
  for (std::size_t i = 0; i < axis.at; ++i)
    if (way(i) == way(axis.at)) return true;
  return false;
}

// Synthetic data that are not fresh are one batch, which no worker makes.
bool loads_batches(const Case& item) {
  return item.settings.text("data.source") != "synthetic" || item.settings.flag("data.synthetic_fresh");
}

// Whether the case repeats another: its DDP options come to the same for its ranks, or nothing uses them.
bool repeats_another(const Case& item, std::span<const AxisPlace> places) {
  const std::int64_t ranks = item.settings.integer("ranks");
  return std::ranges::any_of(places, [&](const AxisPlace& axis) {
    if (axis.name == "ddp.enabled") return repeats_ddp(axis, ranks);
    if (axis.name == "data.workers") return axis.at > 0 && !loads_batches(item);
    return axis.name.starts_with("ddp.") && axis.at > 0 && !runs_ddp(item);
  });
}

bool complete_training(Case& item, std::span<const AxisPlace> places) {
  item.settings.set("batch", batch_of_a_rank(item));
  return !repeats_another(item, places);
}

}  // namespace

constexpr KindInPlan kTrainingInPlan{.implied_by = kImpliedBy,
                                     .complete_flags = with_training_model,
                                     .drop = drop_unmeasured,
                                     .check = check_training,
                                     .complete = complete_training,
                                     .reasons = training_reasons};

}  // namespace paceline::config
