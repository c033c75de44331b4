// SPDX-License-Identifier: MIT
#include "run/collective/collective_factory.h"

#include <algorithm>

#include "config/collective/message_sizes.h"
#include "pass/sweep.h"
#include "run/case/case_settings.h"
#include "run/case/case_time.h"
#include "run/ranks/rank_settings.h"

namespace paceline::run {
namespace {

using config::Case;
using config::Settings;

// The rows of a table by their names, which the options offer.
template <typename Row, std::size_t N>
const Row& named(const std::array<Row, N>& rows, const std::string& name) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
}

// For each size: at least as many operations as the batch has.
measure::LoopConfig loop_of(const Settings& s) {
  measure::LoopConfig loop;
  loop.stop.confidence = s.number("confidence");
  loop.stop.n_min = s.integer("iterations");
  loop.stop.t_min_ns = 0;
  loop.stop.t_max_ns = to_ns(s.number("size_time_s"));
  loop.stop.precisions = {{stats::kPpmP50, s.number("size_halfwidth"), 0}};
  return loop;
}

// Estimates a single attempt, with hosts as if each rank were one.
double rounds_seconds(const Case& c) {
  constexpr double kBytesPerS = 1e9, kBarrierS = 1e-4;
  const auto& s = c.settings;
  if (!s.has("rounds")) return 0;
  const auto operations = static_cast<double>(s.integer("iterations") + s.integer("warmup_iterations"));
  return static_cast<double>(s.integer("ranks")) * operations *
         (kBarrierS + static_cast<double>(s.integer("round_bytes")) / kBytesPerS);
}

}  // namespace

pass::CollectiveSpec collective_spec(const Settings& s) {
  pass::CollectiveSpec c;
  c.operation = named(kCollectives, s.text("collective")).operation;
  c.dtype = named(kCollectiveDTypes, s.text("dtype")).dtype;
  c.reduction = named(kReductions, s.text("reduction")).reduction;
  c.root = static_cast<int>(s.integer("root"));
  c.sizes = swept_sizes(s);
  c.warmup = s.integer("warmup_iterations");
  c.batch = s.integer("iterations");
  c.checks = s.integer("check");
  if (s.has("rounds")) c.rounds = s.text("rounds");
  c.round_bytes = s.integer("round_bytes");
  c.slow_factor = s.number("slow_factor");
  return c;
}

std::vector<std::int64_t> swept_sizes(const Settings& s) {
  if (s.text("collective") == row_of(Collective::kBarrier).name) return {0};
  return config::message_sizes(s);
}

std::int64_t largest_bytes(const Case& c) {
  const auto spec = collective_spec(c.settings);
  return pass::collective_size(spec.operation, spec.dtype, c.settings.integer("ranks"), spec.sizes.back())
      .bytes;
}

double sweep_seconds(const Case& c) {
  constexpr double kBytesPerS = 1e9, kPlaces = 2;
  constexpr double kStartS = 2.0;  // of the ranks with their library
  double seconds = kStartS;
  for (const auto bytes : swept_sizes(c.settings))
    seconds += kPlaces * (c.settings.number("size_time_s") +
                          2 * c.settings.number("iterations") * static_cast<double>(bytes) / kBytesPerS);
  return c.settings.number("repetitions") * (seconds + rounds_seconds(c));
}

pass::PassSpec collective_pass(const Case& c, const std::string& device, int threads) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kCollective;
  pass.case_id = c.id;
  pass.world_size = c.settings.integer("ranks");
  pass.ranks = rank_spec(c, device);
  pass.task = collective_spec(c.settings);
  const auto asked = c.settings.integer("threads");
  pass.settings.threads = asked > 0 ? static_cast<int>(asked) : threads;
  pass.loop = loop_of(c.settings);
  return pass;
}

}  // namespace paceline::run
