// SPDX-License-Identifier: MIT
// Starts a child process in a process group of its own, with the descriptors that a worker expects.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/handle.h"

namespace paceline::process {

inline constexpr int kSpecFd = 3;  // in the child
inline constexpr int kRecordFd = 4;
inline constexpr int kExtraFd = 5;  // an instance's queue, the socket of the rank that serves the store

// How long to poll at a time while something is measured: a record, an end and a signal end the wait at once,
// and waking up would disturb it.
inline constexpr int kQuietPollMs = 500;

// A program that starts the worker in its turn: a profiler, with its words. Empty: the worker is started
// itself.
struct Front {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> env{};  // of the program and the worker
};

struct SpawnRequest {
  std::vector<std::string> argv;           // argv[0] is the path of the executable
  std::map<std::string, std::string> env;  // on top of this process's
  std::filesystem::path log;               // stdout and stderr
  int spec_fd = -1;                        // becomes kSpecFd; -1: none
  int record_fd = -1;                      // becomes kRecordFd; -1: none
  int extra_fd = -1;                       // becomes kExtraFd; -1: none
  std::vector<int> cpus{};                 // the only ones it may use; empty: as this process
  std::filesystem::path output{};          // stdout alone; empty: into the log
  bool no_terminal = false;                // a session without one: it cannot ask anything there
};

// A child process leading its own process group; killed (whole group) and reaped when this goes out of scope,
// and by the kernel when this process dies.
class ChildProcess {
 public:
  explicit ChildProcess(const SpawnRequest& request);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal_group(int signal) const;
  // The wait status when the child has ended; polls without blocking.
  [[nodiscard]] bool ended();
  [[nodiscard]] int wait_status() const { return status_; }
  // CPU time and memory of the child that has ended, and of its children that it waited for.
  [[nodiscard]] const rusage& usage() const { return usage_; }
  void wait();

 private:
  pid_t pid_ = -1;
  int status_ = 0;
  rusage usage_{};
  bool reaped_ = false;
};

// The program that runs now, as argv of a worker.
std::vector<std::string> worker_command_line();

struct Pipe {
  FileDescriptor read_end, write_end;  // reading does not block
};
Pipe record_pipe();

// A readable file descriptor that holds `content` (no file on disk).
FileDescriptor memory_file(const std::string& content);

}  // namespace paceline::process
