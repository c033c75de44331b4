// SPDX-License-Identifier: MIT
// How a process of a launch that cannot start tells rank 0 why, without a plug-in that speaks the store's
// protocol.
#pragma once
#include <netinet/in.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "cluster/launch_place.h"

// Notes are datagrams to the address and port of the store, whose own connections are TCP.
namespace paceline::cluster {

// Rank 0's side. Where the port cannot be opened, no note arrives, and missing ranks are missing.
class StartNotes {
 public:
  explicit StartNotes(const LaunchPlace& place);
  // Returns a note of this launch: which rank cannot start, and why. Does not wait.
  std::optional<std::string> next_note();
  // Lets all writers end. True if there was one.
  bool let_go();

 private:
  FileDescriptor socket_;
  std::string launch_;
  std::vector<std::pair<sockaddr_storage, socklen_t>> writers_;
};

// The others' side: sends `sentence` until rank 0 lets this process go; for `limit_s`, until `interrupt`.
bool leave_note(const LaunchPlace& place, const std::string& sentence, double limit_s,
                const std::atomic<bool>& interrupt);

}  // namespace paceline::cluster
