// SPDX-License-Identifier: MIT
// Runs programs other than Paceline, with a process group, a deadline and an interrupt as for workers.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

// Programs that are not ours, run as a worker is: own process group, deadline, interrupt.
namespace paceline::process {

inline constexpr std::uint64_t kMostToolBytes = 4ULL << 30;

struct ToolProcess {
  std::vector<std::string> argv;           // argv[0] is the path of a program
  std::map<std::string, std::string> env;  // on top of this process's
  std::filesystem::path log;               // stdout and stderr, replaced
  std::vector<int> cpus;                   // the only ones it may use; empty: as this process
  double timeout_s = 600;
  std::filesystem::path output{};             // stdout alone, replaced; empty: into the log
  std::uint64_t most_bytes = kMostToolBytes;  // of the log and of the output: more ends it
};

// How a program ended, and what went wrong in words: "exit code 1", "interrupted"; empty: nothing.
struct ToolEnd {
  enum class How { kDone, kFailed, kInterrupted, kOverLimit } how = How::kDone;  // kOverLimit: time or bytes
  std::string words;
  std::optional<int> exit_code{};  // where it ended by itself
};

// Runs it to its end, without a terminal; nothing of its process group stays behind. kDone: with exit code 0.
// kInterrupted: `interrupt` became true.
ToolEnd end_of_tool(const ToolProcess& process, const std::atomic<bool>& interrupt);
// Returns the words alone.
std::string run_tool(const ToolProcess& process, const std::atomic<bool>& interrupt);

// Whether the log or the output has more than it may, while it runs or when it has ended.
bool prints_too_much(const ToolProcess& process);

// A program by its name in the folders of $PATH, or by its path where the name holds a slash; empty when
// there is none that can be started.
std::filesystem::path find_program(const std::string& name);

}  // namespace paceline::process
