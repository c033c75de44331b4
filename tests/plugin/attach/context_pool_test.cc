// SPDX-License-Identifier: MIT
#include "attach/context_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace paceline::attach {
namespace {

using Pool = ContextPool<48>;

TEST(ContextPools, HandOutEachPlaceOnceAndThenNone) {
  const auto pool = std::make_unique<Pool>();
  std::set<void*> places;
  for (std::size_t i = 0; i < Pool::kRoom; ++i) places.insert(pool->take());
  EXPECT_EQ(places.size(), Pool::kRoom);
  EXPECT_FALSE(places.contains(nullptr));
  EXPECT_EQ(pool->take(), nullptr);
  pool->give_back(*places.begin());
  EXPECT_EQ(pool->take(), *places.begin());
}

TEST(ContextPools, GiveBackInOtherThreads) {
  const auto pool = std::make_unique<Pool>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool] {
      for (int i = 0; i < 20000; ++i) {
        auto* const place = static_cast<unsigned char*>(pool->take());
        ASSERT_NE(place, nullptr);
        place[0] = static_cast<unsigned char>(i);
        ASSERT_EQ(place[0], static_cast<unsigned char>(i));
        pool->give_back(place);
      }
    });
  for (auto& thread : threads) thread.join();
  std::set<void*> places;
  for (std::size_t i = 0; i < Pool::kRoom; ++i) places.insert(pool->take());
  EXPECT_EQ(places.size(), Pool::kRoom);
}

}  // namespace
}  // namespace paceline::attach
