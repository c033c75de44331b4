// SPDX-License-Identifier: MIT
#include "cli/dry_run.h"

#include <fmt/format.h>

#include <string>

#include "base/display_text.h"
#include "base/units.h"
#include "cli/estimate.h"
#include "run/case/kind_rules.h"
#include "run/inference/case_memory.h"
#include "run/training/train_here.h"

namespace paceline::cli {

std::vector<Outlook> outlook_of(const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                                int hosts) {
  std::vector<Outlook> all;
  const auto memory = run::memory_here();
  for (const auto& c : cases) {
    auto& outlook = all.emplace_back(Outlook{&c});
    if (!c.not_available.empty()) continue;
    if (c.kind == config::WorkloadKind::kInference) outlook.too_large = run::memory_obstacle(c, memory);
    if (!config::traits_of(c.kind).by_ranks) continue;
    const auto device = run::kind_rules(c.kind).rank_home(c, engines).ranks.device;
    if (c.kind == config::WorkloadKind::kCollective) {
      outlook.sweep = run::judge_sweep_here(c, device, hosts);
    } else {
      outlook.too_large = run::training_memory(c, device, hosts).refusal;
      outlook.memory = run::training_memory_words(c, device);
    }
  }
  return all;
}

namespace {

// Both ends where they differ by more than the accuracy of the estimate.
std::string time_words(double seconds, double unsteady) {
  constexpr double kSame = 1.5;
  if (unsteady <= kSame * seconds) return format_time_left(seconds);
  return fmt::format("{}, up to {} where times are unsteady", format_time_left(seconds),
                     format_time_left(unsteady));
}

// Why nothing of the case would be measured; empty: it would.
std::string no_measurement(const Outlook& outlook) {
  if (!outlook.one->not_available.empty()) return "skipped: " + outlook.one->not_available;
  if (!outlook.too_large.empty()) return "fails: " + outlook.too_large;
  return outlook.sweep && !outlook.sweep->refusal.empty() ? "refused: " + outlook.sweep->refusal : "";
}

double seconds_of(const Outlook& outlook, Times times) {
  return no_measurement(outlook).empty() ? estimated_seconds(*outlook.one, times) : 0;
}

nlohmann::json memory_json(const run::SweepOutlook& sweep) {
  const auto or_null = [](const result::Count& count) {
    return count ? nlohmann::json(*count) : nlohmann::json(nullptr);
  };
  return {{"ranks_here", sweep.place.ranks},
          {"bytes_per_rank", sweep.need.host_each},
          {"bytes_of_ranks", sweep.need.host_all},
          {"available_bytes", or_null(sweep.place.host_bytes)},
          {"device_bytes_per_rank", sweep.need.device_each},
          {"device_bytes", or_null(sweep.place.device_bytes)},
          {"largest_size_that_fits_bytes", sweep.largest_that_fits}};
}

}  // namespace

nlohmann::json dry_run_json(const std::string& experiment, const std::vector<Outlook>& cases) {
  auto list = nlohmann::json::array();
  double total = 0, most = 0;
  for (const auto& outlook : cases) {
    const double seconds = seconds_of(outlook, Times::kSteady),
                 unsteady = seconds_of(outlook, Times::kUnsteady);
    total += seconds;
    most += unsteady;
    nlohmann::json one{{"number", list.size() + 1},
                       {"case_id", outlook.one->id},
                       {"estimated_s", seconds},
                       {"estimated_most_s", unsteady}};
    if (!outlook.one->where.empty()) one["device"] = outlook.one->where;
    if (!outlook.one->not_available.empty()) one["skipped_because"] = outlook.one->not_available;
    if (!outlook.too_large.empty()) one["fails_because"] = outlook.too_large;
    if (const auto assumed = assumed_sample_s(*outlook.one)) one["assumed_sample_s"] = *assumed;
    if (!outlook.memory.empty()) one["memory_words"] = outlook.memory;
    if (outlook.sweep) one["memory"] = memory_json(*outlook.sweep);
    if (outlook.sweep && !outlook.sweep->refusal.empty()) one["refused_because"] = outlook.sweep->refusal;
    list.push_back(std::move(one));
  }
  return {
      {"experiment_name", experiment}, {"cases", list}, {"estimated_s", total}, {"estimated_most_s", most}};
}

std::string dry_run_text(const std::vector<Outlook>& cases) {
  std::string text;
  double total = 0, most = 0;
  std::size_t number = 0;
  std::optional<double> assumed;
  for (const auto& outlook : cases) {
    const double seconds = seconds_of(outlook, Times::kSteady),
                 unsteady = seconds_of(outlook, Times::kUnsteady);
    total += seconds;
    most += unsteady;
    if (const auto one = assumed_sample_s(*outlook.one)) assumed = one;
    const auto why_not = no_measurement(outlook);
    text += fmt::format("{:>4}  {:<48} {}\n", ++number, on_one_line(outlook.one->id),
                        why_not.empty() ? "about " + time_words(seconds, unsteady) : on_one_line(why_not));
    if (why_not.empty() && !outlook.memory.empty())
      text += fmt::format("{:>6}memory: {}\n", "", outlook.memory);
    if (!outlook.sweep || !why_not.empty()) continue;
    text += fmt::format("{:>6}memory: {}\n", "", run::memory_words(*outlook.sweep));
    for (const auto& words : run::size_remarks(*outlook.one)) text += fmt::format("{:>6}{}\n", "", words);
  }
  text += fmt::format("{}, roughly {} (from the speed of this machine now and the size of the models)\n",
                      plural(std::ssize(cases), "case"), time_words(total, most));
  if (assumed)
    text += fmt::format("the speed of a model file is not known before it runs; assumed: {} s per sample\n",
                        *assumed);
  return text;
}

}  // namespace paceline::cli
