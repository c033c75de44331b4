// SPDX-License-Identifier: MIT
// Findings about what GPUs did, and what they could have done.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/ratio_verdict.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/device_figures.h"

namespace paceline::analysis {
namespace {

using result::DeviceState;

// "cuda:0 was at its power cap in 50 % of the samples (mean clock 1961 MHz, 512 W)"; empty: nothing slowed it
// down.
std::string slowed_words(const DeviceState& state) {
  std::vector<std::string> parts, figures;
  for (const auto& one : state.slowdowns)
    if (one.share > 0)
      parts.push_back(fmt::format("{} in {} of the samples",
                                  one.reason == result::kPowerCap ? "at its power cap" : "in " + one.reason,
                                  result::share_text(one.share)));
  if (parts.empty()) return {};
  if (state.sm_clock_mean_mhz)
    figures.push_back(fmt::format("mean clock {} MHz", format_fixed(*state.sm_clock_mean_mhz, 0)));
  if (state.power_mean_w) figures.push_back(fmt::format("{} W", format_fixed(*state.power_mean_w, 0)));
  return fmt::format("{}{} was {}{}", state.of_rank ? "the " : "", state.device, join(parts, ", "),
                     figures.empty() ? "" : " (" + join(figures, ", ") + ")");
}

bool uses_gpu(const CaseResult& one) {
  return is_timed_on_gpu(one) && one.headline.p50_ns.value;
}

// Tensor cores compute in these.
constexpr std::array<std::string_view, 6> kTensorPrecisions{"tf32",     "fp16",     "bf16",
                                                            "amp_fp16", "amp_bf16", "amp"};

bool is_half(const CaseResult& one) {
  const auto& precision = one.benchmark.precision;
  return precision != "tf32" && std::ranges::count(kTensorPrecisions, precision) > 0;
}

// How many times as fast one case is as another, with what may be said of it.
struct Gain {
  const CaseResult* slow = nullptr;
  const CaseResult* fast = nullptr;
  double times = 1;
  std::string interval;  // "2.15–2.25"
  std::string no_claim;  // why there is no ratio; then `times` is that of the medians
  [[nodiscard]] std::string text() const {
    const auto factor = format_fixed(times, 2);
    return interval.empty() ? factor : fmt::format("{} ({})", factor, interval);
  }
};

Gain gain_of(const RunResult& run, const CaseResult& slow, const CaseResult& fast) {
  Gain gain{&slow, &fast, *slow.headline.p50_ns.value / *fast.headline.p50_ns.value, {}, {}};
  const auto judged = judge_ratio(run, Figure::kLatency, slow, fast);
  gain.no_claim = judged.doubt();
  if (gain.no_claim.empty()) gain.times = judged.ratio->value, gain.interval = range_of(*judged.ratio);
  return gain;
}

// Whether a gain is one: with an interval, beyond it; else by a margin that processes rarely differ by.
bool is_gain(const Gain& gain, const RunResult& run) {
  constexpr double kBeyondProcesses = 1.2;
  if (!gain.no_claim.empty()) return gain.times >= kBeyondProcesses;
  return judge_ratio(run, Figure::kLatency, *gain.slow, *gain.fast).claim == Claim::kMore;
}

// "; no claim: fewer than six processes" where one of the gains is not decided.
std::string undecided_words(const std::vector<Gain>& gains) {
  for (const auto& gain : gains)
    if (!gain.no_claim.empty()) return "; no claim: " + gain.no_claim;
  return {};
}

// Cases that differ from `one` in the axis alone.
Cases beside(const RunResult& run, const CaseResult& one, std::string_view axis) {
  Cases found;
  for (const CaseResult& other : run.cases)
    if (&other != &one && uses_gpu(other) && other.benchmark.kind == one.benchmark.kind &&
        differing_axes(other.benchmark, one.benchmark) == std::vector<std::string>{std::string(axis)})
      found.push_back(&other);
  return found;
}

const CaseResult* in_precision(const RunResult& run, const CaseResult& one, std::string_view precision) {
  for (const CaseResult* other : beside(run, one, "precision"))
    if (other->benchmark.precision == precision) return other;
  return nullptr;
}

Cases cases_of(const std::vector<Gain>& gains) {
  Cases cases;
  for (const auto& gain : gains)
    for (const CaseResult* one : {gain.fast, gain.slow})
      if (std::ranges::count(cases, one) == 0) cases.push_back(one);
  return cases;
}

std::string p50s_text(const std::vector<Gain>& gains) {
  std::vector<std::string> parts;
  for (const CaseResult* one : cases_of(gains))
    parts.push_back(fmt::format("{} {}", one->label, format_duration_ns(*one->headline.p50_ns.value)));
  return "p50 " + join(parts, ", ");
}

std::string what_of(const CaseResult& one) {
  return describe_without(one.benchmark, "precision");
}

// The fastest half precision beside an fp32 case.
std::optional<Gain> best_half(const RunResult& run, const CaseResult& one) {
  std::optional<Gain> best;
  for (const CaseResult* other : beside(run, one, "precision"))
    if (is_half(*other))
      if (auto gain = gain_of(run, one, *other); !best || gain.times > best->times) best = std::move(gain);
  return best;
}

bool is_fp32_on_gpu(const CaseResult& one) {
  return uses_gpu(one) && one.benchmark.precision == "fp32";
}

// Finds the case at another batch, the largest of those with the same precisions.
const CaseResult* at_larger_batch(const RunResult& run, const CaseResult& one) {
  const CaseResult* found = nullptr;
  for (const CaseResult* other : beside(run, one, "batch"))
    if (other->benchmark.batch_per_rank > (found ? *found : one).benchmark.batch_per_rank) found = other;
  return found;
}

// Share of the wall time in which the device computes or copies.
Number busy_share(const CaseResult& one) {
  const auto share = result::device_share(one);
  if (!share) return share;
  double copies_ns = 0;
  for (const auto& part : one.device_parts)
    if ((part.name == result::kH2d || part.name == result::kD2h) && part.p50_ns) copies_ns += *part.p50_ns;
  return std::min(1.0, *share + copies_ns / *one.headline.p50_ns.value);
}

// Advises how a GPU waits less for the host.
std::string launch_advice(const CaseResult& one, std::int64_t larger_batch) {
  std::vector<std::string> ways;
  if (one.benchmark.engine != "onnxruntime") ways.emplace_back("--cuda-graphs true");
  ways.push_back(larger_batch > 0 ? fmt::format("a larger batch (--batch {})", larger_batch)
                                  : "a larger --batch");
  if (one.benchmark.engine == "eager") ways.emplace_back("--engine torchscript");
  return fmt::format("Try {}.", join(ways, ", "));
}

bool has_graph(const CaseResult& one) {
  const auto graph = one.effective_settings.find("cuda_graph");
  return graph != one.effective_settings.end() && graph->second == "on";
}

// Engines that compile choose the layout themselves; here it is an option.
bool runs_in_libtorch(const CaseResult& one) {
  return one.training() || one.benchmark.engine == "eager" || one.benchmark.engine == "torchscript";
}

// Enough of them for their layout and algorithms to matter.
bool has_convolutions(const CaseResult& one) {
  constexpr double kNotable = 0.1;  // of the FLOPs; those of a vision transformer's patches are 0.7 %
  return one.flops.convolution_share && *one.flops.convolution_share >= kNotable;
}

bool has_setting(const CaseResult& one, const std::string& name, std::string_view value) {
  const auto found = one.effective_settings.find(name);
  return found != one.effective_settings.end() && found->second == value;
}

}  // namespace

Findings find_device_slowdown(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one)) continue;
    std::vector<std::string> devices;
    for (const auto& state : result::device_states(one))
      if (auto words = slowed_words(state); !words.empty()) devices.push_back(std::move(words));
    if (devices.empty()) continue;
    found.push_back(finding_about(
        {&one}, fmt::format("{}: {}.", one.label, join(devices, "; ")),
        one.devices.empty() ? "clock and reasons that NVML reports, twice per second between steps"
                            : "clock and reasons that NVML reports in the timed windows",
        "Compare it only with runs at the same power limit and cooling; nvidia-smi -q -d POWER,CLOCK shows "
        "both."));
  }
  return found;
}

