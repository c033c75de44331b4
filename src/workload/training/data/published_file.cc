// SPDX-License-Identifier: MIT
#include "workload/training/data/published_file.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/sha256.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

// The exit code as a shell gives it; nullopt: the program is not installed.
std::optional<int> run(const FetchTool& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (failed == ENOENT) return std::nullopt;
  if (failed != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot start {}: {}", command[0], std::strerror(failed)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_first_installed(const std::vector<FetchTool>& tools, const fs::path& to, std::string_view url) {
  for (FetchTool command : tools) {
    command.insert(command.end(), {to.string(), std::string(url)});
    const auto code = run(command);
    if (code == 0) return;
    if (code)
      throw Error(ErrorCode::kUnavailable,
                  fmt::format("{} could not be fetched: {} ended with {}", url, command[0], *code));
  }
  throw Error(ErrorCode::kUnavailable, fmt::format("{} could not be fetched: no curl, no wget", url));
}

}  // namespace

const std::vector<FetchTool> kFetchTools = {
    {"curl", "-fsSL", "--connect-timeout", "10", "--speed-limit", "1000", "--speed-time", "30", "-o"},
    {"wget", "-q", "--tries=1", "--timeout=30", "-O"}};

void check_published(const fs::path& file, const PublishedFile& published) {
  const auto bytes = static_cast<std::int64_t>(fs::file_size(file));
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kData, fmt::format("'{}' is not {} as published at {}: {}; fetch it again",
                                              file.string(), published.name, published.page, what));
  };
  if (bytes != published.bytes) refuse(fmt::format("{} bytes instead of {}", bytes, published.bytes));
  if (const auto digest = sha256_file(file); digest != published.sha256)
    refuse(fmt::format("its SHA-256 is {} instead of {}", digest, published.sha256));
}

void fetch_published(const PublishedFile& published, const fs::path& folder,
                     const std::vector<FetchTool>& tools) {
  const fs::path part = folder / fmt::format("{}.part{}", published.name, ::getpid());
  std::error_code ignored;
  try {
    run_first_installed(tools, part, published.url);
    check_published(part, published);
    fs::rename(part, folder / published.name);
  } catch (...) {
    fs::remove(part, ignored);
    throw;
  }
}

}  // namespace paceline::workload
