// SPDX-License-Identifier: MIT
#pragma once
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_code.h"

namespace paceline::cli {

// Arguments of a command, and how it prints.
struct Context {
  std::string name;                    // as typed: run, benchmark, …
  std::vector<std::string> arguments;  // what follows it
  std::string command_line;            // the whole line, for the result
  unsigned command = 0;                // its bits of config::Option::commands
};

// Writes and flushes. A closed pipe does not stop the run; main() checks the stream at the end.
void print(std::FILE* stream, std::string_view text);

// Columns of the terminal behind a descriptor; else those that COLUMNS says; else 100.
std::size_t text_width(int fd);

// `text` with lines that are broken at blanks where a terminal behind `fd` would break them within words.
std::string folded(std::string_view text, int fd);

// Where and how text is written. Results go to stdout; with --json they are JSON, and all text goes to
// stderr.
struct Console {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool terminal = false;  // text goes to a terminal, so progress may be redrawn
  bool colour = false;
  bool ascii = false;
  std::size_t width = 100;

  [[nodiscard]] std::FILE* text() const { return json ? stderr : stdout; }
  void say(std::string_view line) const;         // not with --quiet
  void result(std::string_view document) const;  // stdout, always
  void warn(std::string_view text) const;        // stderr, "! …"
};

// From --json, --quiet, --verbose, --no-color, NO_COLOR, TERM, LANG and the kind of stdout.
Console make_console(bool json, bool quiet, bool verbose, bool no_color);

}  // namespace paceline::cli
