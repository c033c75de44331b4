// SPDX-License-Identifier: MIT
#include "workload/training/data/batch_supply.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "unit/workload/throws_with.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kBatch = 4;

// Sample i is the token i.
struct Behaviour {
  std::atomic<std::int64_t> reads{0};
  std::int64_t fails_at = -1;
  std::chrono::milliseconds takes{0};
};

class CountingSource : public Source {
 public:
  explicit CountingSource(Behaviour& behaviour) : behaviour_(behaviour) {}
  [[nodiscard]] std::int64_t samples() const override { return 1'000; }
  void read(std::int64_t index, Draws, const SampleMemory& sample) const override {
    ++behaviour_.reads;
    std::this_thread::sleep_for(behaviour_.takes);
    if (index == behaviour_.fails_at) throw Error(ErrorCode::kData, "sample " + std::to_string(index));
    *sample.tokens = index;
  }

 private:
  Behaviour& behaviour_;
};

std::unique_ptr<BatchMaker> make_maker(Behaviour& behaviour, std::int64_t micro_batches) {
  const Sampler sampler({1'000, kBatch * micro_batches, 0, 1, false, 0});
  return std::make_unique<BatchMaker>(std::make_unique<CountingSource>(behaviour),
                                      BatchLayout({{"input_ids", DType::kInt64, {kBatch, 1}}}), sampler,
                                      micro_batches, 0);
}

std::int64_t first_token(std::span<Tensor> batch) {
  return batch[0].as<std::int64_t>()[0];
}

bool wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 5'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST(PrefetchingSupply, IsNeverFurtherAheadThanAllowed) {
  Behaviour behaviour;
  const auto maker = make_maker(behaviour, 1);
  PrefetchingSupply supply(*maker, 3, 2);
  for (std::int64_t taken = 0; taken < 5; ++taken) {
    const std::int64_t allowed = (taken + 6) * kBatch;
    EXPECT_TRUE(wait_until([&] { return behaviour.reads == allowed; })) << behaviour.reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(behaviour.reads, allowed);
    supply.give_back();
    EXPECT_EQ(first_token(supply.take()), taken * kBatch);
  }
}

TEST(PrefetchingSupply, LeavesAloneWhatWasTaken) {
  Behaviour behaviour;
  const auto maker = make_maker(behaviour, 3);
  PrefetchingSupply supply(*maker, 2, 1);
  for (std::int64_t step = 0; step < 20; ++step) {
    supply.give_back();
    std::vector<std::span<Tensor>> held;
    for (int i = 0; i < 3; ++i) held.push_back(supply.take());
    const std::int64_t made = (step * 3 + 3 + 2) * kBatch;  // all that may be made meanwhile
    EXPECT_TRUE(wait_until([&] { return behaviour.reads == made; }));
    for (std::int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(first_token(held[static_cast<std::size_t>(i)]), (step * 3 + i) * kBatch);
  }
}

TEST(PrefetchingSupply, AFailureComesOutWhereItBelongs) {
  Behaviour behaviour;
  behaviour.fails_at = 2 * kBatch + 1;
  const auto maker = make_maker(behaviour, 1);
  PrefetchingSupply supply(*maker, 3, 2);
  EXPECT_EQ(first_token(supply.take()), 0);
  supply.give_back();
  EXPECT_EQ(first_token(supply.take()), kBatch);
  supply.give_back();
  for (int i = 0; i < 2; ++i) test::expect_error(ErrorCode::kData, {"sample 9"}, [&] { supply.take(); });
  supply.seek(3);
  EXPECT_EQ(first_token(supply.take()), 3 * kBatch);
}

TEST(PrefetchingSupply, SeeksFromTheMiddleOfWork) {
  Behaviour behaviour;
  behaviour.takes = std::chrono::milliseconds(1);
  const auto maker = make_maker(behaviour, 1);
  PrefetchingSupply supply(*maker, 2, 2);
  for (const std::int64_t number : {50, 3, 3, 120, 0}) {
    supply.seek(number);
    EXPECT_EQ(first_token(supply.take()), number * kBatch);
    EXPECT_EQ(first_token(supply.take()), (number + 1) * kBatch);
    supply.give_back();
  }
}

TEST(PrefetchingSupply, EndsWithoutFinishingItsBatches) {
  Behaviour behaviour;
  behaviour.takes = std::chrono::milliseconds(20);
  const auto maker = make_maker(behaviour, 1);
  {
    PrefetchingSupply supply(*maker, 2, 100);
    EXPECT_TRUE(wait_until([&] { return behaviour.reads >= 2; }));
  }
  const std::int64_t after = behaviour.reads;
  EXPECT_LT(after, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(behaviour.reads, after);
}

TEST(DirectSupply, MakesWhatIsTakenAndNoMore) {
  Behaviour behaviour;
  const auto maker = make_maker(behaviour, 1);
  DirectSupply supply(*maker);
  EXPECT_EQ(behaviour.reads, 0);
  EXPECT_EQ(first_token(supply.take()), 0);
  EXPECT_EQ(first_token(supply.take()), kBatch);
  EXPECT_EQ(behaviour.reads, 2 * kBatch);
}

TEST(FixedSupply, IsMadeOnce) {
  Behaviour behaviour;
  const auto maker = make_maker(behaviour, 2);
  FixedSupply supply(*maker);
  for (int step = 0; step < 3; ++step) {
    supply.give_back();
    EXPECT_EQ(first_token(supply.take()), 0);
    EXPECT_EQ(first_token(supply.take()), kBatch);
  }
  EXPECT_EQ(behaviour.reads, 2 * kBatch);
}

}  // namespace
}  // namespace paceline::workload
