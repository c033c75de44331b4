// SPDX-License-Identifier: MIT
#include "workload/collective/collective_data.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "base/half.h"
#include "pass/sweep.h"
#include "support/spin_communicator.h"
#include "support/thread_group.h"

namespace paceline::workload {
namespace {

using plugin::CollectiveCall;

// Runs the operation on ranks that are threads, and adds up what each finds wrong.
std::int64_t wrong_of(Collective operation, Reduction reduction, int world, std::int64_t bytes,
                      int spoiled = -1) {
  std::atomic<std::int64_t> wrong{0};
  test::on_ranks(world, [&](test::ThreadGroup& group) {
    const auto size = pass::collective_size(operation, DType::kFloat32, world, bytes);
    CollectiveCall call{operation,       DType::kFloat32,    reduction, world - 1,
                        size.send_count, size.receive_count, false};
    const auto communicator = test::make_spin_communicator(group);
    communicator->prepare(call);
    const RankOf self{group.rank(), world};
    auto data = sent_data(call, self);
    if (group.rank() == spoiled) std::memset(data.data(), 0, data.size());
    communicator->write(data);
    communicator->start();
    std::vector<std::byte> received(static_cast<std::size_t>(call.receive_count) * 4);
    communicator->read(received);
    wrong += count_wrong(call, self, received);
  });
  return wrong;
}

TEST(CollectiveData, AgreesWithOperationsThatAreRight) {
  for (const auto& row : kCollectives)
    for (const auto& reduction : kReductions)
      for (const int world : {1, 2, 3, 5})
        EXPECT_EQ(wrong_of(row.operation, reduction.reduction, world, 400), 0)
            << row.name << " " << reduction.name << " " << world;
}

// Whichever rank's part is lost, it is seen, with every operator.
TEST(CollectiveData, SeesThatARankIsMissing) {
  constexpr int kWorld = 3;
  for (const auto& row : kCollectives) {
    if (row.operation == Collective::kBarrier) continue;
    for (const auto& reduction : kReductions)
      for (int spoiled = 0; spoiled < kWorld; ++spoiled) {
        const bool sends = row.operation != Collective::kBroadcast || spoiled == kWorld - 1;
        EXPECT_EQ(wrong_of(row.operation, reduction.reduction, kWorld, 400, spoiled) > 0, sends)
            << row.name << " " << reduction.name << " " << spoiled;
      }
  }
}

// Sums in the element type, by hand, of what a rank sends: they are what it expects.
template <typename T>
std::vector<std::byte> added(DType dtype, int world, const auto& from, const auto& to) {
  std::vector<double> sums(30);
  for (int rank = 0; rank < world; ++rank) {
    const auto data =
        sent_data({Collective::kAllReduce, dtype, Reduction::kSum, 0, 30, 30, false}, {rank, world});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      T value;
      std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
      sums[i] += from(value);
    }
  }
  std::vector<std::byte> out(sums.size() * sizeof(T));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const T value = to(sums[i]);
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
  return out;
}

TEST(CollectiveData, EveryElementType) {
  const auto check = [](DType dtype, const std::vector<std::byte>& sums, int world) {
    EXPECT_EQ(
        count_wrong({Collective::kAllReduce, dtype, Reduction::kSum, 0, 30, 30, false}, {0, world}, sums), 0)
        << dtype_name(dtype) << " " << world;
  };
  for (const int world : {2, 7, 300}) {
    const auto plain = [](auto v) { return static_cast<double>(v); };
    check(DType::kFloat64, added<double>(DType::kFloat64, world, plain, [](double v) { return v; }), world);
    check(DType::kInt32,
          added<std::int32_t>(DType::kInt32, world, plain,
                              [](double v) { return static_cast<std::int32_t>(v); }),
          world);
    check(DType::kUInt64,
          added<std::uint64_t>(DType::kUInt64, world, plain,
                               [](double v) { return static_cast<std::uint64_t>(v); }),
          world);
    // Sums of 300 ranks do not fit, and wrap.
    check(
        DType::kUInt8,
        added<std::uint8_t>(DType::kUInt8, world, plain,
                            [](double v) { return static_cast<std::uint8_t>(static_cast<std::int64_t>(v)); }),
        world);
    check(DType::kFloat16,
          added<std::uint16_t>(
              DType::kFloat16, world, [](std::uint16_t v) { return half_to_float(v); },
              [](double v) { return float_to_half(static_cast<float>(v)); }),
          world);
  }
}

}  // namespace
}  // namespace paceline::workload
