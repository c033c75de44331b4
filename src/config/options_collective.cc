// SPDX-License-Identifier: MIT
// Rows of collective plans (checked, not available yet).
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Choice, 6> kOperations{
    {{"all_reduce"}, {"all_gather"}, {"reduce_scatter"}, {"broadcast"}, {"reduce"}, {"all_to_all"}}};
constexpr std::array<Choice, 6> kDtypes{
    {{"float"}, {"half"}, {"bfloat16"}, {"double"}, {"int32"}, {"int64"}}};
constexpr std::array<Choice, 5> kReductions{{{"sum"}, {"prod"}, {"min"}, {"max"}, {"avg"}}};

constexpr std::array kCollectiveRows{
    Option{.name = "collectives",
           .aliases = "collective",
           .flags = "--collective",
           .type = kChoice,
           .form = kAxis,
           .fallback = "all_reduce",
           .choices = kOperations,
           .name_part = {2},
           .help = "Operations to sweep."},
    Option{.name = "dtypes",
           .aliases = "dtype",
           .flags = "--dtype",
           .type = kChoice,
           .form = kAxis,
           .fallback = "float",
           .choices = kDtypes,
           .name_part = {6},
           .help = "Element types."},
    Option{.name = "reductions",
           .aliases = "reduction",
           .flags = "--reduction",
           .type = kChoice,
           .form = kAxis,
           .fallback = "sum",
           .choices = kReductions,
           .name_part = {7, "", kSeveral},
           .help = "Reduction operators."},
    Option{.name = "min_bytes",
           .type = kBytes,
           .fallback = "8",
           .unit = "bytes",
           .range = {1, 1e13},
           .at_most = "max_bytes",
           .help = "First message size (K, M and G are powers of 1024)."},
    Option{.name = "max_bytes",
           .type = kBytes,
           .fallback = "256M",
           .unit = "bytes",
           .range = {1, 1e13},
           .help = "Last message size."},
    Option{.name = "step_factor",
           .type = kNumber,
           .fallback = "2",
           .range = {1.01, 1024},
           .help = "Factor between message sizes."},
    Option{.name = "step_bytes",
           .type = kBytes,
           .unit = "bytes",
           .range = {1, 1e13},
           .help = "Step between message sizes instead of a factor."},
    Option{.name = "root",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 65'535},
           .help = "Root rank of broadcast and reduce."},
};

}  // namespace

std::span<const Option> collective_rows() {
  return kCollectiveRows;
}

}  // namespace paceline::config
