// SPDX-License-Identifier: MIT
#include "config/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/display_text.h"
#include "base/foreign_text.h"
#include "base/units.h"

namespace paceline::config {
namespace {

constexpr std::size_t kMaxTyped = 200;  // characters shown of an argument as it was typed

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  const auto shown =
      std::min(diagnostics.size(), kMostMistakes + 1);  // the last may say that nothing follows
  for (const auto& one : std::span(diagnostics).first(shown))
    out += (out.empty() ? "" : "paceline: ") + one.text() + "\n";
  if (const auto rest = diagnostics.size() - shown; rest > 0)
    out +=
        fmt::format("paceline: {} further {} not shown\n", rest, rest == 1 ? "mistake is" : "mistakes are");
  return out + plural(std::ssize(diagnostics), "error") + ", nothing was run";
}

// Sorts by place: the file from top to bottom, then the command line; equal places keep their order. A
// mistake that several workloads have in common stands there once.
std::vector<Diagnostic> in_reading_order(const std::vector<Diagnostic>& diagnostics) {
  std::multimap<std::tuple<bool, int, int>, const Diagnostic*> sorted;
  std::set<std::tuple<std::string_view, int, int, std::string_view>> seen;
  for (const auto& one : diagnostics) sorted.emplace(std::tuple(one.line == 0, one.line, one.col), &one);
  std::vector<Diagnostic> out;
  out.reserve(sorted.size());
  for (const auto& [place, one] : sorted)
    if (seen.emplace(one->file, one->line, one->col, one->message).second) out.push_back(*one);
  return out;
}

}  // namespace

std::string Diagnostic::text() const {
  const std::string where = on_one_line(file), what = on_one_line(message);
  if (line == 0) return file.empty() ? what : fmt::format("{}: {}", shown_value(where, kMaxTyped), what);
  return fmt::format("{}:{}:{}: {}", where, line, col, what);
}

Diagnostic diagnostic(const Place& place, std::string message) {
  return {place.file, place.line, place.col, std::move(message)};
}

ConfigErrors::ConfigErrors(const std::vector<Diagnostic>& diagnostics, ErrorCode code)
    : Error(code, joined(in_reading_order(diagnostics))), diagnostics_(in_reading_order(diagnostics)) {}

}  // namespace paceline::config
