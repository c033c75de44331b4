// SPDX-License-Identifier: MIT
// Rows of the command history.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr std::array kHistoryRows{
    Option{
        .name = "output_dir", .fallback = "results", .help = "Folder of runs, as --output-dir of the runs."},
    Option{.name = "models", .flags = "--model", .form = kList, .help = "Only cases of these models."},
    Option{.name = "engines", .flags = "--engine", .form = kList, .help = "Only cases on these engines."},
    Option{.name = "experiment", .form = kList, .help = "Only runs of these experiments."},
    Option{.name = "tag", .form = kList, .help = "Only runs with one of these tags or pins."},
    Option{.name = "case", .type = kExpression, .help = "Only cases with this text in their label or id."},
    Option{.name = "since", .help = "Only runs from this UTC time on, e.g. 2026-11-21 or 2026-11-21T10:30."},
    Option{.name = "until", .help = "Only runs up to this UTC time, inclusive; a day is the whole day."},
    Option{.name = "limit",
           .type = kInteger,
           .fallback = "30",
           .range = {0},
           .help = "Number of runs to list; 0: all."},
    Option{.name = "metric",
           .help = "Metric of trend and export, e.g. p99_ms. Unset: trend shows the headline figure of each "
                   "case, export writes every metric."},
    Option{.name = "keep_size", .type = kBytes, .help = "Size that prune leaves, e.g. 5G; required there."},
    Option{.name = "keep",
           .type = kInteger,
           .fallback = "0",
           .range = {0},
           .help = "Number of newest runs that prune leaves in any case."},
    Option{.name = "dry_run",
           .type = kBoolean,
           .fallback = "false",
           .help = "Lists what prune would delete, and deletes nothing."},
    Option{.name = "yes",
           .flags = "-y",
           .type = kBoolean,
           .fallback = "false",
           .help = "Lets prune delete run folders; it refuses otherwise."},
    Option{.name = "rebuild",
           .type = kBoolean,
           .fallback = "false",
           .help = "Makes the index (paceline.db) again from the run folders; tags, pins and notes stay."},
    Option{.name = "answer_format",
           .flags = "--format,-f",
           .type = kChoice,
           .form = kList,
           .help = "Formats of the answer: text, html, markdown, json, junit, pdf. export writes CSV."},
    Option{.name = "output",
           .flags = "-o,--out",
           .written = true,
           .help = "File or folder for the answer; - is standard output. The ending of a file selects its "
                   "format."},
};

}  // namespace

std::span<const Option> history_rows() {
  return kHistoryRows;
}

}  // namespace paceline::config
