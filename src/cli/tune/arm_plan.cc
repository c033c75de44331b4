// SPDX-License-Identifier: MIT
#include "cli/tune/arm_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/case_query.h"
#include "base/text.h"
#include "config/option_table.h"
#include "config/value.h"
#include "result/figures/pair_ratio.h"

namespace paceline::cli {
namespace {

// Options of the search, and not of the job that it is about.
constexpr std::array<std::string_view, 5> kOfSearch{"repetitions", "timeout_s", "benchmark.warmup_steps",
                                                    "experiment_name", "output_dir"};

bool is_of_search(const config::Option& option) {
  return std::ranges::find(kOfSearch, option.name) != kOfSearch.end() || option.name.starts_with("stop.");
}

// Settings of the workload whose only case is the arm.
config::Settings settings_of_arm(const config::Plan& all, const config::Case& arm) {
  auto settings = all.workloads.at(arm.workload).settings;
  for (const auto& [name, values] : arm.settings.all())
    if (const auto* option = config::find_option(name, config::kind_bit(arm.kind));
        option && option->form == config::OptionForm::kAxis)
      settings.set_list(option->name, values_in_plan(arm, *option, values));
  for (const auto& [name, value] : arm.env) settings.set("env." + name, value);
  return settings;
}

std::string flag_of(const config::Option& option) {
  std::string name(config::singular(option));
  if (name.find('.') == std::string::npos) std::ranges::replace(name, '_', '-');
  return "--" + name;
}

// " --flag value" for each value; a list of numbers is one.
std::string words_of(const config::Option& option, const std::vector<config::Value>& values) {
  const auto flag = flag_of(option);
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(config::value_text(value));
  if (option.type == config::OptionType::kBoolean) return " " + flag + (texts[0] == "true" ? "" : "=false");
  if (option.type == config::OptionType::kNumber) texts = {join(texts, ",")};
  std::string words;
  for (const auto& text : texts) words += fmt::format(" {} {}", flag, analysis::shell_word(text));
  return words;
}

}  // namespace

bool has_strong_scaling(const config::Case& arm) {
  return arm.settings.has("training.scaling") && arm.settings.text("training.scaling") == "strong";
}

std::vector<config::Value> values_in_plan(const config::Case& arm, const config::Option& option,
                                          const std::vector<config::Value>& values) {
  const auto& s = arm.settings;
  return option.name == "batch_sizes" && has_strong_scaling(arm)
             ? std::vector<config::Value>{s.integer("batch") * s.integer("ranks")}
             : values;
}

std::string plan_of_arm(const config::Plan& all, const config::Case& arm) {
  auto plan = all;
  plan.workloads = {all.workloads.at(arm.workload)};
  plan.workloads.front().settings = settings_of_arm(all, arm);
  plan.workloads.front().settings.set("repetitions", result::kPairsForClaim);
  return config::effective_yaml(plan);
}

std::string command_of_arm(const config::Plan& all, const config::Case& arm) {
  const auto settings = settings_of_arm(all, arm);
  std::string model, others;
  for (const auto* option : config::options_of(config::kind_bit(arm.kind) | config::kPlanLevel)) {
    const auto& from = (option->kinds & config::kPlanLevel) != 0 ? all.settings : settings;
    if (is_of_search(*option) || option->is_map() || !from.has(option->name)) continue;
    if (!config::serves(*option, config::command_of(arm.kind))) continue;
    const bool chosen =
        option->is_axis() && (option->type == config::OptionType::kModel ||
                              all.workloads.at(arm.workload).settings.list(option->name).size() > 1);
    if (const auto values = from.list(option->name); chosen || !config::is_default(*option, values))
      (option->type == config::OptionType::kModel ? model : others) += words_of(*option, values);
  }
  for (const auto& [name, value] : arm.env)
    others += fmt::format(" --env.{} {}", name, analysis::shell_word(value));
  return fmt::format("paceline {}{}{}", traits_of(arm.kind).command.name, model, others);
}

}  // namespace paceline::cli
