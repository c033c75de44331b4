// SPDX-License-Identifier: MIT
#include "cluster/patient_barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "cluster/peer_failure.h"
#include "support/fake_store.h"

namespace paceline::cluster {
namespace {

using test::FakeStore;

std::string refusal(PatientBarrier& barrier) {
  try {
    barrier.wait("its homework");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnavailable);
    return e.what();
  }
  return "no error";
}

TEST(PatientBarrier, NobodyGoesOnBeforeTheLast) {
  FakeStore store;
  std::atomic<int> here{0};
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      PatientBarrier barrier(&store, rank, 3, 20, "an option");
      for (int round = 1; round <= 4; ++round) {
        if (rank == round % 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++here;
        barrier.wait("its homework");
        EXPECT_GE(here, 3 * round);
      }
    });
}

TEST(PatientBarrier, WhoIsMissingIsNamedWithTheLimit) {
  FakeStore store;
  PatientBarrier zero(&store, 0, 3, 0.05, "checkpoint.timeout_s"), two(&store, 2, 3, 0.05, "the limit");
  EXPECT_EQ(refusal(two), "rank 0 has not finished its homework within the limit = 0.05 s");
  EXPECT_EQ(refusal(zero), "rank 1 has not finished its homework within checkpoint.timeout_s = 0.05 s");
}

TEST(PatientBarrier, AFailureEndsTheWait) {
  FakeStore store;
  PatientBarrier zero(&store, 0, 2, 600, "the limit");
  report_failure(store, "rank 1 on hostB: disk full");
  EXPECT_EQ(refusal(zero), "rank 1 on hostB: disk full");
}

TEST(PatientBarrier, OneRankNeverWaits) {
  PatientBarrier alone(nullptr, 0, 1, 0, "the limit");
  EXPECT_EQ(refusal(alone), "no error");
}

}  // namespace
}  // namespace paceline::cluster
