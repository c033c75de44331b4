// SPDX-License-Identifier: MIT
#include "cluster/patient_barrier.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/ask_until.h"
#include "base/error.h"
#include "cluster/peer_failure.h"

namespace paceline::cluster {
namespace {

constexpr Pauses kBarrierPauses{std::chrono::milliseconds(1), std::chrono::milliseconds(50)};
constexpr std::chrono::milliseconds kLookForFailure{500};

}  // namespace

PatientBarrier::PatientBarrier(plugin::Store* store, int rank, int world, double limit_s, std::string limit)
    : store_(store), rank_(rank), world_(world), limit_s_(limit_s), limit_(std::move(limit)) {}

// Rank 0 waits for every other rank, and they wait for rank 0: one wait per rank, not one per pair.
void PatientBarrier::wait(const std::string& what) {
  if (store_ == nullptr || world_ < 2) return;
  const auto name = fmt::format("patient/{}", calls_++);
  if (rank_ != 0) {
    store_->set(fmt::format("{}/{}", name, rank_), "here");
    return wait_for(name, 0, what);
  }
  for (int rank = 1; rank < world_; ++rank) wait_for(fmt::format("{}/{}", name, rank), rank, what);
  store_->set(name, "all");
}

void PatientBarrier::wait_for(const std::string& key, int who, const std::string& what) {
  auto look = std::chrono::steady_clock::now() + kLookForFailure;
  const auto here = [&] {
    if (store_->get(key)) return true;
    if (std::chrono::steady_clock::now() < look) return false;
    look = std::chrono::steady_clock::now() + kLookForFailure;
    if (const auto told = reported_failure(*store_, 0); !told.empty())
      throw Error(ErrorCode::kUnavailable, told);
    return false;
  };
  if (!ask_until(deadline_in(limit_s_), kBarrierPauses, here))
    throw Error(ErrorCode::kUnavailable,
                fmt::format("rank {} has not finished {} within {} = {:g} s", who, what, limit_, limit_s_));
}

}  // namespace paceline::cluster
