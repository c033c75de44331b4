// SPDX-License-Identifier: MIT
// Exchanges of attached jobs: which part of a step waits for them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "analysis/traces/attached_study.h"
#include "support/made_attached_job.h"

namespace paceline::analysis::traces {
namespace {

using testing::MadeAttachedJob;

// Buffers are waited for in the pass; what Join tells the others goes on behind its scope.
TEST(Attached, AForwardPassWaitsForExchangesThatEndInItsScope) {
  for (const auto& [end_ms, forward_ms, exposed_ms] : {std::array{4, 7, 5}, {14, 10, 2}}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 12; ++i) {
      for (std::size_t r = 0; r < 2; ++r) {
        job.load(r, 2);
        const auto begin = job.now(r);
        job.forward(r, 10), job.backward(r, 20);
        job.files[r].exchange("gloo:broadcast", begin + 1'000'000, begin + end_ms * 1'000'000, 4096);
      }
      job.together(2);
      for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
    }
    const auto study = job.study();
    EXPECT_NEAR(*study.ranks[0].forward_ns, forward_ms * 1e6, 1);
    EXPECT_NEAR(*study.ranks[0].exposed_ns, exposed_ms * 1e6, 1);
    EXPECT_NEAR(*study.ranks[0].backward_ns, 20e6, 1);
  }
}

// Join tells the others in each pass that its rank goes on; a thread of gloo may be done with it within the
// pass. All-reduces of more than one number may overlap and be waited for.
TEST(Attached, NoticesThatWereNotWaitedForOnceAreWaitedForInNoPass) {
  struct Seen {
    bool overlap;
    std::uint64_t bytes;
    bool waited;
  };
  for (const auto& [overlap, bytes, waited] :
       {Seen{false, 4, true}, {true, 4, false}, {true, 1 << 20, true}}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 12; ++i) {
      for (std::size_t r = 0; r < 2; ++r) {
        job.load(r, 2);
        const auto begin = job.now(r);
        const auto exchange = [&](double from_ms, double to_ms) {
          job.files[r].exchange("gloo:all_reduce", begin + std::llround(from_ms * 1e6),
                                begin + std::llround(to_ms * 1e6), bytes);
        };
        job.forward(r, 10), job.backward(r, 20);
        exchange(1, overlap && i == 6 ? 3 : 2), exchange(2.5, 4);
      }
      job.together(2);
      for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
    }
    const auto study = job.study();
    EXPECT_NEAR(*study.ranks[0].forward_ns, waited ? 7.5e6 : 10e6, 1e5);
    EXPECT_NEAR(*study.ranks[0].exposed_ns, waited ? 4.5e6 : 2e6, 1e5);
  }
}

// The last bucket goes to a thread of gloo, which may begin with it behind the end of the pass: the pass
// hides the buckets before it, however small it is. Integers are no bucket, but the map of used parameters.
TEST(Attached, ABackwardPassHidesAllBucketsButItsLast) {
  constexpr std::uint64_t kBucket = 1 << 20, kBias = 12, kMap = 1 << 16;
  struct Last {
    std::uint64_t bytes;
    std::uint8_t flags;
    double exposed_ms;
  };
  for (const auto& [bytes, flags, exposed_ms] :
       {Last{kBucket, 0, 2.5}, {kBias, 0, 2.5}, {kMap, attach::kIntegers, 4 + 2.5}}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 12; ++i) {
      for (std::size_t r = 0; r < 2; ++r) {
        job.load(r, 2), job.forward(r, 10);
        const auto begin = job.now(r);
        const auto exchange = [&](double from_ms, double to_ms, std::uint64_t of) {
          job.files[r].exchange("gloo:all_reduce", begin + std::llround(from_ms * 1e6),
                                begin + std::llround(to_ms * 1e6), of);
        };
        job.files[r].backward(begin, begin + 20'000'000);
        job.files[r].records.back().value = static_cast<std::uint64_t>(begin + 24'000'000);
        exchange(15, 19, kBucket), exchange(20.5, 23, bytes);
        job.files[r].records.back().flags |= flags;
        job.idle(r, 24), job.optimize(r, 3);
      }
    }
    const auto study = job.study();
    EXPECT_NEAR(*study.ranks[0].exposed_ns, exposed_ms * 1e6, 1);
    EXPECT_NEAR(*study.ranks[0].backward_ns, (24 - exposed_ms) * 1e6, 1);
  }
}

// A thread of gloo that others displaced notes the end in the optimizer, or in the next pass.
TEST(Attached, ABucketEndsBeforeTheBackwardCallReturns) {
  for (const int late_ms : {0, 2, 5, 11}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 12; ++i) {
      for (std::size_t r = 0; r < 2; ++r) {
        job.load(r, 1);
        for (int pass = 0; pass < 2; ++pass) {
          job.forward(r, 10);
          const auto begin = job.now(r);
          job.files[r].backward(begin, begin + 20'000'000);
          job.files[r].records.back().value = static_cast<std::uint64_t>(begin + 24'000'000);
          job.files[r].exchange("gloo:all_reduce", begin + 20'500'000, begin + (24 + late_ms) * 1'000'000);
          job.idle(r, 24);
        }
        job.optimize(r, 3);
      }
    }
    const auto study = job.study();
    EXPECT_NEAR(*study.ranks[0].forward_ns, 20e6, 1) << late_ms;
    EXPECT_NEAR(*study.ranks[0].exposed_ns, 7e6, 1) << late_ms;
    EXPECT_NEAR(*study.ranks[0].optimizer_ns, 3e6, 1) << late_ms;
  }
}

}  // namespace
}  // namespace paceline::analysis::traces
