// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <barrier>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/rank_group.h"

// A rank group whose ranks are threads of one process.
namespace paceline::test {

class ThreadGroup : public plugin::RankGroup {
 public:
  struct Shared {
    explicit Shared(int ranks) : world(ranks), gate(ranks), words(static_cast<std::size_t>(ranks)) {}
    int world;
    std::barrier<> gate;
    std::vector<std::string> words;
  };
  ThreadGroup(std::shared_ptr<Shared> shared, int rank) : shared_(std::move(shared)), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int world() const override { return shared_->world; }
  void barrier() override { shared_->gate.arrive_and_wait(); }
  void broadcast(std::span<std::byte> data, int root) override {
    const auto all = exchange(std::string(reinterpret_cast<const char*>(data.data()), data.size()));
    std::memcpy(data.data(), all.at(static_cast<std::size_t>(root)).data(), data.size());
  }
  void reduce_max(std::span<double> values) override {
    const auto all = exchange(std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
    for (const auto& words : all)
      for (std::size_t i = 0; i < values.size(); ++i) {
        double other = 0;
        std::memcpy(&other, words.data() + i * sizeof other, sizeof other);
        values[i] = std::max(values[i], other);
      }
  }
  std::vector<std::string> gather(const std::string& mine) override {
    const auto all = exchange(mine);
    return rank_ == 0 ? all : std::vector<std::string>();
  }

 private:
  std::vector<std::string> exchange(std::string mine) {
    shared_->words[static_cast<std::size_t>(rank_)] = std::move(mine);
    barrier();
    auto all = shared_->words;
    barrier();
    return all;
  }

  std::shared_ptr<Shared> shared_;
  int rank_;
};

// Runs `body(group)` on one thread a rank.
template <class Body>
void on_ranks(int world, const Body& body) {
  const auto shared = std::make_shared<ThreadGroup::Shared>(world);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      ThreadGroup group(shared, rank);
      body(group);
    });
}

}  // namespace paceline::test
