// SPDX-License-Identifier: MIT
// Rows of workloads that sleep.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kSleepRows{
    Option{.name = "sleep_us",
           .type = OptionType::kInteger,
           .form = OptionForm::kAxis,
           .fallback = "1000",
           .unit = "us",
           .min = 1,
           .max = 1e9,
           .kinds = kSleep,
           .help = "How long each iteration sleeps; the system's timer adds to it."},
};

}  // namespace

std::span<const Option> sleep_rows() {
  return kSleepRows;
}

}  // namespace paceline::config
