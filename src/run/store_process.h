// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/handle.h"
#include "plugin/rank_group.h"
#include "run/spawn.h"
#include "workload/pass.h"

namespace paceline::run {

// Which store, and what opens it.
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
  std::string set_if_absent(const std::string& key, const std::string& value) override;
  [[nodiscard]] int port() const override { return port_; }

 private:
  struct Sockets {
    FileDescriptor ours, theirs;
  };
  static Sockets message_sockets();
  nlohmann::json ask(const nlohmann::json& question);
  [[nodiscard]] std::optional<nlohmann::json> answer(double timeout_s);
  [[nodiscard]] Error last_words();

  std::mutex mutex_;
  const std::atomic<bool>& interrupt_;
  Sockets sockets_;
  FileDescriptor spec_file_;
  Pipe records_;
  ChildProcess child_;
  bool mute_ = false;  // it has not answered in time: whatever comes now is no answer to what was asked
  int port_ = 0;
};

// In that process: opens the store and answers questions from kExtraFd until nobody can ask any more.
void serve_store_process(const workload::PassSpec& spec);

}  // namespace paceline::run
