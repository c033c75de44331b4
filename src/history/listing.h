// SPDX-License-Identifier: MIT
// Selects runs of the index, and shows them as a table or as CSV.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "answer/answer.h"
#include "history/index.h"

namespace paceline::history {

// Empty fields select everything. Texts of cases match anywhere in a label, whatever their case.
struct Filter {
  std::vector<std::string> models{}, engines{}, experiments{}, tags{};
  std::string case_text{};
  std::string since{}, until{};  // beginnings of UTC times, inclusive: 2026-11, 2026-11-21T10:00
};

// Throws Error(kUsage) naming the flag for a time that is none.
void check_time(const std::string& flag, const std::string& text);

// Keeps the runs that match, and of them the cases that do.
std::vector<Indexed> selected(std::vector<Indexed> runs, const Filter& filter);

// Newest first; at most `most` rows, 0: all.
answer::Answer list_answer(const std::vector<Indexed>& runs, std::size_t most, const Updated& updated,
                           const std::filesystem::path& results);

// One row per run, case and metric.
std::string runs_csv(const std::vector<Indexed>& runs);

// "p50 1.95 ms", of a metric in the table of metrics.
std::string figure_words(const Figure& figure);

}  // namespace paceline::history
