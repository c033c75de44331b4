// SPDX-License-Identifier: MIT
// The JUnit file of an earlier run, where a command that is to replace it ends without a result: whoever
// reads it would take the earlier run for this one.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"

namespace paceline::cli {

class StaleJunit {
 public:
  // Looks for --junit FILE among arguments that may be wrong. Only a file that is JUnit counts.
  explicit StaleJunit(const std::vector<std::string>& arguments);
  // Replaces the file by one with an error, unless the command succeeded or has written it.
  void end(ExitCode code) const noexcept;

 private:
  using Identity =
      std::pair<long, long long>;  // NOLINT(google-runtime-int): inode and time, as the system has them
  [[nodiscard]] std::optional<Identity> identity() const;

  std::string file_;
  std::optional<Identity> before_;
};

}  // namespace paceline::cli
