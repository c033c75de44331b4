// SPDX-License-Identifier: MIT
// Renders tables and sentences for a terminal.
#pragma once
#include <cstddef>
#include <string>

#include "answer/section.h"

namespace paceline::answer {

struct TerminalOptions {
  std::size_t width = 100;  // columns; more than 120 are not used
  bool ascii = false;       // for terminals without UTF-8
  bool colour = false;
};
TerminalOptions within_limits(TerminalOptions options);

// Columns that do not fit are left out. Empty without rows; `bare_`: the heads stand alone then.
std::string terminal_of(const Table& table, const TerminalOptions& options, std::size_t indent = 2);
std::string bare_terminal_of(const Table& table, const TerminalOptions& options, std::size_t indent = 2);

// The text as this terminal can show it.
std::string shown(const std::string& text, const TerminalOptions& options);

// Every line of the text, wrapped between margins.
std::string wrapped(const std::string& text, const TerminalOptions& options, std::size_t indent);

}  // namespace paceline::answer
