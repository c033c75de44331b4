// SPDX-License-Identifier: MIT
// Sweeps of collectives in a plan: their checks, and which of their cases would repeat another.
#include <fmt/format.h>

#include <algorithm>

#include "base/collective.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "config/collective/bandwidth_limit.h"
#include "config/collective/message_sizes.h"
#include "config/collective/topologies.h"
#include "config/kind_in_plan.h"

namespace paceline::config {
namespace {

void check_rounds(WorkloadDraft& d) {
  if (!d.settings.has("rounds")) return;
  const auto& rounds = d.settings.text("rounds");
  const auto size = parse_int(rounds);
  if (rounds != "pairs" && rounds != "hosts" && (!size || *size < 2))
    return d.report(
        "rounds", fmt::format("rounds '{}' is none of pairs, hosts, or a number of ranks from 2 on", rounds));
  if (!d.settings.has("gpu_counts")) return;
  const auto counts = d.settings.numbers("gpu_counts");
  const auto fewest = *std::min_element(counts.begin(), counts.end());
  const auto needed = size && *size > 2 ? 2 * *size : 2;
  if (fewest < static_cast<double>(needed))
    d.report("rounds",
             fmt::format("rounds '{}' need at least {} ranks, and a case has {:g}", rounds, needed, fewest));
}

// The installed table is read for its names alone.
void check_topology(WorkloadDraft& d) {
  const bool named = d.settings.has("topology"), own = d.settings.has("expected");
  if (!named && !own) return;
  try {
    const auto table = read_topologies(own ? d.settings.text("expected") : std::string());
    if (!named || find_topology(table, d.settings.text("topology"), {})) return;
    std::vector<std::string> names;
    for (const auto& topology : table) names.push_back(topology.name);
    d.report("topology", fmt::format("topology '{}' is no row of the table; there are: {}",
                                     d.settings.text("topology"), join(names, ", ")));
  } catch (const ConfigErrors& errors) {
    for (const auto& one : errors.diagnostics()) d.problems.push_back(one);
  } catch (const Error& e) {
    d.report(own ? "expected" : "topology", e.what());
  }
}

void check_bandwidth_limit(WorkloadDraft& d, const std::string& text,
                           const std::vector<std::int64_t>& sizes) {
  try {
    const auto limit = parse_bandwidth_limit(text);
    if (std::ranges::find(sizes, limit.bytes) == sizes.end())
      d.report("min_busbw",
               fmt::format("min_busbw '{}': {} bytes are not among the {} of the sweep, from {} to {}", text,
                           limit.bytes, plural(std::ssize(sizes), "size"), sizes.front(), sizes.back()));
  } catch (const Error& e) {
    d.report("min_busbw", e.what());
  }
}

void check_message_sizes(WorkloadDraft& d) {
  if (d.settings.integer("min_bytes") > d.settings.integer("max_bytes")) return;  // told already
  try {
    const auto sizes = message_sizes(d.settings);
    for (const auto& limit : d.settings.texts("min_busbw")) check_bandwidth_limit(d, limit, sizes);
  } catch (const Error& e) {
    d.report(d.settings.has("step_bytes") ? "step_bytes" : "step_factor", e.what());
  }
}

void check_collective(WorkloadDraft& d) {
  check_message_sizes(d);
  check_rounds(d);
  check_topology(d);
  // A stored plan holds both.
  const auto *step = d.written("step_bytes"), *factor = d.written("step_factor");
  if (step && factor && step->on_command_line && factor->on_command_line)
    d.report("step_bytes",
             fmt::format("'{}' and '{}' exclude each other; keep one", step->written, factor->written));
  if (!d.settings.has("gpu_counts") || !d.settings.has("root")) return;
  const auto counts = d.settings.numbers("gpu_counts");
  const auto fewest = *std::min_element(counts.begin(), counts.end());
  if (d.settings.number("root") >= fewest)
    d.report("root", fmt::format("root {} is none of {:g} ranks, which go from 0 to {:g}",
                                 d.settings.integer("root"), fewest, fewest - 1));
}

// True if the case differs only in an option that its collective ignores.
bool repeats_operation(const Case& item, std::span<const AxisPlace> places) {
  const auto operation = parse_collective(item.settings.text("collective")).value_or(Collective::kAllReduce);
  return std::ranges::any_of(places, [&](const AxisPlace& axis) {
    const bool ignored = (axis.name == "reduction" && !row_of(operation).reduces) ||
                         (axis.name == "dtype" && operation == Collective::kBarrier);
    return ignored && axis.at > 0;
  });
}

}  // namespace

constexpr KindInPlan kCollectiveInPlan{.check = check_collective,
                                       .complete = [](Case& item, std::span<const AxisPlace> places) {
                                         return !repeats_operation(item, places);
                                       }};

}  // namespace paceline::config
