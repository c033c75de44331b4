// SPDX-License-Identifier: MIT
#include "cli/run/stale_junit.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <exception>
#include <fstream>
#include <string_view>

#include "base/file.h"
#include "report/junit.h"

namespace paceline::cli {
namespace {

constexpr std::string_view kFlag = "--junit";

// The last one counts.
std::string junit_file(const std::vector<std::string>& arguments) {
  std::string file;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == kFlag && i + 1 < arguments.size()) file = arguments[i + 1];
    if (word.starts_with(kFlag) && word.substr(kFlag.size()).starts_with('='))
      file = word.substr(kFlag.size() + 1);
  }
  return file;
}

bool is_junit(const std::string& file) {
  std::array<char, 400> start{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), start.size());
  const std::string_view text(start.data(), static_cast<std::size_t>(stream.gcount()));
  return text.starts_with("<?xml") && text.find("<testsuite") != std::string_view::npos;
}

}  // namespace

StaleJunit::StaleJunit(const std::vector<std::string>& arguments) : file_(junit_file(arguments)) {
  if (const auto found = identity(); found && is_junit(file_)) before_ = found;
}

std::optional<StaleJunit::Identity> StaleJunit::identity() const {
  struct stat info {};
  if (file_.empty() || ::stat(file_.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return Identity{static_cast<long>(info.st_ino),
                  info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
}

void StaleJunit::end(ExitCode code) const noexcept {
  try {
    if (code == ExitCode::kOk || !before_ || identity() != before_) return;
    write_file_atomic(file_, report::junit_of_no_run(fmt::format(
                                 "paceline ended with exit code {} and has no result; what it printed "
                                 "says why",
                                 static_cast<int>(code))));
  } catch (const std::exception&) {
    return;  // the failure itself is reported
  }
}

}  // namespace paceline::cli
