// SPDX-License-Identifier: MIT
// Shows the answer of a command without a run: on the terminal, as JSON, or as documents.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer.h"
#include "cli/context.h"
#include "config/flag_set.h"
#include "config/settings.h"
#include "report/format.h"

namespace paceline::cli {

// A form of an answer; `ending`: of its file.
struct AnswerFormat {
  std::string_view name, ending, description;
  report::FormatKind kind = report::FormatKind::kText;
  std::string (*render)(const answer::Answer&) = nullptr;
};
std::span<const AnswerFormat> answer_formats();

struct AnswerOutput {
  std::vector<const AnswerFormat*> formats;  // empty: text on the terminal
  std::filesystem::path output;              // empty: standard output, or NAME.html
  std::string name;
};

// From --format and the option that names a file (empty: none does), whose ending is a format as well. Throws
// Error(kUsage), before anything is measured, for what cannot be written.
AnswerOutput answer_output(const config::FlagSet& flags, const config::Settings& options,
                           std::string_view name, std::string_view file_option);

// With --json the JSON goes to standard output, and all text to standard error. Documents replace the text
// where they go to standard output. With --quiet only what failed is shown, and the sentence.
void show(const answer::Answer& answer, const AnswerOutput& output, const Console& console);

}  // namespace paceline::cli
