// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/setting_words.h"
#include "analysis/trained_cases.h"
#include "base/units.h"
#include "result/judged/training_scaling.h"
#include "result/stored/benchmark_params.h"

// Findings about training over ranks: who waits for whom, for data, for the network, and what more ranks gain
// (methodology: multi-rank aggregation, scaling efficiency).
namespace paceline::analysis {
namespace {

using result::Training;

constexpr double kMuchExposed = 0.10;   // of a step
constexpr double kUnexplained = 0.05;   // of the gap to ideal scaling
constexpr double kMuchDataWait = 0.05;  // of a step
constexpr double kMuchHost = 0.05;      // of a step
constexpr double kPoorEfficiency = 0.90;
constexpr double kFastLoader = 2;  // relative to what training takes

std::string range_words(const result::Scaling& s) {
  return s.ci_low && s.ci_high ? fmt::format("{}–{}", format_fixed(*s.ci_low, 2), format_fixed(*s.ci_high, 2))
                               : "no interval";
}

std::string step_times(const RunResult& run, const CaseResult& one) {
  const auto* base = find_case(run, one.scaling->base_case_id);
  if (base == nullptr || !base->headline.p50_ns.value || !one.headline.p50_ns.value) return {};
  return fmt::format("step p50 {} with {} and {} with {} ranks",
                     format_duration_ns(*base->headline.p50_ns.value), one.scaling->base_world,
                     format_duration_ns(*one.headline.p50_ns.value), one.scaling->world);
}

// Workers that could deliver far more than training takes wait for a CPU, not for files.
std::string data_advice(const CaseResult& one) {
  const auto& rate = training_of(one).loader_samples_per_s;
  const auto& taken = one.throughput.per_s.value;
  if (rate && taken && *rate > kFastLoader * *taken)
    return "The workers are fast enough and share the CPUs of their rank with training: leave them one "
           "(threads), or raise data.prefetch.";
  return advice_to(one, "Raise {loader}, or store the data in the form that the model takes.");
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kLossWords{
    {{result::loss_part::kExposedCommunication, "exposed communication"},
     {result::loss_part::kStragglerWait, "waiting for late ranks"},
     {result::loss_part::kDataWait, "waiting for data"},
     {result::loss_part::kDdpOverhead, "DDP itself"},
     {result::loss_part::kContention, "ranks in each other's way"},
     {result::loss_part::kUnexplained, "unexplained"}}};

// Lists the mean step's time beyond the ideal, the largest part first.
std::string budget_text(const CaseResult& one) {
  auto parts = one.scaling->budget;
  std::erase_if(parts, [](const auto& part) { return !part.cost_ns.value || !part.share; });
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return *a.share > *b.share; });
  std::string text;
  for (const auto& part : parts) {
    const auto* const words =
        std::ranges::find(kLossWords, part.name, &decltype(kLossWords)::value_type::first);
    if (std::abs(*part.share) < kUnexplained || words == kLossWords.end()) continue;
    text += fmt::format("{}{} {} ms ({} %)", text.empty() ? "; of the time lost: " : ", ", words->second,
                        format_fixed(*part.cost_ns.value * 1e-6, 1), format_fixed(*part.share * 100, 0));
  }
  return text;
}

// How a step communicates in the open, after its share.
const char* exposed_words(const CaseResult& one) {
  return one.benchmark.params.contains(kPipeline)
             ? "sends and receives, and computes nothing meanwhile: the stages of the pipeline wait for each "
               "other"
         : is_with_waiting(one)
             ? "is communication that the backward pass does not hide, with waiting for the other ranks"
         : one.benchmark.params.contains(kSharded)
             ? "waits for communication that the passes do not hide"
             : "waits for communication that the backward pass does not hide";
}

std::string exposed_advice(const CaseResult& one) {
  if (one.benchmark.params.contains(kPipeline))
    return "Use more micro-batches per step, stages of equal work, or a schedule with fewer bubbles (1F1B, "
           "interleaved).";
  if (is_with_waiting(one))
    return advice_to(
        one,
        "See first whether a rank is late, from the files of all ranks; else try a larger batch, "
        "{accumulation}, or another {bucket_cap_mb}.");
  if (one.benchmark.params.contains(kSharded))
    return "Try a larger batch, larger units of FSDP, earlier prefetching, or shards within each host alone "
           "(hybrid sharding).";
  if (one.benchmark.params.contains(kUnwrapped)) return "Try a larger batch, or fewer and larger exchanges.";
  return advice_to(one, "Try a larger batch or {accumulation}, {bf16_compress}, or another {bucket_cap_mb}.");
}

// The parts of a step other than forward, backward and optimizer, in words.
std::string losses_text(const CaseResult& one) {
  const Training& t = training_of(one);
  if (!one.scaling->budget.empty()) return budget_text(one);
  std::string text;
  if (t.exposed_share)
    text += fmt::format("; {} {} of a step",
                        names_straggler(one)
                            ? fmt::format("waiting for rank {} and communication", *t.straggler_rank)
                            : "exposed communication",
                        format_percent(*t.exposed_share));
  if (t.data_wait_share) text += fmt::format(", data wait {}", format_percent(*t.data_wait_share));
  if (t.straggler_index) text += fmt::format(", straggler index {}", format_fixed(*t.straggler_index, 2));
  return text;
}

// Advises how to learn more about unexplained time.
std::string budget_advice(const CaseResult& one) {
  const auto& budget = one.scaling->budget;
  const auto part = [&](std::string_view name) {
    return std::ranges::find(budget, name, &result::LossPart::name);
  };
  const auto open = part(result::loss_part::kUnexplained);
  if (open == budget.end() || !open->share || *open->share < kUnexplained) return {};
  if (part(result::loss_part::kContention) != budget.end()) return {};
  return "To see how much of the unexplained time is ranks in each other's way, add ddp.enabled: [auto, "
         "false].";
}

std::vector<const CaseResult*> scaled(const RunResult& run) {
  auto cases = trained(run);
  std::erase_if(cases, [](const CaseResult* one) { return !one->scaling; });
  return cases;
}

// Below the limit with the whole interval.
bool is_poor(const CaseResult& one) {
  return result::scaling_doubt(one).empty() && *one.scaling->ci_high < kPoorEfficiency;
}

std::string alone_of(const CaseResult& one) {
  result::Benchmark b = one.benchmark;
  b.id.clear();
  b.params.erase("ddp.enabled");
  return describe_without(b, "");
}

// The cost of DDP in words: over process pairs, with the margin of verdicts.
std::string cost_text(const RunResult& run, const CaseResult& with, const CaseResult& without) {
  const auto percent = [](double ratio) { return (1 / ratio - 1) * 100; };
  const CaseResult pair = against(run, with, without);
  const auto& s = pair.speedup;
  if (const auto reason = no_claim_reason(pair); !reason.empty())
    return fmt::format("what DDP itself costs with one rank cannot be claimed ({})", reason);
  const std::string range =
      fmt::format("{} to {} % of a step, {} process pairs", format_fixed(percent(*s.ratio.ci_high), 1),
                  format_fixed(percent(*s.ratio.ci_low), 1), s.pairs);
  if (result::is_difference(s.verdict.value))
    return fmt::format("DDP itself costs {} % of a step with one rank ({})",
                       format_fixed(percent(*s.ratio.value), 1), range);
  if (s.verdict == result::Speed::kEquivalent)
    return fmt::format("DDP itself costs nothing that counts with one rank ({})", range);
  return fmt::format("what DDP itself costs with one rank is not told apart from nothing ({})", range);
}

}  // namespace

