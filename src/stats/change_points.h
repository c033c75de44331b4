// SPDX-License-Identifier: MIT
// Finds where the level of a series changes: E-divisive with Student's t for its significance, in two passes.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace paceline::stats {

struct ChangePointConfig {
  std::size_t min_segment = 4;  // values between two changes, and behind the last one
  std::size_t window = 50;      // values among which a change is looked for; twice as many windows overlap
  double p = 0.0001;            // of a change; candidates are found at ten times this
};

// `first`: index of the first value of the new level. Levels are geometric means of the segments around it.
struct ChangePoint {
  std::size_t first = 0;
  double before = 0, after = 0;
  double p = 1;
  [[nodiscard]] double change() const { return after / before - 1; }
};

// Fewer than `min_segment` values at the end that lie beside the level before them: it may be a change.
struct Watch {
  std::size_t first = 0;
  double level = 0, value = 0;  // geometric means of what came before, and of these values
};

struct Changes {
  std::vector<ChangePoint> points;
  std::optional<Watch> watch;
};

// Deterministic; works on logarithms, so that a change is a ratio. A single value far beside its neighbours
// counts as if it were at the limit of the noise. A value appended changes candidates in the last two windows
// only. None for a series with a value that is not positive.
Changes change_points(std::span<const double> x, const ChangePointConfig& config = {});

}  // namespace paceline::stats