Findings find_idle_tensor_cores(const RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!is_fp32_on_gpu(one)) continue;
    std::vector<Gain> gains;
    if (const auto* tf32 = in_precision(run, one, "tf32")) gains.push_back(gain_of(run, one, *tf32));
    if (auto half = best_half(run, one)) gains.push_back(std::move(*half));
    std::erase_if(gains, [&](const Gain& gain) { return !is_gain(gain, run); });
    if (gains.empty()) continue;
    std::vector<std::string> words;
    for (const auto& gain : gains)
      words.push_back(fmt::format("{} is {} times", gain.fast->benchmark.precision, gain.text()));
    found.push_back(finding_about(
        cases_of(gains),
        fmt::format("{} as fast as fp32 for {}: fp32 leaves the tensor cores idle{}.", join(words, " and "),
                    what_of(one), undecided_words(gains)),
        p50s_text(gains), fmt::format("Try --precision {}.", gains.front().fast->benchmark.precision)));
  }
  return found;
}

Findings find_slow_launches(const RunResult& run) {
  constexpr double kNoFaster = 1.1, kWellBelow = 0.8;
  Findings found;
  for (const CaseResult& one : run.cases) {
    if (!uses_gpu(one) || !traits_of(one.benchmark.kind).runs_engine || has_graph(one)) continue;
    const CaseResult* larger = at_larger_batch(run, one);
    const auto share = busy_share(one);
    const auto batch = larger ? larger->benchmark.batch_per_rank : 0;
    if (share && *share < kWellBelow) {
      found.push_back(finding_about(
          {&one},
          fmt::format("{}: the device works in {} of the wall time and waits for the host in the rest.",
                      one.label, format_percent(*share, 0)),
          "device time and copies over wall time, medians", launch_advice(one, batch)));
      continue;
    }
    if (!is_fp32_on_gpu(one) || !larger) continue;
    const auto here = best_half(run, one);
    const auto there = best_half(run, *larger);
    if (!here || !there || here->times >= kNoFaster || !is_gain(*there, run)) continue;
    found.push_back(
        finding_about(cases_of({*here, *there}),
                      fmt::format("{} is {} times as fast as fp32 for {} and {} times at batch {}: at batch "
                                  "{} the host launches too "
                                  "slowly for it to gain{}.",
                                  here->fast->benchmark.precision, here->text(), what_of(one), there->text(),
                                  batch, one.benchmark.batch_per_rank, undecided_words({*here, *there})),
                      p50s_text({*here, *there}), launch_advice(one, batch)));
  }
  return found;
}

