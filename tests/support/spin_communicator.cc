// SPDX-License-Identifier: MIT
#include "spin_communicator.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace paceline::test {
namespace {

using plugin::CollectiveCall;
using Floats = std::vector<float>;

struct Faults {
  int wrong = -1, late = -1, late_ms = 0;
  int slow = -1, slow_peer = -1, slow_ms = 0, other_ms = 0;
  int refused = -1, killed = -1, hung = -1;
  std::int64_t from_bytes = 0;  // of the last three
};

Faults faults() {
  const char* text = std::getenv("PACELINE_TEST_COMM");
  Faults found;
  if (!text) return found;
  int rank = 0, ms = 0, other_ms = 0;
  if (std::sscanf(text, "wrong:%d", &rank) == 1) found.wrong = rank;
  if (std::sscanf(text, "late:%d:%d", &rank, &ms) == 2) found.late = rank, found.late_ms = ms;
  int peer = 0;
  if (std::sscanf(text, "slow:%d:%d:%d", &rank, &ms, &other_ms) == 3)
    found.slow = rank, found.slow_ms = ms, found.other_ms = other_ms;
  if (std::sscanf(text, "link:%d:%d:%d:%d", &rank, &peer, &ms, &other_ms) == 4)
    found.slow = rank, found.slow_peer = peer, found.slow_ms = ms, found.other_ms = other_ms;
  long long bytes = 0;
  if (std::sscanf(text, "refuse:%d:%lld", &rank, &bytes) == 2) found.refused = rank;
  if (std::sscanf(text, "kill:%d:%lld", &rank, &bytes) == 2) found.killed = rank;
  if (std::sscanf(text, "hang:%d:%lld", &rank, &bytes) == 2) found.hung = rank;
  found.from_bytes = bytes;
  return found;
}

class SpinCommunicator : public plugin::Communicator {
 public:
  explicit SpinCommunicator(plugin::RankGroup& group) : group_(group), faults_(faults()) {}

  void prepare(const CollectiveCall& call) override {
    if (call.dtype != DType::kFloat32)
      throw Error(ErrorCode::kUnsupported, "spin knows no elements but float");
    call_ = call;
    if (std::max(call.send_count, call.receive_count) * 4 >= faults_.from_bytes) fail_on_purpose();
    send_.assign(static_cast<std::size_t>(call.send_count), 0);
    receive_.assign(static_cast<std::size_t>(call.receive_count), 0);
  }
  void write(std::span<const std::byte> data) override {
    std::ranges::copy(data, std::as_writable_bytes(std::span(send_)).begin());
  }
  void read(std::span<std::byte> data) override {
    std::ranges::copy_n(std::as_bytes(std::span(receive_)).begin(), std::ssize(data), data.begin());
  }
  void start() override {
    if (group_.rank() == faults_.late)
      std::this_thread::sleep_for(std::chrono::milliseconds(faults_.late_ms));
    if (call_.operation == Collective::kBarrier) return group_.barrier();
    take(buffers_of_all());
    if (call_.send_to >= 0 && call_.send_to != group_.rank())
      std::this_thread::sleep_for(std::chrono::milliseconds(
          meets(group_.rank(), call_.send_to) ? faults_.slow_ms : faults_.other_ms));
    if (group_.rank() == faults_.wrong && !receive_.empty()) receive_.front() += 1;
  }
  void finish() override {}
  [[nodiscard]] bool start_completes() const override { return true; }

 private:
  void fail_on_purpose() const {
    if (group_.rank() == faults_.refused) throw std::bad_alloc();
    if (group_.rank() == faults_.killed) std::raise(SIGKILL);
    if (group_.rank() == faults_.hung) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  // The slow rank meets another one, or the one to which its link is slow.
  [[nodiscard]] bool meets(int one, int other) const {
    if (faults_.slow < 0) return false;
    if (other == faults_.slow) std::swap(one, other);
    return one == faults_.slow && (faults_.slow_peer < 0 || other == faults_.slow_peer);
  }

  // One after the other, in the order of ranks.
  std::vector<Floats> buffers_of_all() {
    std::vector<Floats> all;
    for (int rank = 0; rank < group_.world(); ++rank) {
      all.push_back(send_);
      group_.broadcast(std::as_writable_bytes(std::span(all.back())), rank);
    }
    return all;
  }

  void take(const std::vector<Floats>& all) {
    const auto rank = static_cast<std::size_t>(group_.rank()), world = all.size();
    const auto root = static_cast<std::size_t>(call_.root);
    const auto block = [&](std::size_t of, std::size_t from, std::size_t count, std::size_t to) {
      std::copy_n(all[of].begin() + static_cast<std::ptrdiff_t>(from), count,
                  receive_.begin() + static_cast<std::ptrdiff_t>(to));
    };
    switch (call_.operation) {
      case Collective::kAllReduce:
        return reduce(all, 0);
      case Collective::kReduce:
        return rank == root ? reduce(all, 0) : void();
      case Collective::kReduceScatter:
        return reduce(all, rank * receive_.size());
      case Collective::kBroadcast:
        return block(root, 0, send_.size(), 0);
      case Collective::kSendRecv:
        return block(call_.receive_from >= 0 ? static_cast<std::size_t>(call_.receive_from)
                                             : (rank + world - 1) % world,
                     0, send_.size(), 0);
      case Collective::kAllGather:
        for (std::size_t i = 0; i < world; ++i) block(i, 0, send_.size(), i * send_.size());
        return;
      case Collective::kAllToAll:
        for (std::size_t i = 0, n = send_.size() / world; i < world; ++i) block(i, rank * n, n, i * n);
        return;
      case Collective::kBarrier:
        return;
    }
  }

  void reduce(const std::vector<Floats>& all, std::size_t from) {
    for (std::size_t i = 0; i < receive_.size(); ++i) {
      float value = all.front()[from + i];
      for (std::size_t rank = 1; rank < all.size(); ++rank) value = combined(value, all[rank][from + i]);
      receive_[i] = call_.reduction == Reduction::kAvg ? value / static_cast<float>(all.size()) : value;
    }
  }

  [[nodiscard]] float combined(float a, float b) const {
    switch (call_.reduction) {
      case Reduction::kProd:
        return a * b;
      case Reduction::kMin:
        return std::min(a, b);
      case Reduction::kMax:
        return std::max(a, b);
      default:
        return a + b;
    }
  }

  plugin::RankGroup& group_;
  Faults faults_;
  CollectiveCall call_;
  Floats send_, receive_;
};

}  // namespace

std::unique_ptr<plugin::Communicator> make_spin_communicator(plugin::RankGroup& group) {
  return std::make_unique<SpinCommunicator>(group);
}

}  // namespace paceline::test
