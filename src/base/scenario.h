// SPDX-License-Identifier: MIT
// How work arrives in a timed pass, and what follows from that: one row per scenario, which callers ask.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paceline {

enum class Scenario : std::uint8_t { kSync, kClosedLoop, kServer, kOffline };

struct ScenarioTraits {
  Scenario scenario;
  std::string_view name;         // in plans and results
  bool one_at_a_time = false;    // an inference begins when the one before has ended: one lane, nothing waits
  bool keeps_in_flight = false;  // each lane begins its next request at once, so their number stays the same
  bool open_loop = false;        // requests arrive by a schedule, whose length follows from the load
  bool has_queue = false;        // requests wait for a lane, and a backlog may grow
  bool rate_is_offered = false;  // its throughput is the rate of arrivals; what it can do is its saturation
  bool all_at_start = false;     // every request is there from the start: a throughput, no latency
};

// In the order of the enumeration.
inline constexpr std::array<ScenarioTraits, 4> kScenarios{{
    {.scenario = Scenario::kSync, .name = "sync", .one_at_a_time = true},
    {.scenario = Scenario::kClosedLoop, .name = "closed_loop", .keeps_in_flight = true},
    {.scenario = Scenario::kServer,
     .name = "server",
     .open_loop = true,
     .has_queue = true,
     .rate_is_offered = true},
    {.scenario = Scenario::kOffline, .name = "offline", .all_at_start = true},
}};
constexpr const ScenarioTraits& traits_of(Scenario scenario) {
  return kScenarios.at(static_cast<std::size_t>(scenario));
}
constexpr std::optional<Scenario> parse_scenario(std::string_view name) {
  for (const auto& row : kScenarios)
    if (row.name == name) return row.scenario;
  return std::nullopt;
}

}  // namespace paceline
