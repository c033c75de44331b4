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
           .help = "Folder for the step files, one per rank. Unset: results/attach/TIME."},
    Option{.name = "path",
           .type = kBoolean,
           .fallback = "false",
           .help = "Prints the folder for PYTHONPATH of a job that another program starts; PACELINE_ATTACH "
                   "then names the folder for the step files."},
};

}  // namespace

std::span<const Option> attach_rows() {
  return kAttachRows;
}

}  // namespace paceline::config
