// SPDX-License-Identifier: MIT
#include "cli/tune/arm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "host/machine/cpu.h"
#include "host/machine/cpu_choice.h"
#include "onnx/declared_inputs.h"
#include "onnx/placement.h"
#include "run/device_choice.h"

namespace paceline::cli {
namespace {

constexpr std::array<std::string_view, 10> kOfRuns{"only",        "dry_run",    "expect",    "junit",
                                                   "in_process",  "nccl_json",  "self_test", "monitor",
                                                   "repetitions", "cross_check"};

// 1, 2, 4, … and the last one.
std::string doublings(int most) {
  std::string list;
  for (int n = 1; n < most; n *= 2) list += fmt::format("{},", n);
  return list + std::to_string(most);
}

struct ArmAxis {
  std::string_view name, option, flag;
  bool (*by_default)(const TuneRequest&, const TunedThings&);
  std::string (*values)(const TunedThings&);  // empty: the option's own default
};
constexpr std::array kArmAxes{
    ArmAxis{"engine", "engines", "--engine", [](const auto&, const auto&) { return true; },
            [](const auto&) { return std::string("all"); }},
    ArmAxis{"precision", "precisions", "--precision", [](const auto&, const auto&) { return true; },
            [](const TunedThings& things) -> std::string {
              if (things.is_built_in) return "fp32,bf16,int8";
              return things.can_be_quantised ? "fp32,int8" : "";
            }},
    ArmAxis{"threads", "threads", "--threads",
            [](const TuneRequest& request, const TunedThings& things) {
              return !things.on_gpu && std::ranges::count(request.axes, "instances") == 0;
            },
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

bool is_on(const ArmAxis& axis, const TuneRequest& request, const TunedThings& things) {
  if (request.axes.empty()) return axis.by_default(request, things);
  return std::ranges::count(request.axes, axis.name) > 0;
}

const config::RawSetting* typed_setting(const config::FlagSet& flags, std::string_view option) {
  const auto found = std::ranges::find(flags.settings, option, &config::RawSetting::name);
  return found == flags.settings.end() ? nullptr : &*found;
}

// A gap is a condition of use, and no choice.
void refuse_gaps(const config::FlagSet& infer) {
  const auto* gaps = typed_setting(infer, "gaps");
  if (gaps && gaps->values.size() > 1)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("{} {}: a search has one gap between inferences; compare gaps with paceline infer",
                    gaps->written, gaps->values.front().text));
}

void check_number_of_arms(const config::FlagSet& infer) {
  double arms = 1;
  for (const auto& setting : infer.settings) {
    const auto* option = config::find_option(setting.name, config::kInference);
    if (option && option->is_axis())
      arms *= static_cast<double>(std::max<std::size_t>(setting.values.size(), 1));
  }
  if (arms > static_cast<double>(kMostArms))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("this space has {:.0f} arms, and a search takes {} at most; write fewer values, or "
                    "search one part after the other",
                    arms, kMostArms));
}

// An open loop decides its length itself.
bool is_open_loop(const config::FlagSet& infer) {
  const auto* setting = typed_setting(infer, "scenario");
  const auto scenario =
      setting && !setting->values.empty() ? parse_scenario(setting->values.front().text) : std::nullopt;
  return scenario && traits_of(*scenario).open_loop;
}

// Blocks of inferences have no latency.
void refuse_blocks(const TuneRequest& request, const config::FlagSet& infer) {
  const auto* timing = typed_setting(infer, "timing");
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

// Percentiles need the time of each inference, and enough of them however slow the model is: a process ends
// with the first of these that holds.
std::vector<std::string> words_for_percentiles(const TuneRequest& request, const config::FlagSet& infer) {
  const auto samples = samples_for_percentiles(request);
  if (samples == 0 || is_open_loop(infer)) return {};
  std::vector<std::string> words;
  if (!infer.has("timing_mode")) words = {"--timing-mode", "sync_latency"};
  const bool has_length = std::ranges::any_of(infer.settings, [](const config::RawSetting& setting) {
    return setting.name == "iterations" || setting.name.starts_with("stop.");
  });
  if (!has_length)
    for (const auto& word : {std::string("--stop.n-min"), std::to_string(samples),
                             std::string("--stop.rel-halfwidth-p50"), std::string("1")})
      words.push_back(word);
  return words;
}

// Lengths of a look, where nothing else is asked for: processes vary more among themselves than the median of
// a short one is uncertain, so that more of them say more than longer ones.
std::vector<std::string> words_for_short_looks(const TuneRequest& request, const config::FlagSet& infer,
                                               const TunedThings& things) {
  const bool is_asked = std::ranges::any_of(infer.settings, [](const config::RawSetting& setting) {
    return setting.name == "iterations" || setting.name == "gaps" || setting.name == "scenario" ||
           setting.name.starts_with("stop.") || setting.name.starts_with("warmup");
  });
  const bool has_load = std::ranges::count(request.axes, "instances") > 0;
  if (is_asked || has_load || things.on_gpu || samples_for_percentiles(request) > 0) return {};
  return {"--warmup.min-time-s", "0.2", "--warmup.max-time-s",      "0.75", "--stop.t-min-s", "0.3",
          "--stop.t-max-s",      "1",   "--stop.rel-halfwidth-p50", "0.05"};
}

bool opens_batch(const std::string& file) {
  try {
    const auto inputs = onnx::read_declared_inputs(file);
    return !inputs.empty() && inputs.front().shape && !inputs.front().shape->empty() &&
           inputs.front().shape->front() == -1;
  } catch (const Error&) {
    return false;
  }
}

int usable_cores() {
  const auto allowed = static_cast<int>(host::allowed_cpus().size());
  const auto cores = host::read_cpu().cores;
  return std::max(1, cores ? std::min(allowed, static_cast<int>(*cores)) : allowed);
}

std::string value_of(const config::FlagSet& flags, std::string_view option) {
  for (const auto& setting : flags.settings)
    if (setting.name == option && !setting.values.empty()) return setting.values.front().text;
  return {};
}

bool runs_on_gpu(const config::FlagSet& infer) {
  const auto device = value_of(infer, "device");
  if (!device.empty() && device != "auto") return is_cuda(device);
  return run::gpus_here(InterruptGuard::flag()).absent.empty();
}

}  // namespace

void refuse_options(const config::FlagSet& infer) {
  for (const auto& setting : infer.settings)
    if (std::ranges::find(kOfRuns, setting.name) != kOfRuns.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: tune decides itself what it measures and how often; leave it out",
                              setting.written));
}

TunedThings tuned_things(const config::FlagSet& infer) {
  TunedThings things;
  for (const auto& setting : infer.settings) {
    if (setting.name != "models") continue;
    if (setting.values.size() != 1 || !things.model.empty())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: a search is about one model; start one for each", setting.written));
    things.model = setting.values.front().text;
  }
  if (things.model.empty())
    throw Error(ErrorCode::kUsage, "tune: no model given; write paceline tune --model FILE");
  const bool is_onnx = things.model.ends_with(".onnx");
  things.is_built_in = config::find_model(things.model) != nullptr;
  things.can_be_quantised = is_onnx && onnx::can_be_quantised(things.model);
  things.has_open_batch = things.is_built_in || (is_onnx && opens_batch(things.model));
  things.on_gpu = runs_on_gpu(infer);
  things.cores = usable_cores();
  return things;
}

std::vector<std::string> words_of_arms(const TuneRequest& request, const config::FlagSet& infer,
                                       const TunedThings& things, std::size_t rounds) {
  refuse_options(infer);
  refuse_blocks(request, infer);
  refuse_gaps(infer);
  auto words = request.words;
  for (auto& word : words_for_percentiles(request, infer)) words.push_back(std::move(word));
  for (auto& word : words_for_short_looks(request, infer, things)) words.push_back(std::move(word));
  const auto add = [&](std::string_view flag, std::string value) {
    words.emplace_back(flag);
    if (!value.empty()) words.push_back(std::move(value));
  };
  for (const auto& axis : kArmAxes) {
    if (infer.has(axis.option) || !is_on(axis, request, things)) continue;
    const auto values = axis.values(things);
    if (!values.empty()) add(axis.flag, values);
    if (axis.name == "instances" && !infer.has("scenario")) add("--scenario", "closed_loop");
  }
  if (request.most_top1_change)
    add("--accuracy.max-top1-change", fmt::format("{:g}", *request.most_top1_change));
  if (!infer.has("measure_peak")) add("--no-measure-peak", "");
  if (!infer.has("experiment_name")) add("--experiment-name", "tune");
  check_number_of_arms(config::parse_flags(words, config::kInfer));
  add("--repetitions", std::to_string(rounds));
  return words;
}

}  // namespace paceline::cli
