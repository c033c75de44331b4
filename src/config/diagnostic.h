// SPDX-License-Identifier: MIT
// A mistake in a plan or on a command line with its place; all mistakes are shown at once.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"

namespace paceline::config {

// Where something was written. line 0: on the command line, and `file` is the argument as typed.
struct Place {
  std::string file;
  int line = 0;  // 1-based
  int col = 0;   // 1-based
};

struct Diagnostic {
  std::string file;
  int line = 0;
  int col = 0;
  std::string message;
  bool operator==(const Diagnostic&) const = default;
  [[nodiscard]] std::string text() const;  // "mine.yaml:7:3: unknown key …" or "--batch=0: …"
};

Diagnostic diagnostic(const Place& place, std::string message);

// All mistakes of a plan or a command line, each once, though several workloads may share a flag. what() is
// meant to stand behind "paceline: ": one line per mistake, each after the first with its own "paceline: " in
// front, then their number.
class ConfigErrors : public Error {
 public:
  explicit ConfigErrors(const std::vector<Diagnostic>& diagnostics, ErrorCode code = ErrorCode::kConfig);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace paceline::config
