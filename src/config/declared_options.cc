// SPDX-License-Identifier: MIT
#include "config/declared_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "config/option_rows.h"
#include "config/option_table.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// Owner of the texts that the table's rows view.
struct Declared {
  std::vector<DeclaredOption> options;
  std::vector<std::string> samplers;
  std::vector<std::vector<Choice>> choices;
  std::vector<Choice> builders;  // engines whose files paceline build makes
};

std::vector<Choice> choices_named(const std::vector<std::string>& names) {
  std::vector<Choice> choices;
  for (const auto& name : names) choices.push_back({name});
  return choices;
}

// Where no plug-in brings a sampler, whoever looks for its plug-in says so.
Option sampler_row(std::span<const Choice> samplers) {
  return {.name = "sampler",
          .aliases = "samplers",
          .type = samplers.empty() ? kText : kChoice,
          .form = kList,
          .choices = samplers,
          .kinds = kAnyKind,
          .identity = false,
          .help =
              "Samplers of plug-ins that run beside the timed samples; none: no sampler. By default nvml "
              "on NVIDIA GPUs, and rapl where the energy counters of the CPUs can be read."};
}

Owner owner_of(const DeclaredOption& declared) {
  if (!declared.engine.empty()) return {"engine", declared.engine};
  if (!declared.sampler.empty()) return {"sampler", declared.sampler};
  return {};
}

Option declared_row(const DeclaredOption& declared, std::span<const Choice> choices) {
  constexpr std::array kTypes{kText, kInteger, kNumber, kBoolean, kChoice, kBytes};  // as DeclaredType
  Option row{.name = declared.name,
             .type = kTypes.at(static_cast<std::size_t>(declared.type)),
             .fallback = declared.fallback,
             .unit = declared.unit,
             .range = {declared.min, declared.max},
             .choices = choices,
             .kinds = declared.sampler.empty() ? kInference : kAnyKind,
             .identity = declared.identity,
             .owner = owner_of(declared),
             .help = declared.help};
  row.gpu_only = row.owner.option.empty();
  if (!row.gpu_only) row.idle = {Idle::kWithoutOwner};
  return row;
}

void check_default(const Option& row) {
  if (row.fallback.empty()) return;
  const auto problem = convert(row, {std::string(row.fallback), {}, false}).problem;
  if (!problem.empty())
    throw Error(ErrorCode::kUsage, fmt::format("a plug-in declares the option '{}' wrongly: its default: {}",
                                               row.name, problem));
}

bool is_in_section(std::string_view name, const std::string& section) {
  return name == section || name.starts_with(section + ".");
}

void refuse_own_section(const std::string& section) {
  for (const Option* own : options_of(~0U)) {
    const auto aliases = alias_names(*own);
    const auto here = [&](const std::string& name) { return is_in_section(name, section); };
    if (is_in_section(own->name, section) || std::ranges::any_of(aliases, here))
      throw Error(ErrorCode::kUsage,
                  fmt::format("a plug-in declares options of '{}', which are paceline's own; give its engine "
                              "another name",
                              section));
  }
}

}  // namespace

void use_declared_options(std::vector<DeclaredOption> declared, const std::vector<std::string>& samplers) {
  static Declared kept;
  set_declared_rows({});
  kept = {std::move(declared), samplers, {}, {}};
  std::ranges::stable_sort(kept.options, {}, &DeclaredOption::section);  // plans are written by section
  for (const auto& one : kept.options) refuse_own_section(one.section());
  kept.choices.resize(kept.options.size() + 1);
  if (!kept.samplers.empty()) {
    kept.choices.back() = choices_named(kept.samplers);
    kept.choices.back().push_back({kNoSampler});
  }
  std::vector<Option> rows{sampler_row(kept.choices.back())};
  for (std::size_t i = 0; i < kept.options.size(); ++i) {
    kept.choices[i] = choices_named(kept.options[i].choices);
    check_default(rows.emplace_back(declared_row(kept.options[i], kept.choices[i])));
  }
  set_declared_rows(rows);
  for (const auto& engine : declared_engines())
    if (!engine.builds.empty()) kept.builders.push_back({engine.name});
  set_choices("engine", kBuild, kept.builders);
}

void set_samplers(Settings& settings, WorkloadKind kind, const std::vector<std::string>& names) {
  settings.set_list("sampler", {names.begin(), names.end()});
  for (const Option* option : options_of(kind_bit(kind)))
    if (option->owner.option == "sampler") set_owned_default(settings, *option);
}

bool is_of_samplers(std::string_view option) {
  return std::ranges::any_of(options_of(kAnyKind), [&](const Option* one) {
    return one->name == option && (option == "sampler" || one->owner.option == "sampler");
  });
}

}  // namespace paceline::config
