// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

// Waiting for what only asking tells.
namespace paceline {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(double seconds) {
  using Clock = std::chrono::steady_clock;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Between two questions: the first, then twice as long each, up to the longest.
struct Pauses {
  std::chrono::milliseconds first, longest;
};

// Asks, at least once, until the answer is yes; false when it is not at the deadline.
template <class Question>
bool ask_until(Deadline deadline, Pauses pauses, Question question) {
  for (auto pause = pauses.first; !question(); pause = std::min(pause * 2, pauses.longest)) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    std::this_thread::sleep_until(std::min<Deadline>(now + pause, deadline));
  }
  return true;
}

}  // namespace paceline