Findings find_contiguous_convolutions(const RunResult& run) {
  Findings found;
  Cases alone;
  for (const CaseResult& one : run.cases) {
    if (!uses_gpu(one) || !is_half(one) || !has_convolutions(one) || !runs_in_libtorch(one) ||
        one.benchmark.layout != "contiguous")
      continue;
    const auto others = beside(run, one, "layout");
    if (others.empty()) alone.push_back(&one);
    for (const CaseResult* other : others) {
      const auto gain = gain_of(run, one, *other);
      if (other->benchmark.layout != "channels_last" || !is_gain(gain, run)) continue;
      found.push_back(
          finding_about({other, &one},
                        fmt::format("channels_last is {} times as fast as contiguous for {}{}.", gain.text(),
                                    describe_without(one.benchmark, "layout"), undecided_words({gain})),
                        p50s_text({gain}), "Use --layout channels_last."));
    }
  }
  if (!alone.empty())
    found.push_back(finding_about(
        alone,
        fmt::format("{} in half precision with convolutions in contiguous layout: {}.",
                    plural(std::ssize(alone), "case"), list_labels(alone)),
        "tensor cores take channels_last; in another layout cuDNN converts every input and output",
        "Try --layout channels_last."));
  return found;
}

Findings find_cudnn_by_rule(const RunResult& run) {
  Cases inference, training;
  for (const CaseResult& one : run.cases)
    if (uses_gpu(one) && has_convolutions(one) && has_setting(one, "cudnn_benchmark", "off"))
      (one.training() ? training : inference).push_back(&one);
  Findings found;
  const auto add = [&](const Cases& cases, const char* option) {
    if (cases.empty()) return;
    found.push_back(
        finding_about(cases,
                      fmt::format("{} with cudnn_benchmark off: {}.", plural(std::ssize(cases), "case"),
                                  list_labels(cases)),
                      "cuDNN then takes its algorithms for convolutions by rule, and does not time them",
                      fmt::format("Try {}.", option)));
  };
  add(inference, "--cuda.cudnn_benchmark true");
  add(training, "--training.cudnn_benchmark true");
  return found;
}

Findings find_gain_by_model(const RunResult& run) {
  std::map<std::string, std::vector<Gain>> groups;  // by all but the model
  for (const CaseResult& one : run.cases)
    if (is_fp32_on_gpu(one))
      for (const CaseResult* other : beside(run, one, "precision"))
        if (is_half(*other) && traits_of(one.benchmark.kind).runs_engine)
          groups[describe_without(other->benchmark, "model")].push_back(gain_of(run, one, *other));
  std::vector<std::pair<double, Finding>> found;  // by the largest gain
  for (auto& [key, gains] : groups) {
    if (gains.size() < 2 || !std::ranges::any_of(gains, [&](const Gain& gain) { return is_gain(gain, run); }))
      continue;
    std::ranges::stable_sort(gains, std::greater(), &Gain::times);
    std::vector<std::string> words;
    for (const auto& gain : gains)
      words.push_back(fmt::format("{} {}{} times", gain.slow->benchmark.model, words.empty() ? "gains " : "",
                                  gain.text()));
    found.emplace_back(gains.front().times, finding_about(cases_of(gains),
                                                          fmt::format("{} from {}{}.", join(words, " and "),
                                                                      key, undecided_words(gains)),
                                                          p50s_text(gains)));
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  Findings sorted;
  for (auto& [times, finding] : found) sorted.push_back(std::move(finding));
  return sorted;
}

}  // namespace paceline::analysis