Findings find_exposed_communication(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : above(run, &Training::exposed_share, kMuchExposed)) {
    const Training& t = training_of(*one);
    // Without the costs of steps, a straggler is taken to be the cause, and has its own finding.
    if (!t.communication_share && names_straggler(*one)) continue;
    const double share = t.communication_share ? *t.communication_share : *t.exposed_share;
    if (share < kMuchExposed) continue;
    const std::string evidence =
        t.collectives_per_step && t.parameter_tensors
            ? fmt::format("{} a step in buckets ({} without buckets)",
                          plural(*t.collectives_per_step, "all-reduce"), *t.parameter_tensors)
            : "";
    found.push_back(about_training(
        *one, fmt::format("{}: {} of a step {}.", one->label, format_percent(share), exposed_words(*one)),
        evidence, exposed_advice(*one)));
  }
  return found;
}

Findings find_data_bound(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : above(run, &Training::data_wait_share, kMuchDataWait)) {
    const Training& t = training_of(*one);
    const std::string evidence = t.loader_samples_per_s && one->throughput.per_s.value
                                     ? fmt::format("the loaders could deliver {} {}/s, training takes {}",
                                                   format_rate(*t.loader_samples_per_s), one->throughput.item,
                                                   format_rate(*one->throughput.per_s.value))
                                     : "";
    found.push_back(about_training(
        *one,
        fmt::format("{}: {} of a step waits for its data.", one->label, format_percent(*t.data_wait_share)),
        evidence, data_advice(*one)));
  }
  return found;
}

// Time between the parts of a step and between steps: the program's own, not the model's.
Findings find_host_bound(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : trained(run)) {
    const auto& costs = training_of(*one).costs;
    const Number &host = costs.own_ns[result::OwnPart::kHost].value, &step = costs.step_ns.value;
    if (!host || !step || *host < kMuchHost * *step) continue;
    found.push_back(about_training(
        *one,
        fmt::format("{}: {} of a step is in none of its parts: the host keeps training waiting.", one->label,
                    format_percent(*host / *step)),
        fmt::format("{} of {} a step on the typical rank", format_duration_ns(*host),
                    format_duration_ns(*step)),
        is_traced(*one)
            ? "Try a larger batch, CUDA graphs or torch.compile, and fewer .item() calls and "
              "prints in a step."
            : "Give the threads of each rank separate cores (threads, pin), and see what else runs there."));
  }
  return found;
}

