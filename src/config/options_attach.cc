// SPDX-License-Identifier: MIT
// Rows of the command attach.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kAttachRows{
    Option{.name = "output",
           .flags = "-o,--out",
           .written = true,
           .help = "Folder for the step files, one per rank; OUTPUT-2 if another job has it. Unset: "
                   "results/attach/RUN, which enters the history."},
    Option{.name = "path",
           .type = kBoolean,
           .fallback = "false",
           .help = "Prints the folder for PYTHONPATH of a job that another program starts; PACELINE_ATTACH "
                   "then names the folder for the step files."},
    Option{.name = "trace",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 100},
           .help =
               "Number of steps that PyTorch's profiler records on all ranks when a rank became late, or "
               "steps became 15 % longer: trace-1 in the folder of the step files, and so on up to three. "
               "0: none. A job that runs this profiler itself is not traced."},
};

}  // namespace

std::span<const Option> attach_rows() {
  return kAttachRows;
}

}  // namespace paceline::config
