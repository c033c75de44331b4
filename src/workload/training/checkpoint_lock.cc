// SPDX-License-Identifier: MIT
#include "workload/training/checkpoint_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cluster/roll_call.h"

namespace paceline::workload {
namespace {

constexpr Pauses kPauses{std::chrono::milliseconds(20), std::chrono::milliseconds(200)};

// True when the lock is ours, or when there are no locks here.
bool taken(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

// Writes who holds the lock, for the message to others.
void sign(int file) {
  const auto words = fmt::format("process {} on {}\n", ::getpid(), cluster::host_name());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, words.data(), words.size(), 0) < 0) return;
}

std::string holder(const std::filesystem::path& lock) {
  const auto line = file_tail(lock, 200);
  const auto words = trim(line);
  return words.empty() ? "a process that does not say its name" : std::string(words);
}

}  // namespace

CheckpointLock::CheckpointLock(const std::filesystem::path& dir, double patience_s) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const auto lock = dir / ".lock";
  check_own_name(lock);
  file_ = FileDescriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file_)
    throw Error(ErrorCode::kIo,
                fmt::format("checkpoint.dir '{}' is no folder that can be written: {}; name another",
                            dir.string(), error ? error.message() : std::strerror(errno)));
  if (!ask_until(deadline_in(patience_s), kPauses, [&] { return taken(file_.get()); }))
    throw Error(ErrorCode::kConfig, fmt::format("another run writes its checkpoints into '{}' ({}); wait for "
                                                "its end, or name another checkpoint.dir",
                                                dir.string(), holder(lock)));
  sign(file_.get());
}

}  // namespace paceline::workload