Findings find_poor_scaling(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : scaled(run)) {
    const auto& s = *one->scaling;
    if (!is_poor(*one)) continue;
    found.push_back(
        about_training(*one,
                       fmt::format("{}: {} ranks reach {} ({}) of ideal over {}.", one->label, s.world,
                                   format_fixed(*s.efficiency, 2), range_words(s), s.base_world),
                       step_times(run, *one) + losses_text(*one), budget_advice(*one)));
  }
  return found;
}

// Percentages of a gap of nearly nothing are no figures for people.
std::string overdrawn_words(double explained, double left, std::int64_t base_world) {
  constexpr double kMostInPercent = 10;
  const auto base = plural(base_world, "rank");
  if (explained > kMostInPercent)
    return fmt::format("add up to {} times the gap to {}", format_fixed(explained, 0), base);
  return fmt::format("explain {} % of the gap to {} and leave {} %", format_fixed(explained * 100, 0), base,
                     format_fixed(left * 100, 0));
}

// Parts that explain more than there is: computing took less than in the base.
Findings find_overdrawn_budgets(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : scaled(run)) {
    double explained = 0;
    const result::LossPart* open = nullptr;
    for (const auto& part : one->scaling->budget) {
      if (!part.share) continue;
      if (part.name == result::loss_part::kUnexplained)
        open = &part;
      else
        explained += *part.share;
    }
    if (open == nullptr || *open->share > -kUnexplained) continue;
    if (const auto& high = open->cost_ns.ci_high; high && *high >= 0) continue;  // it may be noise
    found.push_back(about_training(
        *one,
        fmt::format("{}: the parts of the loss {}: computing itself took {} less per step than in the base.",
                    one->label, overdrawn_words(explained, *open->share, one->scaling->base_world),
                    format_duration_ns(-*open->cost_ns.value)),
        step_times(run, *one),
        "Do not read the shares as causes: measure the base again, beside this case and as quiet as it."));
  }
  return found;
}

Findings find_superlinear(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : scaled(run))
    if (const auto& s = *one->scaling; s.superlinear && result::scaling_doubt(*one).empty())
      found.push_back(about_training(
          *one,
          fmt::format("{}: {} ranks do more than {:.3g} times the work of {} (efficiency {}, {}).",
                      one->label, s.world, static_cast<double>(s.world) / static_cast<double>(s.base_world),
                      s.base_world, format_fixed(*s.efficiency, 2), range_words(s)),
          step_times(run, *one),
          "Look for another cause before believing it: caches, clocks, noise while the base ran."));
  return found;
}

Findings find_good_scaling(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : scaled(run)) {
    const auto& s = *one->scaling;
    const std::string doubt = result::scaling_doubt(*one);
    if (is_poor(*one) || (s.superlinear && doubt.empty())) continue;
    const std::string text =
        doubt.empty() ? fmt::format("{}: {} ranks give {} times the throughput of {} (efficiency {}, {}).",
                                    one->label, s.world, format_fixed(*s.speedup, 2), s.base_world,
                                    format_fixed(*s.efficiency, 2), range_words(s))
                      : fmt::format("{}: what {} ranks gain over {} cannot be claimed: {}.", one->label,
                                    s.world, s.base_world, doubt);
    found.push_back(about_training(*one, text, step_times(run, *one) + losses_text(*one), ""));
  }
  return found;
}

Findings find_missed_faults(const RunResult& run) {
  Findings found;
  for (const CaseResult* one : trained(run)) {
    const Training& t = training_of(*one);
    const auto fault = result::fault_of(one->benchmark);
    if (!fault || !t.steps || !t.restarts.empty() || fault->rank >= one->benchmark.world_size) continue;
    const std::int64_t end = *t.steps + t.checkpoints.resumed_step.value().value_or(0);
    if (fault->step < end) continue;
    found.push_back(about_training(*one,
                                   fmt::format("{}: the fault '{}' never came: training ended after step {}.",
                                               one->label, one->benchmark.fault, end - 1),
                                   "", "Use an earlier step, or train longer (benchmark.measure_steps)."));
  }
  return found;
}

// Compares one rank with DDP to one without.
Findings find_ddp_cost(const RunResult& run) {
  Findings found;
  for (const CaseResult* with : trained(run)) {
    if (!training_of(*with).ddp || with->benchmark.world_size != 1 || !with->headline.p50_ns.value) continue;
    for (const CaseResult* without : trained(run)) {
      const bool same = !training_of(*without).ddp && without->benchmark.world_size == 1 &&
                        alone_of(*without) == alone_of(*with) && without->headline.p50_ns.value;
      if (!same) continue;
      Finding finding = about_training(
          *with,
          fmt::format("{}: {}, against {}.", with->label, cost_text(run, *with, *without), without->label),
          fmt::format("step p50 {} without, {} with it", format_duration_ns(*without->headline.p50_ns.value),
                      format_duration_ns(*with->headline.p50_ns.value)),
          "");
      finding.about.push_back(without->case_id);
      found.push_back(std::move(finding));
    }
  }
  return found;
}

}  // namespace paceline::analysis
