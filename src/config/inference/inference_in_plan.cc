// SPDX-License-Identifier: MIT
#include "config/inference/inference_in_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/inference/arrivals.h"
#include "config/inference/folder_weights.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// The mode of the warm-up follows from its length, and the other way round.
void settle_warmup(WorkloadDraft& d) {
  if (!d.settings.has("warmup.mode")) return;
  if (d.written("warmup_iterations") && !d.written("warmup.mode"))
    d.settings.set("warmup.mode", std::string("fixed"));
  if (d.is("warmup.mode", "fixed") && !d.settings.has("warmup_iterations"))
    d.settings.set("warmup_iterations", std::int64_t{10});
}

// By the names of engine and model, as far as they are set.
bool runs_torchscript(const Settings& settings) {
  constexpr std::string_view kEngine = "torchscript";
  const auto texts = [&](const char* name) {
    return settings.has(name) ? settings.texts(name) : std::vector<std::string>();
  };
  const auto engines = texts("engines"), models = texts("models");
  const bool by_file = std::ranges::any_of(models, [&](const std::string& model) {
    const auto* type = find_file_type(model);
    return type && std::ranges::find(type->readers, kEngine) != type->readers.end();
  });
  return by_file || std::ranges::find(engines, kEngine) != engines.end();
}

void remark_on_first_runs(WorkloadDraft& d) {
  if (!d.settings.has("warmup_iterations") || d.settings.integer("warmup_iterations") > 0 ||
      !runs_torchscript(d.settings))
    return;
  d.remarks.push_back(fmt::format(
      "{} 0: TorchScript rewrites its graph in its first runs, which are timed without a warm-up",
      d.written("warmup_iterations") ? d.written("warmup_iterations")->written : "warmup_iterations"));
}

// A recorded schedule sets the length itself, so the default of the shortest limits nothing.
void imply_shortest(WorkloadDraft& d) {
  constexpr const char *kShortest = "server.t_min_s", *kLongest = "server.t_max_s";
  if (schedule_file(d.settings).empty() || d.written(kShortest) || !d.settings.has(kLongest)) return;
  d.settings.set(kShortest, std::min(d.settings.number(kShortest), d.settings.number(kLongest)));
}

}  // namespace

constexpr KindInPlan kInferenceInPlan{.complete_flags = with_first_look,
                                      .imply =
                                          [](WorkloadDraft& draft) {
                                            imply_gpus(draft);
                                            imply_folders(draft);
                                            imply_shortest(draft);
                                          },
                                      .check = check_inference,
                                      .settle =
                                          [](WorkloadDraft& draft) {
                                            settle_warmup(draft);
                                            remark_on_first_runs(draft);
                                            settle_inputs(draft);
                                          },
                                      .reasons = inference_reasons};

}  // namespace paceline::config
