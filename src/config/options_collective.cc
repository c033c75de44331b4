// SPDX-License-Identifier: MIT
// Rows of collective plans.
#include <array>

#include "base/collective.h"
#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr auto kOperations = choices_of(kCollectives);
constexpr auto kDTypeNames = choices_of(kCollectiveDTypes);
constexpr auto kReductionNames = choices_of(kReductions);

constexpr std::array kCollectiveRows{
    Option{.name = "collectives",
           .aliases = "collective",
           .flags = "--collective",
           .type = kChoice,
           .form = kAxis,
           .fallback = "all_reduce",
           .choices = kOperations,
           .name_part = {2},
           .help = "Collective operations to sweep. send_recv: each rank sends to the next one."},
    Option{.name = "dtypes",
           .aliases = "dtype",
           .flags = "--dtype",
           .type = kChoice,
           .form = kAxis,
           .fallback = "float",
           .choices = kDTypeNames,
           .name_part = {6},
           .help = "Element types."},
    Option{.name = "reductions",
           .aliases = "reduction",
           .flags = "--reduction",
           .type = kChoice,
           .form = kAxis,
           .fallback = "sum",
           .choices = kReductionNames,
           .name_part = {7, "", kSeveral},
           .help = "Reduction operators, for operations that reduce."},
    Option{.name = "min_bytes",
           .type = kBytes,
           .fallback = "8",
           .unit = "bytes",
           .range = {1, 1e13},
           .at_most = "max_bytes",
           .help = "Smallest message size; K, M and G are powers of 1024."},
    Option{.name = "max_bytes",
           .type = kBytes,
           .fallback = "64M",
           .unit = "bytes",
           .range = {1, 1e13},
           .help = "Largest message size."},
    Option{.name = "step_factor",
           .type = kNumber,
           .fallback = "2",
           .range = {1.01, 1024},
           .help = "Factor between successive message sizes."},
    Option{.name = "step_bytes",
           .type = kBytes,
           .unit = "bytes",
           .range = {1, 1e13},
           .help = "Difference between successive message sizes, instead of a factor."},
    Option{.name = "root",
           .type = kInteger,
           .fallback = "0",
           .unit = "rank",
           .range = {0, 65'535},
           .help = "Root rank of broadcast and reduce."},
    aside({.name = "warmup_iterations",
           .flags = "--warmup,--warmup-iters",
           .type = kInteger,
           .fallback = "5",
           .range = {0, 1e7},
           .help = "Untimed operations per size."}),
    aside(
        {.name = "iterations",
         .flags = "--iters",
         .type = kInteger,
         .fallback = "20",
         .range = {1, 1e8},
         .help =
             "Operations per size that are timed as one batch, and least number that is timed one by one."}),
    aside({.name = "size_time_s",
           .type = kNumber,
           .fallback = "0.2",
           .unit = "s",
           .range = {0, 86'400},
           .help = "Time limit per size for timing further operations one by one, until the interval of "
                   "their median is narrow enough. 0: none."}),
    aside({.name = "size_halfwidth",
           .type = kNumber,
           .fallback = "0.02",
           .range = {1e-6, 1},
           .help = "Target half-width of that interval, as a share of the median."}),
    aside({.name = "min_busbw",
           .form = kList,
           .help = "Gates on bus bandwidth in GB/s per size, e.g. 1M:0.5,64M:1.5, decided on the interval of "
                   "operations timed one by one."}),
    aside({.name = "rounds",
           .help = "After the sweep, finds slow ranks, hosts and links with rounds of messages: pairs (of "
                   "ranks), hosts (pairs of hosts), or N (random subsets of N ranks)."}),
    aside({.name = "round_bytes",
           .type = kBytes,
           .fallback = "1M",
           .unit = "bytes",
           .range = {1, 1e13},
           .help = "Message size of the rounds."}),
    aside({.name = "slow_factor",
           .type = kNumber,
           .fallback = "1.2",
           .range = {1.01, 1000},
           .help = "A rank, host or link is slow if it takes this many times the median of the others in "
                   "every attempt, beyond their spread."}),
    aside({.name = "topology",
           .help = "Row of the table of expected bus bandwidths (share/paceline/topologies.yaml). Unset: the "
                   "first row that fits GPU, hosts and ranks."}),
    aside({.name = "expected", .help = "File with expected bus bandwidths. Unset: the installed table."}),
    aside({.name = "check",
           .type = kInteger,
           .fallback = "1",
           .range = {0, 1000},
           .help = "Untimed operations per size whose results are compared with the expected ones."}),
};

}  // namespace

std::span<const Option> collective_rows() {
  return kCollectiveRows;
}

}  // namespace paceline::config
