// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

// Waits for something that can only be polled: the one loop with pauses.
namespace paceline {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_in(double seconds) {
  using Clock = std::chrono::steady_clock;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Pauses between two questions: `first`, then twice as long each time, up to `longest`.
struct Pauses {
  std::chrono::milliseconds first, longest;
};

// Asks at least once, until the answer is true; returns false when it is not by the deadline.
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
