// SPDX-License-Identifier: MIT
#include "process/tool_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/text.h"
#include "base/units.h"
#include "process/spawn.h"

namespace paceline::process {
namespace fs = std::filesystem;
namespace {

constexpr int kClosedOutputPollMs = 20;  // where it closed what would tell us of its end
constexpr int kSizePollMs = 20;          // where a small answer is expected: a program may print GB/s

ToolEnd end_with(int status) {
  using enum ToolEnd::How;
  if (WIFSIGNALED(status)) return {kFailed, fmt::format("killed by signal {}", WTERMSIG(status))};
  const int code = WEXITSTATUS(status);
  if (code == 0) return {kDone, "", code};
  return {kFailed, fmt::format("exit code {}{}", code, code == 127 ? " (it could not be started)" : ""),
          code};
}

bool can_start(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

}  // namespace

bool prints_too_much(const ToolProcess& process) {
  const auto more = [&](const fs::path& file) {
    std::error_code none;
    const auto bytes = fs::file_size(file, none);
    return !none && bytes > process.most_bytes;
  };
  return more(process.log) || (!process.output.empty() && more(process.output));
}

ToolEnd end_of_tool(const ToolProcess& process, const std::atomic<bool>& interrupt) {
  int ends[2];  // the child holds one of them until it ends
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorCode::kInternal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const FileDescriptor alive(ends[0]);
  FileDescriptor given(ends[1]);
  replace_file(process.log, "");
  if (!process.output.empty()) replace_file(process.output, "");
  SpawnRequest request{process.argv, process.env, process.log};
  request.output = process.output;
  request.record_fd = given.get();
  request.cpus = process.cpus;
  request.no_terminal = true;
  ChildProcess child(request);
  given.reset();
  const SteadyClock clock;
  const auto deadline = clock.now_ns() + static_cast<std::int64_t>(process.timeout_s * 1e9);
  const int open_ms = process.most_bytes < kMostToolBytes ? kSizePollMs : kQuietPollMs;
  for (bool open = true; !child.ended();) {
    pollfd waiting{alive.get(), POLLIN, 0};
    ::poll(open ? &waiting : nullptr, open ? 1 : 0, open ? open_ms : kClosedOutputPollMs);
    if (waiting.revents != 0) open = false;
    if (interrupt) return {ToolEnd::How::kInterrupted, "interrupted"};
    if (prints_too_much(process))
      return {ToolEnd::How::kOverLimit, fmt::format("it printed more than {}, and was ended",
                                                    format_bytes(static_cast<double>(process.most_bytes)))};
    if (clock.now_ns() > deadline)
      return {ToolEnd::How::kOverLimit, fmt::format("no end within timeout_s = {:g} s", process.timeout_s)};
  }
  return end_with(child.wait_status());
}

std::string run_tool(const ToolProcess& process, const std::atomic<bool>& interrupt) {
  return end_of_tool(process, interrupt).words;
}

fs::path find_program(const std::string& name) {
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return can_start(name) ? fs::absolute(name) : fs::path();
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path ? path : "", ':'))
    if (!folder.empty() && can_start(fs::path(folder) / name)) return fs::absolute(fs::path(folder) / name);
  return {};
}

}  // namespace paceline::process
