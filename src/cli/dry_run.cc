// SPDX-License-Identifier: MIT
#include "cli/dry_run.h"

#include <fmt/format.h>

#include <string>

#include "base/display_text.h"
#include "base/units.h"
#include "run/kinds.h"

namespace paceline::cli {

std::vector<Outlook> outlook_of(const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                                int hosts) {
  std::vector<Outlook> all;
  for (const auto& c : cases) {
    auto& outlook = all.emplace_back(Outlook{&c, {}});
    if (c.not_available.empty()) outlook.known = run::kind_rules(c.kind).outlook(c, engines, hosts);
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
  if (!outlook.known.fails.empty()) return "fails: " + outlook.known.fails;
  return outlook.known.refused.empty() ? "" : "refused: " + outlook.known.refused;
}

double seconds_of(const Outlook& outlook, run::Times times) {
  return no_measurement(outlook).empty() ? run::estimated_seconds(*outlook.one, times) : 0;
}

}  // namespace

nlohmann::json dry_run_json(const std::string& experiment, const std::vector<Outlook>& cases) {
  auto list = nlohmann::json::array();
  double total = 0, most = 0;
  for (const auto& outlook : cases) {
    const double seconds = seconds_of(outlook, run::Times::kSteady),
                 unsteady = seconds_of(outlook, run::Times::kUnsteady);
    total += seconds;
    most += unsteady;
    nlohmann::json one{{"number", list.size() + 1},
                       {"case_id", outlook.one->id},
                       {"estimated_s", seconds},
                       {"estimated_most_s", unsteady}};
    if (!outlook.one->where.empty()) one["device"] = outlook.one->where;
    if (!outlook.one->not_available.empty()) one["skipped_because"] = outlook.one->not_available;
    const auto& [fails, refused, memory, memory_figures, remarks] = outlook.known;
    if (!fails.empty()) one["fails_because"] = fails;
    if (const auto assumed = run::assumed_sample_s(*outlook.one)) one["assumed_sample_s"] = *assumed;
    if (!memory_figures.is_null())
      one["memory"] = memory_figures;
    else if (!memory.empty())
      one["memory_words"] = memory;
    if (!refused.empty()) one["refused_because"] = refused;
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
    const double seconds = seconds_of(outlook, run::Times::kSteady),
                 unsteady = seconds_of(outlook, run::Times::kUnsteady);
    total += seconds;
    most += unsteady;
    if (const auto one = run::assumed_sample_s(*outlook.one)) assumed = one;
    const auto why_not = no_measurement(outlook);
    text += fmt::format("{:>4}  {:<48} {}\n", ++number, on_one_line(outlook.one->id),
                        why_not.empty() ? "about " + time_words(seconds, unsteady) : on_one_line(why_not));
    if (!why_not.empty()) continue;
    if (!outlook.known.memory.empty()) text += fmt::format("{:>6}memory: {}\n", "", outlook.known.memory);
    for (const auto& words : outlook.known.remarks) text += fmt::format("{:>6}{}\n", "", words);
  }
  text += fmt::format("{}, roughly {} (from the speed of this machine now and the size of the models)\n",
                      plural(std::ssize(cases), "case"), time_words(total, most));
  if (assumed)
    text += fmt::format("the speed of a model file is not known before it runs; assumed: {} s per sample\n",
                        *assumed);
  return text;
}

}  // namespace paceline::cli
