// SPDX-License-Identifier: MIT
// Arms of training: batch, threads, precision, layout, loader workers and buckets of one job.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/run/launched_run.h"
#include "cli/tune/arm_axes.h"
#include "cluster/launch_words.h"
#include "config/flags.h"
#include "config/training/training_rules.h"
#include "config/vocabulary.h"

namespace paceline::cli {
namespace {

constexpr std::string_view kWarmupSteps = "3", kLookSeconds = "3";
constexpr double kShortestTimeout = 60;  // seconds

int cores_per_rank(const TunedThings& things) {
  return std::max(1, things.cores / things.ranks);
}

std::string default_batches(const TunedThings& things) {
  const int n = things.shares;
  return things.on_gpu ? fmt::format("{},{},{}", 32 * n, 64 * n, 128 * n)
                       : fmt::format("{},{}", 8 * n, 32 * n);
}

bool always(const TuneRequest& /*request*/, const TunedThings& /*things*/) {
  return true;
}

constexpr std::array kTrainingAxes{
    ArmAxis{"batch", "batch_sizes", "--batch",
            [](const TuneRequest& request, const TunedThings&) {
              return request.objective->name == "throughput";
            },
            [](const TunedThings& things) { return default_batches(things); }},
    ArmAxis{"threads", "threads", "--threads",
            [](const TuneRequest&, const TunedThings& things) { return !things.on_gpu; },
            [](const TunedThings& things) {
              return fmt::format("{},{}", cores_per_rank(things) / 2, cores_per_rank(things));
            },
            [](const TunedThings& things) {
              return cores_per_rank(things) > 1
                         ? ""
                         : fmt::format(
                               "there is one core per rank ({} for {}); write the numbers of threads, "
                               "e.g. --threads 1,2",
                               plural(things.cores, "core"), plural(things.ranks, "rank"));
            }},
    ArmAxis{"precision", "precisions", "--precision", always,
            [](const TunedThings& things) {
              return std::string(things.on_gpu ? "fp32,tf32,bf16" : "fp32,bf16");
            }},
    ArmAxis{"layout", "layouts", "--layout", always,
            [](const TunedThings&) { return std::string("contiguous,channels_last"); },
            [](const TunedThings& things) {
              return things.takes_images ? "" : things.model + " takes no images, which layouts are about";
            }},
    ArmAxis{"workers", "data.workers", "--data.workers", always,
            [](const TunedThings&) { return std::string("1,2,4"); },
            [](const TunedThings& things) -> std::string {
              if (things.loads_data) return {};
              return "synthetic data are one batch that nobody loads; name data with --data.source, or write "
                     "--data.synthetic_fresh";
            }},
    ArmAxis{"bucket", "ddp.bucket_cap_mb", "--ddp.bucket_cap_mb", always,
            [](const TunedThings&) { return std::string("5,25,100"); },
            [](const TunedThings& things) {
              return std::string(things.ranks > 1 ? ""
                                                  : "one rank exchanges no gradients; write --ranks 2, say");
            }},
};

// Typed numbers of ranks; what is no number is reported later.
std::vector<int> typed_ranks(const config::FlagSet& typed) {
  constexpr long long kMost = 65'536;
  std::vector<int> ranks{1};
  for (const auto* option : {"gpu_counts", "nproc_per_node"})
    if (const auto* setting = typed_setting(typed, option))
      for (const auto& value : setting->values)
        ranks.push_back(static_cast<int>(std::clamp(parse_int(value.text).value_or(1), 1LL, kMost)));
  return ranks;
}

// The least batch that each of these numbers of ranks can divide.
int common_shares(const std::vector<int>& ranks) {
  constexpr int kMost = 65'536;
  int shares = 1;
  for (const int n : ranks) shares = std::min(kMost, std::lcm(shares, n));
  return shares;
}

bool has_value(const config::FlagSet& typed, std::string_view option, std::string_view value) {
  const auto* setting = typed_setting(typed, option);
  return setting &&
         std::ranges::any_of(setting->values, [&](const config::RawValue& one) { return one.text == value; });
}

TunedThings things_of_training(const config::FlagSet& typed) {
  TunedThings things;
  things.model = tuned_model(typed, config::kDefaultTrainingModel);
  const auto* model = config::find_model(things.model);
  things.is_built_in = model != nullptr;
  things.takes_images = model && model->item == "images";
  const bool synthetic = !typed.has("data.source") || has_value(typed, "data.source", "synthetic");
  things.loads_data = !synthetic || has_value(typed, "data.synthetic_fresh", "true");
  things.on_gpu = runs_on_gpu(typed);
  things.cores = usable_cores();
  const auto ranks = typed_ranks(typed);
  things.ranks = std::ranges::max(ranks);
  if (has_value(typed, "training.scaling", "strong")) things.shares = common_shares(ranks);
  return things;
}

void refuse_of_training(const TuneRequest& /*request*/, const config::FlagSet& typed) {
  const auto* plan = typed_setting(typed, "config");
  if (plan || !typed.positionals.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: a search takes options of train, not a plan; write them as flags",
                            plan ? plan->written : typed.positionals.front()));
  const auto place = launch_place(typed, config::command_settings(typed));
  if (place && !place->alone())
    throw Error(ErrorCode::kUsage,
                fmt::format("tune starts its ranks itself, but {}; run it without a launcher",
                            cluster::started_words(*place)));
}

bool has_length_of_training(const config::FlagSet& typed) {
  return std::ranges::any_of(typed.settings, [](const config::RawSetting& setting) {
    return setting.name.starts_with("stop.") || setting.name.starts_with("benchmark.measure_");
  });
}

// A look is short. One that hangs ends after a third of the budget, since an arm needs three.
std::vector<std::string> words_of_training(const TuneRequest& request, const config::FlagSet& typed) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view option, std::string_view value) {
    words.push_back(fmt::format("--{}", option));
    words.emplace_back(value);
  };
  if (!typed.has("benchmark.warmup_steps")) add("benchmark.warmup_steps", kWarmupSteps);
  if (!typed.has("timeout_s"))
    add("timeout_s", fmt::format("{:.0f}", std::max(kShortestTimeout, request.budget_s / 3)));
  if (has_length_of_training(typed)) return words;
  auto samples = words_for_samples(request);
  if (samples.empty()) add("stop.t_max_s", kLookSeconds);
  words.insert(words.end(), samples.begin(), samples.end());
  return words;
}

}  // namespace

constexpr ArmSpace kTrainingArms{kTrainingAxes, things_of_training, refuse_of_training, words_of_training};

}  // namespace paceline::cli
