// SPDX-License-Identifier: MIT
#include "cli/context.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "answer/text_layout.h"
#include "base/display_text.h"
#include "base/text.h"
#include "config/flags.h"

namespace paceline::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const auto value = variable(name); !value.empty())
      return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  return false;
}

}  // namespace

std::size_t text_width(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const auto columns = parse_int(variable("COLUMNS")).value_or(0);
  return columns > 0 ? static_cast<std::size_t>(columns) : config::kHelpWidth;
}

std::string folded(std::string_view text, int fd) {
  constexpr std::size_t kNarrowest = 20;
  if (::isatty(fd) == 0) return std::string(text);
  const auto width = std::max(text_width(fd), kNarrowest);
  std::vector<std::string> lines = split(text, '\n');
  for (auto& line : lines) line = answer::fold(line, width);
  return join(lines, "\n");
}

void print(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void Console::say(std::string_view line) const {
  if (!quiet) print(text(), folded(for_terminal(line), ::fileno(text())) + "\n");
}

void Console::result(std::string_view document) const {
  print(stdout, document);
}

// Indents further lines of a library's message, so that none looks like one of ours.
void Console::warn(std::string_view text) const {
  std::string shown;
  for (const char c : for_terminal(text)) shown += c == '\n' ? std::string("\n  ") : std::string(1, c);
  print(stderr, folded(fmt::format("! {}", shown), STDERR_FILENO) + "\n");
}

Console make_console(bool json, bool quiet, bool verbose, bool no_color) {
  Console console;
  console.json = json;
  console.quiet = quiet;
  console.verbose = verbose;
  const int fd = json ? STDERR_FILENO : STDOUT_FILENO;
  // Open MPI gives its ranks a terminal whose text may end in a file.
  const bool of_mpirun = !variable("OMPI_COMM_WORLD_RANK").empty();
  console.terminal = ::isatty(fd) != 0 && variable("TERM") != "dumb" && !of_mpirun;
  console.colour = console.terminal && !no_color && variable("NO_COLOR").empty();
  console.ascii = console.terminal && !utf8_locale();
  console.width = console.terminal ? text_width(fd) : 100;
  return console;
}

}  // namespace paceline::cli
