// SPDX-License-Identifier: MIT
// Arms of inference: engines, precisions, threads and batches of one model.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "cli/tune/arm_axes.h"
#include "config/vocabulary.h"
#include "onnx/declared_inputs.h"
#include "onnx/placement.h"

namespace paceline::cli {
namespace {

// 1, 2, 4, … and the last one.
std::string doublings(int most) {
  std::string list;
  for (int n = 1; n < most; n *= 2) list += fmt::format("{},", n);
  return list + std::to_string(most);
}

bool asks_for_instances(const TuneRequest& request) {
  return std::ranges::count(request.axes, "instances") > 0;
}

constexpr std::array kInferenceAxes{
    ArmAxis{"engine", "engines", "--engine", [](const auto&, const auto&) { return true; },
            [](const auto&) { return std::string("all"); }},
    ArmAxis{"precision", "precisions", "--precision", [](const auto&, const auto&) { return true; },
            [](const TunedThings& things) -> std::string {
              if (things.is_built_in) return "fp32,bf16,int8";
              return things.can_be_quantised ? "fp32,int8" : "";
            }},
    ArmAxis{"threads", "threads", "--threads",
            [](const TuneRequest&, const TunedThings& things) { return !things.on_gpu; },
            [](const TunedThings& things) { return doublings(things.cores); }},
    ArmAxis{"batch", "batch_sizes", "--batch",
            [](const TuneRequest& request, const TunedThings& things) {
              return request.objective->name == "throughput" && things.has_open_batch;
            },
            [](const auto&) { return std::string("1,4,16"); }},
    ArmAxis{"instances", "instances", "--instances", [](const auto&, const auto&) { return false; },
            [](const TunedThings& things) { return doublings(things.cores); }},
    ArmAxis{"layout", "layouts", "--layout", [](const auto&, const auto&) { return false; },
            [](const auto&) { return std::string("contiguous,channels_last"); }},
};

bool opens_batch(const std::string& file) {
  try {
    const auto inputs = onnx::read_declared_inputs(file);
    return !inputs.empty() && inputs.front().shape && !inputs.front().shape->empty() &&
           inputs.front().shape->front() == -1;
  } catch (const Error&) {
    return false;
  }
}

TunedThings things_of_inference(const config::FlagSet& typed) {
  TunedThings things;
  things.model = tuned_model(typed, "");
  const bool is_onnx = things.model.ends_with(".onnx");
  things.is_built_in = config::find_model(things.model) != nullptr;
  things.can_be_quantised = is_onnx && onnx::can_be_quantised(things.model);
  things.has_open_batch = things.is_built_in || (is_onnx && opens_batch(things.model));
  things.on_gpu = runs_on_gpu(typed);
  things.cores = usable_cores();
  return things;
}

// A gap is a condition of use, and no choice.
void refuse_gaps(const config::FlagSet& typed) {
  const auto* gaps = typed_setting(typed, "gaps");
  if (gaps && gaps->values.size() > 1)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("{} {}: a search has one gap between inferences; compare gaps with paceline infer",
                    gaps->written, gaps->values.front().text));
}

// Blocks of inferences have no latency.
void refuse_blocks(const TuneRequest& request, const config::FlagSet& typed) {
  const auto* timing = typed_setting(typed, "timing");
  const bool blocks = timing && std::ranges::any_of(timing->values, [](const config::RawValue& value) {
                        return value.text == "pipelined";
                      });
  const bool of_latency = samples_for_percentiles(request) > 0 || request.objective->name == "latency";
  if (blocks && of_latency)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("{} pipelined times blocks of inferences, which have no latency; leave it out, or "
                    "search with --objective throughput and without limits on latency",
                    timing->written));
}

void refuse_of_inference(const TuneRequest& request, const config::FlagSet& typed) {
  refuse_blocks(request, typed);
  refuse_gaps(typed);
}

// An open loop decides its length itself.
bool is_open_loop(const config::FlagSet& typed) {
  const auto* setting = typed_setting(typed, "scenario");
  const auto scenario =
      setting && !setting->values.empty() ? parse_scenario(setting->values.front().text) : std::nullopt;
  return scenario && traits_of(*scenario).open_loop;
}

bool has_length(const config::FlagSet& typed) {
  return std::ranges::any_of(typed.settings, [](const config::RawSetting& setting) {
    return setting.name == "iterations" || setting.name.starts_with("stop.");
  });
}

// Percentiles need the time of each inference, and enough of them however slow the model is.
std::vector<std::string> words_for_percentiles(const TuneRequest& request, const config::FlagSet& typed) {
  if (samples_for_percentiles(request) == 0 || is_open_loop(typed)) return {};
  std::vector<std::string> words;
  if (!typed.has("timing_mode")) words = {"--timing-mode", "sync_latency"};
  if (!has_length(typed))
    for (auto& word : words_for_samples(request)) words.push_back(std::move(word));
  return words;
}

// Lengths of a look, where nothing else is asked for: processes vary more among themselves than the median of
// a short one is uncertain, so that more of them say more than longer ones.
std::vector<std::string> words_for_short_looks(const TuneRequest& request, const config::FlagSet& typed) {
  const bool is_asked =
      has_length(typed) || asks_for_instances(request) ||
      std::ranges::any_of(typed.settings, [](const config::RawSetting& setting) {
        return setting.name == "gaps" || setting.name == "scenario" || setting.name.starts_with("warmup");
      });
  const bool of_energy =
      request.objective->name == "energy" || std::ranges::any_of(request.limits, [](const Limit& limit) {
        return limit.gate && limit.gate->metric.find("energy") != std::string::npos;
      });
  if (is_asked || of_energy || runs_on_gpu(typed) || samples_for_percentiles(request) > 0) return {};
  return {"--warmup.min-time-s", "0.2", "--warmup.max-time-s",      "0.75", "--stop.t-min-s", "0.3",
          "--stop.t-max-s",      "1",   "--stop.rel-halfwidth-p50", "0.05"};
}

std::vector<std::string> words_of_inference(const TuneRequest& request, const config::FlagSet& typed) {
  auto words = words_for_percentiles(request, typed);
  for (auto& word : words_for_short_looks(request, typed)) words.push_back(std::move(word));
  const auto add = [&](std::string_view flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  if (asks_for_instances(request) && !typed.has("instances") && !typed.has("scenario"))
    add("--scenario", "closed_loop");
  if (request.most_top1_change)
    add("--accuracy.max-top1-change", fmt::format("{:g}", *request.most_top1_change));
  if (!typed.has("measure_peak")) words.emplace_back("--no-measure-peak");
  return words;
}

}  // namespace

constexpr ArmSpace kInferenceArms{kInferenceAxes, things_of_inference, refuse_of_inference,
                                  words_of_inference};

}  // namespace paceline::cli
