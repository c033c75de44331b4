// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attach/step_record.h"
#include "base/maybe.h"

// Facts of a step file besides its steady steps.
namespace paceline::analysis::traces {

// Sorted from the least to the most telling: a step of several sorts is of the last one.
enum class StepSort : std::uint8_t {
  kSteady,
  kUneven,
  kWarmup,
  kEpoch,
  kSkipped,
  kCompiling,
  kEvaluation,
  kPause,
  kTraced,
  kCount,
};

struct StepSortTraits {
  std::string_view key;    // for programs
  std::string_view title;  // of a row, for people
  std::string_view means;  // how it is recognised
};
inline constexpr std::array<StepSortTraits, static_cast<std::size_t>(StepSort::kCount)> kStepSorts{{
    {"steady", "steady steps", ""},
    {"other_accumulation", "other accumulation", "another number of backward passes than most steps have"},
    {"warm_up", "warm-up", "the first step, and those up to the tenth that take twice the median"},
    {"new_epoch", "new epochs", "the data loader ran out and began again"},
    {"skipped", "skipped steps", "twice the backward passes for one optimizer step, as GradScaler leaves"},
    {"compilation", "compilation",
     "torch.compile worked, or a compiled forward pass took 5 times its median"},
    {"evaluation", "evaluation", "forward passes or batches without a backward pass"},
    {"pause", "pauses (checkpoints)",
     "after a step nothing was seen for longer than a step, as checkpoints do"},
    {"traced", "traced steps", "--trace recorded their operators, or wrote them down"},
}};
constexpr const StepSortTraits& traits_of(StepSort sort) {
  return kStepSorts.at(static_cast<std::size_t>(sort));
}

struct UnsteadyStep {
  std::int64_t number = 0;
  StepSort sort = StepSort::kWarmup;
  std::int64_t extra_ns = 0;  // beyond a median steady step; less than 0 if it was shorter
};

// By attach::StepCounter; empty: not counted.
using CounterValues =
    std::array<std::optional<std::uint64_t>, static_cast<std::size_t>(attach::StepCounter::kCount)>;

// Growth of the counters in steady steps. Of the CPUs that the rank may use, the value itself.
struct CounterGrowth {
  std::int64_t steps = 0;
  double wall_ns = 0;
  CounterValues values{};
  [[nodiscard]] std::optional<double> of(attach::StepCounter counter) const {
    const auto& value = values.at(static_cast<std::size_t>(counter));
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  }
};

// One rank; all ranks of a job have the same steps.
struct AttachedRank {
  std::string torch, device, command;
  std::string exception;             // type of the uncaught one that ended it; empty: none is known
  bool sharded = false;              // FSDP: parameters are fetched during the passes
  bool loads_in_processes = false;   // workers of a DataLoader, whose CPU time is not in `counters`
  bool has_first = false;            // the file has the first step of the job
  bool running = false;              // its process still writes the file
  std::int64_t last_step = 0;        // number of the newest
  std::int64_t oldest_kept = 0;      // number of the first step in the figures, if older ones are not
  std::int64_t steps = 0;            // that were observed, steady or not
  std::int64_t observed_ns = 0;      // their time
  std::int64_t optimizer_steps = 1;  // in each
  std::int64_t other_steps = 0;      // of optimizers before and behind them, such as of another phase
  std::int64_t micro_steps = 1;      // backward passes in each
  std::vector<UnsteadyStep> unsteady;
  std::vector<std::int64_t> unwatched;  // numbers of steps in which the observer was off
  CounterGrowth counters;
  std::vector<double> watching;  // ln of step time with the observer on over off, by pair of blocks
};

// All ranks together.
struct OtherTime {
  StepSort sort = StepSort::kWarmup;
  std::int64_t steps = 0;
  double extra_ns = 0;  // at least 0, as a sum
  double share = 0;     // of the time observed
};

struct AttachedStudy {
  std::string torch, device, command;
  bool running = false;  // a rank still writes its file
  double observed_ns = 0;
  std::vector<OtherTime> other;    // the most time first
  std::vector<std::string> notes;  // accumulation, several optimizers
  // Step time with the observer on over off, with its interval.
  Number watching, watching_low, watching_high;
};

}  // namespace paceline::analysis::traces
