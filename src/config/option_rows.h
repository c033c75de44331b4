// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "config/option.h"

// The groups of the option table, one source file each; use option_groups().
namespace paceline::config {

using enum OptionType;
using enum OptionForm;
using enum Shown;

// A row outside the identity of a case: how long and how exactly is measured, where results go, what is
// shown.
constexpr Option aside(Option option) {
  option.identity = false;
  return option;
}

// The names in a table that other layers share, as choices.
template <typename Row, std::size_t N>
constexpr std::array<Choice, N> choices_of(const std::array<Row, N>& rows) {
  std::array<Choice, N> choices;
  for (std::size_t i = 0; i < N; ++i) {
    choices[i].name = rows[i].name;
    if constexpr (requires { rows[i].available; }) choices[i].available = rows[i].available;
  }
  return choices;
}

inline constexpr std::array<Choice, 2> kLayouts{{{"contiguous"}, {"channels_last"}}};  // of memory

std::span<const Option> workload_rows();      // what runs
std::span<const Option> quantisation_rows();  // how a model becomes int8
std::span<const Option> load_rows();          // how work arrives
std::span<const Option> measuring_rows();     // how it is measured
std::span<const Option> trained_model_rows();
std::span<const Option> world_rows();  // how many ranks
std::span<const Option> training_rows();
std::span<const Option> data_rows();  // of training
std::span<const Option> rank_rows();  // where ranks run, checkpoints, faults
std::span<const Option> collective_rows();
std::span<const Option> plan_rows();     // plan level
std::span<const Option> export_rows();   // of the export command
std::span<const Option> build_rows();    // of the build command
std::span<const Option> command_rows();  // command line only

}  // namespace paceline::config
