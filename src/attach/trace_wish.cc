// SPDX-License-Identifier: MIT
#include "attach/trace_wish.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "attach/step_header.h"
#include "attach/step_record.h"
#include "base/handle.h"

namespace paceline::attach {
namespace {

bool put(const FileDescriptor& file, std::uint64_t value, std::size_t at) {
  return ::pwrite(file.get(), &value, sizeof value, static_cast<off_t>(at)) == sizeof value;
}

}  // namespace

std::uint64_t newest_clock(const std::filesystem::path& folder) {
  std::uint64_t newest = 0;
  for (const auto& path : step_files(folder)) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::uint64_t clock = 0;
    if (file && ::pread(file.get(), &clock, sizeof clock, offsetof(StepHeader, clock)) == sizeof clock)
      newest = std::max(newest, clock);
  }
  return newest;
}

// A rank begins when it sees `after`, so that comes last.
bool ask_for_trace(const std::filesystem::path& folder, std::uint64_t after, std::uint64_t steps) {
  std::vector<FileDescriptor> files;
  for (const auto& path : step_files(folder)) files.emplace_back(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const auto is_open = [](const FileDescriptor& one) { return static_cast<bool>(one); };
  if (files.empty() || !std::all_of(files.begin(), files.end(), is_open)) return false;
  const auto put_steps = [&](const auto& file) {
    return put(file, steps, offsetof(StepHeader, trace_steps));
  };
  const auto put_after = [&](const auto& file) {
    return put(file, after, offsetof(StepHeader, trace_after));
  };
  return std::all_of(files.begin(), files.end(), put_steps) &&
         std::all_of(files.begin(), files.end(), put_after);
}

}  // namespace paceline::attach
