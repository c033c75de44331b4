// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

// The parts of a training step: one row each, which files, statistics, tables, charts and words walk.
namespace paceline::result {

// Parts that the clock of a rank distinguishes, in the order of files. After the wait for data come the
// phases of a trainer (plugin/trainer.h) in their order; kExposed is communication that backward did not
// hide.
enum class StepPart : std::uint8_t { kDataWait, kInput, kForward, kBackward, kExposed, kOptimizer, kCount };

// Work of a rank by itself before it can exchange the last gradients, in the order of time from the end of
// the exchange before: parts before kPause belong to the step before. kPause: between steps, beyond the
// shortest pause of all ranks. kHost: of the step, in none of its parts.
enum class OwnPart : std::uint8_t {
  kOptimizer,
  kPause,
  kDataWait,
  kHost,
  kInput,
  kForward,
  kBackward,
  kCount
};

template <typename Part>
inline constexpr auto kAllParts = [] {
  std::array<Part, static_cast<std::size_t>(Part::kCount)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Part>(i);
  return all;
}();
inline constexpr const auto& kStepParts = kAllParts<StepPart>;
inline constexpr const auto& kOwnParts = kAllParts<OwnPart>;

// A value for each part.
template <typename Part, typename T>
struct PerPart {
  std::array<T, static_cast<std::size_t>(Part::kCount)> values{};
  constexpr T& operator[](Part part) { return values[static_cast<std::size_t>(part)]; }
  constexpr const T& operator[](Part part) const { return values[static_cast<std::size_t>(part)]; }
  [[nodiscard]] T sum() const { return std::accumulate(values.begin(), values.end(), T{}); }
};

struct StepPartTraits {
  const char *name, *ns_name;  // of shares and of times in files
  const char* label;           // in charts
  const char *head, *word;     // of a narrow column, and while training runs; empty: in no table
  const char* scope;           // in the traces of a profiler
  const char* late_in;         // where a rank is late, in words; empty: a rank cannot be late in it by itself
  const char* colour;          // in charts, of report/chart
  bool works;                  // false: it waits, for data or for other ranks
};
inline constexpr PerPart<StepPart, StepPartTraits> kStepPartTraits{
    {{{"data_wait", "data_wait_ns", "data wait", "data", "data", "data wait", "data", "c4", false},
      {"input", "input_ns", "input", "", "", "input", "input", "c6", true},
      {"forward", "forward_ns", "forward", "fwd", "fwd", "forward", "forward", "c0", true},
      {"backward", "backward_ns", "backward", "bwd", "bwd", "backward", "backward", "c5", true},
      {"exposed", "exposed_ns", "exposed communication", "exposed", "exposed comm", "communication", "", "c1",
       false},
      {"optimizer", "optimizer_ns", "optimizer", "opt", "opt", "optimizer", "the optimizer", "c2", true}}}};

struct OwnPartTraits {
  const char *ns_name, *late_in, *colour;  // as above
  StepPart measured = StepPart::kCount;    // kCount: it follows from the times of the others
};
constexpr OwnPartTraits own_part(StepPart part) {
  const auto& t = kStepPartTraits[part];
  return {t.ns_name, t.late_in, t.colour, part};
}
inline constexpr PerPart<OwnPart, OwnPartTraits> kOwnPartTraits{{{own_part(StepPart::kOptimizer),
                                                                  {"pause_ns", "between steps", "c3"},
                                                                  own_part(StepPart::kDataWait),
                                                                  {"host_ns", "host", "pale"},
                                                                  own_part(StepPart::kInput),
                                                                  own_part(StepPart::kForward),
                                                                  own_part(StepPart::kBackward)}}};

constexpr const StepPartTraits& traits_of(StepPart part) {
  return kStepPartTraits[part];
}
constexpr const OwnPartTraits& traits_of(OwnPart part) {
  return kOwnPartTraits[part];
}

}  // namespace paceline::result
