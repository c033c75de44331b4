// SPDX-License-Identifier: MIT
// A worker from its start to its end: the one place that listens to children and explains how they ended.
#pragma once
#include <optional>
#include <vector>

#include "base/handle.h"
#include "host/machine/oom.h"
#include "pass/pass.h"
#include "process/record_reader.h"
#include "process/spawn.h"
#include "process/worker_end.h"

namespace paceline::process {

class RunningWorker {
 public:
  // Parameters of a start besides its pass.
  struct Start {
    std::map<std::string, std::string> env{};  // on top of this process's
    std::filesystem::path log{};               // stdout and stderr are appended
    int extra_fd = -1;                         // becomes kExtraFd; -1: none
    std::vector<int> cpus{};                   // the only ones it may use; empty: as this process
    Front front{};
  };
  RunningWorker(const pass::PassSpec& spec, const Start& start, RecordReader reader);

  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] int pid() const { return child_.pid(); }
  [[nodiscard]] pass::PassReport& report() { return reader_.report(); }
  [[nodiscard]] const RecordReader& reader() const { return reader_; }
  // Why it failed, or was stopped; none: it is running, or ended well.
  [[nodiscard]] const std::optional<Verdict>& failure() const { return failure_; }
  // It ended by a signal.
  [[nodiscard]] bool killed() const;

  void signal(int signal) const;  // to its whole group; nothing happens after its end
  // Sets `why` as its failure, which later records do not change, unless it had failed before.
  void stop(int signal, Verdict why);
  // Takes what it said. True when it was seen to have ended just now.
  bool look();

  // Waits until one of them says something or ends, or a signal arrives; no longer than `timeout_ms`.
  static void wait_for_news(const std::vector<const RunningWorker*>& workers, int timeout_ms);

 private:
  void take_records();
  [[nodiscard]] Verdict explained(Verdict end);

  std::filesystem::path log_;
  std::uintmax_t log_begins_;  // of this worker
  host::OomCounters oom_before_;
  FileDescriptor spec_file_;
  Pipe pipe_;
  RecordReader reader_;
  ChildProcess child_;
  bool running_ = true;
  std::optional<Verdict> failure_;
};

}  // namespace paceline::process
