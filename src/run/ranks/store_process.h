// SPDX-License-Identifier: MIT
// Keeps the store of a launch in a process of its own.
#pragma once
#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/handle.h"
#include "pass/pass.h"
#include "plugin/rank_group.h"
#include "process/spawn.h"

namespace paceline::run {

// The store that is asked for, and the plug-in that opens it.
struct StoreRequest {
  std::filesystem::path plugin_file;
  std::string backend = "gloo";
  plugin::Rendezvous where;
  std::filesystem::path log;
};

// The store of a launch as long as this lives, served or reached by a process of its own: this one links no
// communication library, and the processes of the ranks come and go. Several threads may ask.
class StoreProcess : public plugin::Store {
 public:
  // Throws with the process's words when it does not come to be: Error(kConfig) or Error(kTimeout), see
  // cluster/meeting.h; Error(kUnavailable) at
  // `interrupt`.
  StoreProcess(const StoreRequest& request, const std::atomic<bool>& interrupt);
  void set(const std::string& key, const std::string& value) override;
  std::optional<std::string> get(const std::string& key) override;
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override;
  std::string set_if_absent(const std::string& key, const std::string& value) override;
  [[nodiscard]] int port() const override { return port_; }

 private:
  struct Sockets {
    FileDescriptor ours, theirs;
  };
  static Sockets message_sockets();
  nlohmann::json ask(const nlohmann::json& question);
  [[nodiscard]] std::optional<nlohmann::json> answer(double timeout_s);
  [[nodiscard]] Error final_error();

  std::mutex mutex_;
  const std::atomic<bool>& interrupt_;
  Sockets sockets_;
  FileDescriptor spec_file_;
  process::Pipe records_;
  process::ChildProcess child_;
  bool mute_ = false;  // it has not answered in time: whatever comes now is no answer to what was asked
  int port_ = 0;
};

}  // namespace paceline::run
