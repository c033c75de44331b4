// SPDX-License-Identifier: MIT
// Rows of workloads that sleep.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kSleepRows{
    Option{.name = "sleep_us",
           .type = kInteger,
           .form = kAxis,
           .fallback = "1000",
           .unit = "us",
           .range = {1, 1e9},
           .name_part = {28},
           .help = "How long each iteration sleeps; the system's timer adds to it."},
};

}  // namespace

std::span<const Option> sleep_rows() {
  return kSleepRows;
}

}  // namespace paceline::config
