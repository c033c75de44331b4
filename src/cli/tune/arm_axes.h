// SPDX-License-Identifier: MIT
// Axes of a search by kind of workload: what arms may differ in, and which values they get by default.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tune/tune_request.h"
#include "config/flag_set.h"

namespace paceline::cli {

// Model and machine as the choice of axes sees them.
struct TunedThings {
  std::string model;  // as typed, or the command's default
  bool is_built_in = false;
  bool can_be_quantised = false;
  bool has_open_batch = false;
  bool takes_images = false;
  bool loads_data = false;  // of training: batches are made or read while it runs
  bool on_gpu = false;
  int cores = 1;   // physical ones that this process may use
  int ranks = 1;   // the most of one case
  int shares = 1;  // of a batch, which all ranks divide with strong scaling
};

struct ArmAxis {
  std::string_view name, option, flag;
  bool (*by_default)(const TuneRequest&, const TunedThings&);
  std::string (*values)(const TunedThings&);  // empty: the option's own default
  // Why all values come to the same here, and what to write; empty: they do not.
  std::string (*no_choice)(const TunedThings&) = [](const TunedThings&) { return std::string(); };
};

// One kind of workload as a search sees it.
struct ArmSpace {
  std::span<const ArmAxis> axes;
  // Throws Error(kUsage) where the words name several models, or none and the command has no default.
  TunedThings (*things)(const config::FlagSet& typed);
  // Throws Error(kUsage) for options that this kind cannot be searched with.
  void (*refuse)(const TuneRequest& request, const config::FlagSet& typed);
  // Words about the length of a look, and others that are no axis.
  std::vector<std::string> (*words)(const TuneRequest& request, const config::FlagSet& typed);
};
extern const ArmSpace kInferenceArms, kTrainingArms;

// The setting of an option; null: it was not typed.
const config::RawSetting* typed_setting(const config::FlagSet& flags, std::string_view option);
// The one model among the typed words, else `fallback`. Throws Error(kUsage) for several, and for none
// without a fallback.
std::string tuned_model(const config::FlagSet& typed, std::string_view fallback);
bool runs_on_gpu(const config::FlagSet& typed);
int usable_cores();

// Limits that end a process once it has the samples of the request's percentiles; none without percentiles.
std::vector<std::string> words_for_samples(const TuneRequest& request);

}  // namespace paceline::cli
