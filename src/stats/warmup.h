// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

// Decides when measuring may begin (methodology: warm-up). Durations are in ns.
namespace paceline::stats {

enum class WarmupMode : std::uint8_t { kAuto, kFixed, kNone };

struct WarmupConfig {
  WarmupMode mode = WarmupMode::kAuto;
  std::int64_t fixed_iterations = 0;  // kFixed: both must be reached
  std::int64_t fixed_ns = 0;
  std::int64_t floor_iterations = 5;  // kAuto
  std::int64_t floor_ns = 500'000'000;
  std::int64_t cap_iterations = 500;  // not before the floor is reached
  std::int64_t cap_ns = 60'000'000'000;
  double window_ns = 250e6;  // a window is this long, within window_min and window_max iterations
  std::int64_t window_min = 5;
  std::int64_t window_max = 30;
  int passes = 3;           // consecutive neighbouring windows that agree
  double tolerance = 0.01;  // of ln(median ratio), or twice its standard error if that is more
};

enum class WarmupState : std::uint8_t {
  kWarming,
  kDone,        // steady, or the fixed amount is reached
  kNotReached,  // the cap came first: measure, and report it
};

struct WarmupDecision {
  WarmupState state = WarmupState::kWarming;
  std::int64_t next_n = 0;  // ask again at this number of iterations; meaningless unless warming
};

// Receives the durations since the last question and remembers them; otherwise pure.
class WarmupDetector {
 public:
  explicit WarmupDetector(const WarmupConfig& config) : config_(config) {}
  // Iterations to run before the first question.
  [[nodiscard]] std::int64_t first_check() const;
  WarmupDecision add(std::span<const double> durations_ns, std::int64_t elapsed_ns);
  [[nodiscard]] std::int64_t window() const { return window_; }

 private:
  [[nodiscard]] WarmupDecision fixed(std::int64_t elapsed_ns) const;
  WarmupDecision automatic(std::int64_t elapsed_ns);
  [[nodiscard]] bool recently_steady() const;
  void count_passes();

  WarmupConfig config_;
  std::vector<double> durations_;
  std::int64_t window_ = 0;     // iterations; 0 until estimated
  std::int64_t windows_ = 0;    // complete windows judged so far
  std::int64_t steady_at_ = 0;  // number of windows judged when enough had last agreed; 0: never
  int passes_ = 0;
};

}  // namespace paceline::stats
