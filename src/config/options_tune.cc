// SPDX-License-Identifier: MIT
// Rows of the command tune; all other options are those of infer, or of train.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array<Choice, 6> kObjectives{
    {{"latency"}, {"p90"}, {"p99"}, {"throughput"}, {"memory"}, {"energy"}}};
constexpr std::array<Choice, 8> kTuneAxes{
    {{"engine"}, {"precision"}, {"threads"}, {"batch"}, {"instances"}, {"layout"}, {"workers"}, {"bucket"}}};

constexpr std::array kTuneRows{
    Option{.name = "objective",
           .type = kChoice,
           .choices = kObjectives,
           .help =
               "Figure to optimise. latency: the median (of train: step time); p90, p99: percentile of each "
               "process; energy: of the CPU packages per item. Unset: latency; train: throughput."},
    Option{.name = "tune_slo",
           .flags = "--slo",
           .type = kExpression,
           .form = kList,
           .help = "Limit that an arm must meet: 'p99<=20ms', or a gate such as 'memory_mb <= 500'. Repeat "
                   "the flag for several."},
    Option{.name = "min_accuracy",
           .type = kExpression,
           .form = kList,
           .help = "Accuracy that an arm must keep: 'top1>=-0.5%' (change against the fp32 reference), or a "
                   "gate. Repeat the flag for several. Not for train."},
    Option{.name = "budget",
           .help = "Time after which no further round begins, e.g. 90s, 10m. Unset: 3m; train: 15m."},
    Option{.name = "axes",
           .type = kChoice,
           .form = kList,
           .choices = kTuneAxes,
           .help =
               "What the arms differ in. Unset: engine, precision and threads, and batch for throughput; "
               "train: batch, threads, precision, layout, workers and bucket where they matter. An option "
               "with several values is an axis, too."},
};

}  // namespace

std::span<const Option> tune_rows() {
  return kTuneRows;
}

}  // namespace paceline::config
