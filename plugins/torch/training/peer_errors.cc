// SPDX-License-Identifier: MIT
#include "torch/training/peer_errors.h"

#include <fmt/format.h>

#include <string_view>

#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

struct PeerRow {
  std::string_view fragment;  // part of the library's message
  std::string_view words;
};
constexpr std::string_view kEnded = "another rank's process has ended";
constexpr std::string_view kSilent =
    "another rank did not answer within the group's timeout: it hangs, or the network is down";
constexpr PeerRow kRows[] = {
    {"Connection closed by peer", kEnded},
    {"Connection reset by peer", kEnded},
    {"Broken pipe", kEnded},
    {"Connection refused", kEnded},
    {"Socket closed", kEnded},
    {"Timed out waiting", kSilent},
    {"Operation timed out", kSilent},
    {"Application timeout caused pair closure", kSilent},
    {"connectFullMesh failed", "the connections between ranks could not be made"},
    {"Connect timeout", "the connections between ranks could not be made"},
    {"Socket Timeout", "the store does not answer"},
    // NCCL's
    {"remote process exited or there was a network error", kEnded},
    {"ncclRemoteError", kEnded},
    {"collective operation timeout", kSilent},
    {"NCCL communicator was aborted", kSilent},
    {"ncclSystemError", "NCCL could not use the network or shared memory"},
};

// "wait timeout after 8000ms, keys: /group_0/0/1" means that rank 1 never wrote its address.
std::optional<std::string> missing_rank(const std::string& message) {
  const auto keys = message.find("keys: ");
  if (message.find("wait timeout") == std::string::npos || keys == std::string::npos) return std::nullopt;
  const auto slash = message.rfind('/');
  if (slash == std::string::npos || slash < keys) return "a rank did not join the group in time";
  const auto end = message.find_first_not_of("0123456789", slash + 1);
  return fmt::format("rank {} did not join the group in time", message.substr(slash + 1, end - slash - 1));
}

}  // namespace

std::optional<std::string> peer_failure(const std::exception& exception) {
  const auto message = reason_of(exception);
  if (auto missing = missing_rank(message)) return missing;
  for (const auto& row : kRows)
    if (message.find(row.fragment) != std::string::npos)
      return fmt::format("{} ({})", row.words, row.fragment);
  return std::nullopt;
}

}  // namespace paceline::torch_plugin
