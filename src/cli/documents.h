// SPDX-License-Identifier: MIT
// Writes documents: to standard output, a file, a folder, or on paper.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/scratch_folder.h"
#include "cli/context.h"
#include "report/format.h"

namespace paceline::cli {

inline constexpr const char* kStandardOutput = "-";  // as the name of an output

// One text to be written, or to be printed on paper. `file`: its name in a folder.
struct Document {
  report::FormatKind kind = report::FormatKind::kText;
  std::string_view format, file;
  std::string text;
  std::filesystem::path output;  // as asked for; empty: texts to standard output, others to the folder
  std::filesystem::path folder;
  const Console& console;
};
// Throws Error(kUnavailable) naming the packages that bring a missing program.
void deliver(const Document& document);

// An installed Chromium or Chrome; empty: none. `browser_call`: its arguments for a page of ours.
std::filesystem::path browser_program();
std::vector<std::string> browser_call(const std::filesystem::path& browser, const ScratchFolder& scratch,
                                      const std::vector<std::string>& more);

// Runs a program that makes a file. Throws Error(kIo) with its last words.
void run_program(const std::vector<std::string>& argv, const ScratchFolder& scratch);
std::string made_file(const std::filesystem::path& file, const std::filesystem::path& program);

}  // namespace paceline::cli
