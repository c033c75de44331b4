// SPDX-License-Identifier: MIT
#include "result/judged/noise_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "result/figures/device_figures.h"
#include "stats/noise.h"

namespace paceline::result {
namespace {

constexpr double kDependenceTau = 5;   // integrated autocorrelation time, in samples
constexpr double kSamplesPerTau = 50;  // the median's length guard
constexpr NoiseLimits kAnyWarns{0.0, std::nullopt};
constexpr NoiseLimits kAnyInvalid{std::nullopt, 0.0};

Number flag(bool raised) {
  return raised ? 1.0 : 0.0;
}

Number throttled(const NoiseFacts& f) {
  const Count& count = f.noise.cgroup_throttled;
  return count ? Number(static_cast<double>(*count)) : Number::missing(count.reason());
}

// The total trend only counts when the trend test is significant too.
Number drift(const NoiseFacts& f) {
  if (f.queue) return Number::missing("not_applicable");  // the slope of the backlog is judged instead
  const bool device = f.device_decides && f.noise.device_drift_z;
  const Number& frac = device ? f.noise.device_drift_frac : f.noise.drift_frac;
  const Number& z = device ? f.noise.device_drift_z : f.noise.drift_z;
  if (!frac || !z) return Number::missing(frac.reason());
  return std::abs(*z) > stats::kDriftZ ? std::abs(*frac) : 0.0;
}

Number tau(const NoiseFacts& f) {
  return f.queue ? Number::missing("not_applicable") : f.noise.tau_x;
}

// The length guard of a dependent series: tau relative to what n samples can carry; data that are independent
// enough pass for any n.
Number tau_guard(const NoiseFacts& f) {
  if (!f.noise.tau_x || f.queue || f.interval_over_processes || f.n <= 0)
    return Number::missing("not_applicable");
  if (*f.noise.tau_x <= kDependenceTau) return 0.0;
  return *f.noise.tau_x * kSamplesPerTau / static_cast<double>(f.n);
}

constexpr NoiseRule kRules[] = {
    {"instrument", kAnyInvalid, kAnyInvalid, NoiseFormat::kFlag, "not comparable: it was measured under ",
     "measure without the tool", [](const NoiseFacts& f) { return flag(!f.noise.instrument.empty()); }},
    {"device_power_cap", kAnyWarns, kAnyWarns, NoiseFormat::kShare,
     "the GPU was at its power cap in {0} of the samples", "compare runs at the same power limit only",
     [](const NoiseFacts& f) { return f.power_capped; }, NoiseOf::kDevice},
    {"device_slowdown",
     {0.0, 0.05},
     {0.0, 0.05},
     NoiseFormat::kPercent,
     "heat or its power supply slowed the GPU down in {0} of the samples",
     "check its cooling and its power supply",
     [](const NoiseFacts& f) { return f.slowed_down; },
     NoiseOf::kDevice},
    {"device_clock",
     {0.01, 0.05},
     {0.01, 0.05},
     NoiseFormat::kPercent,
     "the clock of the GPU varied by {0}",
     "warm up longer, or compare interleaved runs only",
     [](const NoiseFacts& f) { return f.device_clock_cv; },
     NoiseOf::kDevice},
    {"device_processes", kAnyWarns, kAnyWarns, NoiseFormat::kCount,
     "other processes used the GPU, up to {0} at once", "stop them, or use another GPU",
     [](const NoiseFacts& f) { return f.device_processes; }, NoiseOf::kDevice},
    {"runq_wait_frac",
     {0.01, 0.05},
     {0.01, 0.05},
     NoiseFormat::kPercent,
     "a thread waited {0} of the time for a CPU",
     "use fewer threads than allowed CPUs, or stop other programs",
     [](const NoiseFacts& f) { return f.noise.runq_wait_frac; },
     NoiseOf::kHost},
    {"nivcsw_per_s",
     {20, 200},
     {20, 200},
     NoiseFormat::kPlain,
     "a thread was taken off its CPU {0} times per second",
     "use fewer threads than allowed CPUs, or pin them",
     [](const NoiseFacts& f) { return f.noise.nivcsw_per_s; },
     NoiseOf::kHost},
    {"steal_frac",
     {0.005, 0.02},
     {0.005, 0.02},
     NoiseFormat::kPercent,
     "the hypervisor gave {0} of the CPU time to other machines",
     "use a dedicated machine, or more repetitions",
     [](const NoiseFacts& f) { return f.noise.steal_frac; },
     NoiseOf::kHost},
    {"cgroup_throttled", kAnyInvalid, kAnyInvalid, NoiseFormat::kCount,
     "the cgroup's CPU quota stopped the process {0} times", "raise the quota, or use fewer threads",
     throttled, NoiseOf::kHost},
    {"psi_cpu_some",
     {0.05, 0.20},
     {0.05, 0.20},
     NoiseFormat::kPercent,
     "some task waited for a CPU {0} of the time",
     "stop other programs, or use fewer threads",
     [](const NoiseFacts& f) { return f.noise.psi_cpu_some; },
     NoiseOf::kHost},
    {"foreign_cpu_frac",
     {0.05, 0.25},
     {0.01, 0.05},
     NoiseFormat::kPercent,
     "neighbours used {0} of the machine",
     "repeat when the machine is quiet",
     [](const NoiseFacts& f) { return f.noise.foreign_cpu_frac; },
     NoiseOf::kHost},
    {"freq_cv",
     {0.03, 0.05},
     {0.03, 0.05},
     NoiseFormat::kPercent,
     "the clock frequency varied by {0}",
     "fix the frequency, or compare interleaved runs only",
     [](const NoiseFacts& f) { return f.noise.freq_cv; },
     NoiseOf::kHost},
    {"os_noise",
     {0.01, 0.05},
     {0.01, 0.05},
     NoiseFormat::kPercent,
     "{0} of a spinning thread's time was taken by the system",
     "stop other programs; see steal and neighbours",
     [](const NoiseFacts& f) { return f.overhead.os_noise_frac; },
     NoiseOf::kHost},
    {"overhead_fraction",
     {0.005, 0.05},
     {0.005, 0.05},
     NoiseFormat::kPercent,
     "timing itself costs {0} of an iteration",
     "time in batches (batched mode), or use a larger workload",
     [](const NoiseFacts& f) { return f.overhead.overhead_fraction; },
     NoiseOf::kHost},
    {"calibration_drift",
     {0.20, std::nullopt},
     {0.20, std::nullopt},
     NoiseFormat::kPercent,
     "the cost of timing changed by {0} between start and end",
     "the machine's speed changed: repeat",
     [](const NoiseFacts& f) { return f.overhead.calibration_drift; },
     NoiseOf::kHost},
    {"drift",
     {0.01, 0.05},
     {0.01, 0.05},
     NoiseFormat::kPercent,
     "the times drifted by {0} over the run",
     "warm up longer, or look for heat and neighbours",
     drift},
    {"autocorr",
     {kDependenceTau, std::nullopt},
     {kDependenceTau, std::nullopt},
     NoiseFormat::kPlain,
     "neighbouring iterations depend on each other over {0} iterations",
     "measure longer, or in more processes",
     tau},
    {"autocorr_guard",
     {std::nullopt, 1.0},
     {std::nullopt, 1.0},
     NoiseFormat::kPlain,
     "the run is {0} times too short for how much its iterations depend on each other",
     "measure longer, or in six or more processes",
     tau_guard},
    {"succession",
     {2.58, std::nullopt},
     {2.58, std::nullopt},
     NoiseFormat::kPlain,
     "processes that follow one another are alike (z {0}): the interval holds for these minutes, not for "
     "other days",
     "spread the repetitions over a longer time",
     [](const NoiseFacts& f) { return f.noise.processes_z; }},
    {"multimodal", kAnyWarns, kAnyWarns, NoiseFormat::kFlag, "the times fall into several groups",
     "read the groups, not one median",
     [](const NoiseFacts& f) { return flag(f.noise.multimodal && !f.queue); }},
    {"steady_state", kAnyWarns, kAnyWarns, NoiseFormat::kFlag, "no steady state was reached in warm-up",
     "raise the warm-up cap", [](const NoiseFacts& f) { return flag(f.steady_state == "not_reached"); }},
    {"residual_warmup", kAnyWarns, kAnyWarns, NoiseFormat::kFlag, "the first samples still look like warm-up",
     "warm up longer", [](const NoiseFacts& f) { return flag(f.residual_warmup); }},
};

std::string in_words(NoiseFormat format, double value) {
  switch (format) {
    case NoiseFormat::kPercent:
      return format_percent(value);
    case NoiseFormat::kShare:
      return share_text(value);
    case NoiseFormat::kPlain:
      return format_significant(value);
    case NoiseFormat::kCount:
      return format_fixed(value, 0);
    case NoiseFormat::kFlag:
      break;
  }
  return {};
}

std::string mode_words(const Noise& noise) {
  std::string out;
  for (const auto& mode : noise.modes) {
    out += fmt::format("{}{} ({})", out.empty() ? ": " : ", ", format_duration_ns(mode.median_ns),
                       format_percent(mode.share, 0));
  }
  return out;
}

std::string flag_text(const NoiseRule& rule, const NoiseFacts& facts, double value, double limit) {
  std::string words = fmt::format(fmt::runtime(rule.words), in_words(rule.format, value));
  if (rule.id == "multimodal") return words + mode_words(facts.noise);
  if (rule.id == "instrument") return words + facts.noise.instrument;
  if (rule.format == NoiseFormat::kFlag || limit == 0) return words;
  return fmt::format("{} (limit {})", words, in_words(rule.format, limit));
}

constexpr const char* kNotCounted = "; it does not count, because the device decides";

std::optional<NoiseFlag> judge(const NoiseRule& rule, const NoiseFacts& facts, NoiseProfile profile) {
  const Number value = rule.get(facts);
  if (!value) return std::nullopt;
  const NoiseLimits& limits = limits_of(rule, profile);
  const auto above = [&](const std::optional<double>& limit) { return limit && *value > *limit; };
  const bool invalid = above(limits.invalid);
  if (!invalid && !above(limits.warn)) return std::nullopt;
  const double limit = invalid ? *limits.invalid : *limits.warn;
  const bool counts = rule.of != NoiseOf::kHost || !facts.device_decides;
  return NoiseFlag{std::string(rule.id), invalid,
                   flag_text(rule, facts, *value, limit) + (counts ? "" : kNotCounted),
                   std::string(rule.advice), counts};
}

void raise_to(Number& into, double value) {
  if (!into || *into < value) into = value;
}

// A throttled GPU has the throttle reason instead of clock variation.
void add_devices(NoiseFacts& facts, const std::vector<DeviceState>& states) {
  for (const auto& state : states) {
    const Number capped = power_cap_share(state), slowed = slowdown_share(state);
    if (capped) raise_to(facts.power_capped, *capped);
    if (slowed) raise_to(facts.slowed_down, *slowed);
    const bool kept_down = !state.slowdowns.empty();
    if (state.sm_clock_cv && !kept_down) raise_to(facts.device_clock_cv, *state.sm_clock_cv);
    if (state.other_processes) raise_to(facts.device_processes, static_cast<double>(*state.other_processes));
  }
}

std::vector<std::string> texts(const std::vector<NoiseFlag>& flags, bool all = true) {
  std::vector<std::string> out;
  for (const auto& one : flags)
    if (all || one.counts) out.push_back(one.text);
  return out;
}

}  // namespace

char grade_letter(Grade grade) {
  return "ABC-"[static_cast<int>(grade)];
}

NoiseProfile profile_of(const CaseResult& result) {
  const auto& config = result.config_effective;
  const bool quiet = config.is_object() && config.contains("profile") && config["profile"] == "quiet";
  return quiet ? NoiseProfile::kQuiet : NoiseProfile::kShared;
}

double smallest_difference(NoiseProfile profile) {
  return profile == NoiseProfile::kQuiet ? 0.03 : 0.05;
}

std::span<const NoiseRule> noise_rules() {
  return kRules;
}

const NoiseLimits& limits_of(const NoiseRule& rule, NoiseProfile profile) {
  return profile == NoiseProfile::kQuiet ? rule.quiet : rule.shared;
}

std::vector<NoiseFlag> noise_flags(const NoiseFacts& facts, NoiseProfile profile) {
  std::vector<NoiseFlag> invalid, warned;
  for (const auto& rule : kRules) {
    auto broken = judge(rule, facts, profile);
    if (broken) (broken->invalid ? invalid : warned).push_back(std::move(*broken));
  }
  std::move(warned.begin(), warned.end(), std::back_inserter(invalid));
  return invalid;
}

Grade grade_of(const std::vector<NoiseFlag>& flags) {
  Grade grade = Grade::kA;
  for (const auto& one : flags)
    if (one.counts) grade = std::max(grade, one.invalid ? Grade::kC : Grade::kB);
  return grade;
}

NoiseFacts facts_of(const Repetition& repetition) {
  NoiseFacts facts{.noise = repetition.noise,
                   .overhead = repetition.overhead,
                   .steady_state = repetition.steady_state,
                   .residual_warmup = repetition.residual_warmup,
                   .n = repetition.n,
                   .queue = repetition.load() && !repetition.load()->arrival.empty()};
  add_devices(facts, states_of_ranks(repetition.training()));
  return facts;
}

NoiseFacts facts_of(const CaseResult& result) {
  NoiseFacts facts{
      .noise = result.noise, .overhead = result.overhead, .steady_state = {}, .n = result.stats.n};
  facts.queue = traits_of(result.benchmark.scenario).has_queue;
  facts.interval_over_processes = result.headline.scope == kBetweenProcess;
  for (const auto& repetition : result.repetitions) {
    if (repetition.steady_state == "not_reached") facts.steady_state = repetition.steady_state;
    facts.residual_warmup |= repetition.residual_warmup;
    if (result.devices.empty()) add_devices(facts, states_of_ranks(repetition.training()));
  }
  facts.device_decides = device_decides(result);
  add_devices(facts, device_states(result));
  return facts;
}

void apply_noise_rules(Repetition& repetition, NoiseProfile profile) {
  repetition.noise.warnings = texts(noise_flags(facts_of(repetition), profile));
}

void apply_noise_rules(CaseResult& result, NoiseProfile profile) {
  const auto flags = noise_flags(facts_of(result), profile);
  result.noise.warnings = texts(flags);
  result.grade = grade_of(flags);
  result.grade_reasons = texts(flags, false);
}

}  // namespace paceline::result
