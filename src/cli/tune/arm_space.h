// SPDX-License-Identifier: MIT
// The arms of a search, as words of infer.
#pragma once
#include <string>
#include <vector>

#include "cli/tune/tune_request.h"
#include "config/flag_set.h"

namespace paceline::cli {

// Most arms of one search.
inline constexpr std::size_t kMostArms = 200;

// Model and machine as the choice of axes sees them.
struct TunedThings {
  std::string model;  // as typed
  bool is_built_in = false;
  bool can_be_quantised = false;
  bool has_open_batch = false;
  bool on_gpu = false;
  int cores = 1;  // physical ones that this process may use
};
// Throws Error(kUsage) where the words name no model, or several.
TunedThings tuned_things(const config::FlagSet& infer);

// Throws Error(kUsage) for options that a search decides itself.
void refuse_options(const config::FlagSet& infer);

// The words of infer with those of the axes, the limits and the rounds. An option that was typed stays as it
// is. Throws Error(kUsage) for options that a search decides itself, and for more arms than kMostArms.
std::vector<std::string> words_of_arms(const TuneRequest& request, const config::FlagSet& infer,
                                       const TunedThings& things, std::size_t rounds);

}  // namespace paceline::cli
