// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/maybe.h"
#include "measure/turns.h"
#include "pass/pass.h"

// Turns of a timed pass with those that it is compared with (methodology: turns within a pair).
namespace paceline::workload {

class TurnTaker {
 public:
  // Null where the pass works alone. `warm`: one inference, untimed; it outlives this.
  static std::unique_ptr<TurnTaker> of(const pass::PassSpec& spec, std::function<void()> warm);

  // Heard at the beginning and the end of each turn's measured part; the last one ends with the loop.
  struct Watcher {
    std::function<void()> begins, ends;
  };
  void watch(Watcher watcher) { watcher_ = std::move(watcher); }
  void get_ready() { turns_.get_ready(); }  // loaded and warm
  // Returns when the others are ready, too, and it is this process's turn.
  void begin();
  // Hands the turn over once it has lasted 50 ms and four samples, and warms up when it is back. Returns the
  // time in ns that was not measured; 0: it keeps the turn.
  std::int64_t pause();
  // Returns when all have measured; what follows disturbs none of them.
  void end();
  [[nodiscard]] std::vector<int> other_processes() const { return turns_.other_processes(); }
  // Median time of fixed work at the beginning of each turn: whether the machine changed.
  [[nodiscard]] Number control_ns() const;
  // No other process was there to take turns with.
  [[nodiscard]] bool was_left_alone() const { return left_alone_; }

  TurnTaker(FileDescriptor file, int seat, std::function<void()> warm)
      : turns_(std::move(file), seat), warm_(std::move(warm)) {}
  // Touches the memory of the control, before that of a model counts.
  static void prepare(const pass::PassSpec& spec);
  TurnTaker(const TurnTaker&) = delete;
  TurnTaker& operator=(const TurnTaker&) = delete;

 private:
  void begin_turn();

  measure::Turns turns_;
  std::function<void()> warm_;
  Watcher watcher_;
  SteadyClock clock_;
  std::int64_t turn_began_ns_ = 0;
  int samples_ = 0;  // of this turn
  bool left_alone_ = false;
  std::vector<double> controls_ns_;
};

}  // namespace paceline::workload
