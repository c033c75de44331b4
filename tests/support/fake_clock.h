// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>

namespace paceline::support {

// Time passes only when told to: each read takes `read_cost_ns` after it has been taken, bodies call
// advance(). Copies share the time.
class FakeClock {
 public:
  explicit FakeClock(std::int64_t read_cost_ns = 0) : state_(std::make_shared<State>()) {
    state_->read_cost_ns = read_cost_ns;
  }
  [[nodiscard]] std::int64_t now_ns() const {
    const auto now = state_->now_ns;
    ++state_->reads;
    state_->now_ns += state_->read_cost_ns;
    if (state_->gap_every > 0 && state_->reads % state_->gap_every == 0) state_->now_ns += state_->gap_ns;
    return now;
  }
  void advance(std::int64_t ns) const { state_->now_ns += ns; }
  // Moves on to a moment that has not come, and `late_ns` beyond it.
  void wait_until(std::int64_t when_ns) const {
    if (state_->now_ns < when_ns) state_->now_ns = when_ns + state_->late_ns;
  }
  void set_late(std::int64_t ns) const { state_->late_ns = ns; }
  void set_read_cost(std::int64_t ns) const { state_->read_cost_ns = ns; }
  // Every n-th read is followed by a gap, as if the machine did something else.
  void set_gap(std::int64_t every, std::int64_t ns) const {
    state_->gap_every = every;
    state_->gap_ns = ns;
  }
  [[nodiscard]] std::int64_t reads() const { return state_->reads; }

 private:
  struct State {
    std::int64_t now_ns = 1'000'000'000;
    std::int64_t read_cost_ns = 0;
    std::int64_t reads = 0;
    std::int64_t gap_every = 0;
    std::int64_t gap_ns = 0;
    std::int64_t late_ns = 0;
  };
  std::shared_ptr<State> state_;
};

}  // namespace paceline::support
