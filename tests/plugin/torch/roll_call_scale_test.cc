// SPDX-License-Identifier: MIT
// The roll call of many ranks over the real store.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "cluster/roll_call.h"
#include "training_driver.h"

namespace paceline::torch_test {
namespace {

constexpr double kPatienceS =
    300;  // the machine may be busy with other tests: questions are counted, not seconds

// Passes questions on, and counts them.
class CountingStore : public plugin::Store {
 public:
  CountingStore(plugin::Store& store, std::atomic<std::int64_t>& asked) : store_(store), asked_(asked) {}
  void set(const std::string& key, const std::string& value) override { ++asked_, store_.set(key, value); }
  std::optional<std::string> get(const std::string& key) override { return ++asked_, store_.get(key); }
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override {
    return ++asked_, store_.wait_for(key, timeout_s);
  }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    return ++asked_, store_.set_if_absent(key, value);
  }
  [[nodiscard]] int port() const override { return store_.port(); }

 private:
  plugin::Store& store_;
  std::atomic<std::int64_t>& asked_;
};

// Two descriptors a connection, and both of its ends are here.
void allow_descriptors(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, std::max(limit.rlim_cur, wanted));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Called {
  std::int64_t asked = 0, asked_by_rank_0 = 0;
  double seconds = 0;
  int complete = 0;
};

// Every rank is a thread with a connection of its own.
Called call_roll(int world) {
  const Listener listener;
  const auto server = connect(listener, true, kPatienceS);
  std::vector<std::shared_ptr<plugin::Store>> stores{server};
  {
    // Clients ask for the name of their host, which takes seconds where nobody answers.
    std::mutex mutex;
    std::vector<std::jthread> threads;
    for (int rank = 1; rank < world; ++rank)
      threads.emplace_back([&] {
        auto store = connect(listener, false, kPatienceS);
        const std::lock_guard lock(mutex);
        stores.push_back(std::move(store));
      });
  }
  std::atomic<std::int64_t> asked_by_rank_0{0}, asked_by_others{0};
  std::atomic<int> complete{0};
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world; ++rank)
      threads.emplace_back([&, rank] {
        CountingStore counting(*stores[static_cast<std::size_t>(rank)],
                               rank == 0 ? asked_by_rank_0 : asked_by_others);
        auto self = cluster::this_process(rank, world, "plan");
        self.cpus = {rank % 8};
        const auto roster = cluster::roll_call(counting, self, kPatienceS);
        complete += roster.size() == static_cast<std::size_t>(world) &&
                    roster[static_cast<std::size_t>(rank)].cpus == self.cpus;
      });
  }
  return {asked_by_rank_0 + asked_by_others, asked_by_rank_0,
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), complete};
}

// A rank asks: who am I, who is rank 0, who is there. Rank 0 asks once for each rank, and twice at a time
// while it waits: a few times at first, then five times a second.
void expect_few_questions(const Called& called, int world) {
  EXPECT_EQ(called.complete, world);
  EXPECT_EQ(called.asked - called.asked_by_rank_0, 3 * (world - 1));
  EXPECT_GE(called.asked_by_rank_0, world + 1);
  EXPECT_LE(static_cast<double>(called.asked_by_rank_0), world + 1 + 2 * (10 + 5 * called.seconds));
}

TEST(RollCallOverTheStore, AThousandRanksMeetWithAFewQuestionsEach) {
  allow_descriptors(8192);
  const auto few = call_roll(64), many = call_roll(1024);
  expect_few_questions(few, 64);
  expect_few_questions(many, 1024);
  std::printf("64 ranks: %lld questions, %.2f s; 1024 ranks: %lld questions, %.2f s\n",
              static_cast<long long>(few.asked), few.seconds, static_cast<long long>(many.asked),
              many.seconds);
}

}  // namespace
}  // namespace paceline::torch_test
