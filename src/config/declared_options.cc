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

namespace paceline::config {
namespace {

// What the rows in the table are views of.
struct Declared {
  std::vector<DeclaredOption> options;
  std::vector<std::vector<Choice>> choices;
};

Option declared_row(const DeclaredOption& declared, std::span<const Choice> choices) {
  constexpr std::array kTypes{kText, kInteger, kNumber, kBoolean, kChoice, kBytes};  // as DeclaredType
  Option row{.name = declared.name,
             .type = kTypes.at(static_cast<std::size_t>(declared.type)),
             .fallback = declared.fallback,
             .unit = declared.unit,
             .range = {declared.min, declared.max},
             .choices = choices,
             .identity = declared.identity,
             .gpu_only = declared.engine.empty(),
             .engine = declared.engine,
             .help = declared.help};
  if (!declared.engine.empty()) row.idle = {Idle::kOtherEngine};
  return row;
}

void check_default(const Option& row) {
  if (row.fallback.empty()) return;
  const auto problem = convert(row, {std::string(row.fallback), {}, false}).problem;
  if (!problem.empty())
    throw Error(ErrorCode::kUsage, fmt::format("a plug-in declares the option '{}' wrongly: its default: {}",
                                               row.name, problem));
}

bool stands_in(std::string_view name, const std::string& section) {
  return name == section || name.starts_with(section + ".");
}

void refuse_own_section(const std::string& section) {
  for (const Option* own : options_of(~0U)) {
    const auto aliases = alias_names(*own);
    const auto here = [&](const std::string& name) { return stands_in(name, section); };
    if (stands_in(own->name, section) || std::ranges::any_of(aliases, here))
      throw Error(ErrorCode::kUsage,
                  fmt::format("a plug-in declares options of '{}', which are paceline's own; give its engine "
                              "another name",
                              section));
  }
}

}  // namespace

void use_declared_options(std::vector<DeclaredOption> declared) {
  static Declared kept;
  set_declared_rows({});
  kept = {std::move(declared), {}};
  std::ranges::stable_sort(kept.options, {}, &DeclaredOption::section);  // plans are written by section
  for (const auto& one : kept.options) refuse_own_section(one.section());
  kept.choices.resize(kept.options.size());
  std::vector<Option> rows;
  for (std::size_t i = 0; i < kept.options.size(); ++i) {
    for (const auto& name : kept.options[i].choices) kept.choices[i].push_back({name});
    check_default(rows.emplace_back(declared_row(kept.options[i], kept.choices[i])));
  }
  set_declared_rows(rows);
}

}  // namespace paceline::config
