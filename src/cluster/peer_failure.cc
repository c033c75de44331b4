// SPDX-License-Identifier: MIT
#include "cluster/peer_failure.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <thread>

namespace paceline::cluster {
namespace {

constexpr std::string_view kKey = "failed";
constexpr std::chrono::milliseconds kPause{50};
constexpr double kPatienceS = 1;  // for the culprit to say it first

}  // namespace

void tell_failure(plugin::Store& store, const std::string& sentence, const std::string& prefix) noexcept {
  try {
    store.set_if_absent(prefix + std::string(kKey), sentence);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the header
  }
}

std::string told_failure(plugin::Store& store, double patience_s) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
  try {
    for (;;) {
      if (const auto told = store.get(std::string(kKey))) return *told;
      if (std::chrono::steady_clock::now() >= deadline) return {};
      std::this_thread::sleep_for(kPause);
    }
  } catch (const std::exception&) {
    return {};
  }
}

void work_as_member(plugin::Store& store, const Member& self, const std::function<void()>& work) {
  try {
    work();
  } catch (const PeerFailure&) {
    throw;
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnavailable || self.world == 1) {
      tell_failure(store, fmt::format("{}: {}", words(self), e.what()));
      throw;
    }
    const auto told = told_failure(store, kPatienceS);
    throw PeerFailure(told.empty() ? fmt::format("a peer of rank {} is gone: {}", self.rank, e.what())
                                   : told);
  } catch (const std::exception& e) {
    tell_failure(store, fmt::format("{}: {}", words(self), e.what()));
    throw;
  }
}

}  // namespace paceline::cluster
