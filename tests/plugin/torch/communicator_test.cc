// SPDX-License-Identifier: MIT
// Collectives over gloo, against what each rank must receive.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>

#include "pass/sweep.h"
#include "training_driver.h"
#include "workload/collective/collective_data.h"

namespace paceline::torch_test {
namespace {

using plugin::CollectiveCall;
using workload::RankOf;

// Runs the operation twice on each rank, checks the first time, and returns how many elements were wrong.
std::int64_t wrong_of(plugin::RankGroup& group, CollectiveCall call) {
  const auto communicator = torch_plugin().make<plugin::Role::kCommunicator>("gloo", group);
  const RankOf self{group.rank(), group.world()};
  communicator->prepare(call);
  EXPECT_TRUE(communicator->start_completes());
  std::vector<std::byte> received(static_cast<std::size_t>(call.receive_count) *
                                  dtype_size_bytes(call.dtype));
  communicator->write(sent_data(call, self));
  communicator->start();
  communicator->finish();
  communicator->read(received);
  communicator->start();
  communicator->finish();
  return count_wrong(call, self, received);
}

CollectiveCall call_of(Collective operation, DType dtype, Reduction reduction, int world, bool in_place) {
  const auto size = pass::collective_size(operation, dtype, world, 1000);
  return {operation, dtype, reduction, world - 1, size.send_count, size.receive_count, in_place};
}

// Every operation with every element type and operator either gives the right result or says what is missing.
TEST(Communicator, EveryOperationIsRightOrRefused) {
  constexpr int kWorld = 2;
  std::mutex mutex;
  std::set<std::string> refused;
  std::atomic<int> right{0};
  with_ranks(kWorld, [&](plugin::RankGroup& group) {
    for (const auto& row : kCollectives)
      for (const auto& type : kCollectiveDTypes)
        for (const auto& reduction : kReductions) {
          if (row.operation == Collective::kBarrier) continue;
          if (!row.reduces && reduction.reduction != Reduction::kSum) continue;
          for (const bool in_place : {false, true}) {
            if (in_place && !row.in_place) continue;
            const auto name = std::string(row.name) + " " + std::string(type.name) +
                              (row.reduces ? " " + std::string(reduction.name) : "");
            try {
              EXPECT_EQ(
                  wrong_of(group, call_of(row.operation, type.dtype, reduction.reduction, kWorld, in_place)),
                  0)
                  << name << in_place;
              ++right;
            } catch (const Error& e) {
              EXPECT_EQ(e.code(), ErrorCode::kUnsupported) << name << ": " << e.what();
              const std::lock_guard lock(mutex);
              refused.insert(name);
            }
          }
        }
  });
  // Facts of gloo: unsigned integers above 8 bits are unknown to it, and integers have no mean.
  for (const auto& name : refused)
    EXPECT_TRUE(name.find("uint") != std::string::npos || name.ends_with("avg")) << name;
  for (const char* name :
       {"all_reduce float sum", "all_reduce bfloat16 max", "all_gather half", "reduce_scatter double sum",
        "broadcast int64", "reduce int32 prod", "all_to_all float", "send_recv int8"})
    EXPECT_FALSE(refused.contains(name)) << name;
  EXPECT_GE(right, kWorld * 100);
  for (const auto& name : refused) std::printf("refused: %s\n", name.c_str());
}

TEST(Communicator, ThreeRanksAndABarrier) {
  with_ranks(3, [&](plugin::RankGroup& group) {
    for (const auto& row : kCollectives)
      EXPECT_EQ(wrong_of(group, call_of(row.operation, DType::kFloat32, Reduction::kSum, 3, false)), 0)
          << row.name;
  });
}

TEST(Communicator, ABufferOfAnotherSizeIsAMistake) {
  with_ranks(1, [&](plugin::RankGroup& group) {
    const auto communicator = torch_plugin().make<plugin::Role::kCommunicator>("gloo", group);
    communicator->prepare({Collective::kAllReduce, DType::kFloat32, Reduction::kSum, 0, 4, 4, false});
    EXPECT_THROW(communicator->write(std::vector<std::byte>(12)), Error);
  });
}

}  // namespace
}  // namespace paceline::torch_test
