// SPDX-License-Identifier: MIT
#include "workload/turn_taker.h"

#include <utility>

#include "measure/control_spin.h"
#include "process/spawn.h"
#include "stats/median.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kTurnNs = 50'000'000;
constexpr int kLeastSamples = 4;  // of a turn: long inferences have longer ones
// Caches are those of another process when the turn comes back: one inference warms them, or several of 5 ms.
constexpr std::int64_t kWarmNs = 5'000'000;

}  // namespace

std::unique_ptr<TurnTaker> TurnTaker::of(const pass::PassSpec& spec, std::function<void()> warm) {
  if (spec.inference.seat == pass::kNoTurns) return nullptr;
  return std::make_unique<TurnTaker>(FileDescriptor(process::kExtraFd), static_cast<int>(spec.inference.seat),
                                     std::move(warm));
}

void TurnTaker::prepare(const pass::PassSpec& spec) {
  if (spec.inference.seat != pass::kNoTurns) measure::control_spin_ns();
}

Number TurnTaker::control_ns() const {
  return controls_ns_.empty() ? Number::missing("it had no turn") : Number(stats::median(controls_ns_));
}

void TurnTaker::begin_turn() {
  controls_ns_.push_back(measure::control_spin_ns(1));
  if (watcher_.begins) watcher_.begins();
  const auto begin = clock_.now_ns();
  do warm_();
  while (clock_.now_ns() - begin < kWarmNs);
  turn_began_ns_ = clock_.now_ns();
  samples_ = 0;
}

void TurnTaker::begin() {
  turns_.begin();
  left_alone_ = turns_.is_alone();
  begin_turn();
}

std::int64_t TurnTaker::pause() {
  const auto now = clock_.now_ns();
  if (++samples_ < kLeastSamples || now - turn_began_ns_ < kTurnNs || turns_.is_alone()) return 0;
  if (watcher_.ends) watcher_.ends();
  turns_.hand_over();
  begin_turn();
  return turn_began_ns_ - now;
}

void TurnTaker::end() {
  turns_.end();
}

}  // namespace paceline::workload
