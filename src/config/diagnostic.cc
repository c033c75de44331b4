// SPDX-License-Identifier: MIT
#include "config/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace paceline::config {
namespace {

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const auto& one : diagnostics) out += (out.empty() ? "" : "paceline: ") + one.text() + "\n";
  return out +
         fmt::format("{} error{}, nothing was run", diagnostics.size(), diagnostics.size() == 1 ? "" : "s");
}

std::vector<Diagnostic> in_reading_order(std::vector<Diagnostic> diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tuple(a.line == 0, a.line, a.col) < std::tuple(b.line == 0, b.line, b.col);
  });
  return diagnostics;
}

}  // namespace

std::string Diagnostic::text() const {
  if (line == 0) return file.empty() ? message : fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}:{}: {}", file, line, col, message);
}

Diagnostic diagnostic(const Place& place, std::string message) {
  return {place.file, place.line, place.col, std::move(message)};
}

ConfigErrors::ConfigErrors(std::vector<Diagnostic> diagnostics, ErrorCode code)
    : Error(code, joined(in_reading_order(diagnostics))),
      diagnostics_(in_reading_order(std::move(diagnostics))) {}

}  // namespace paceline::config
