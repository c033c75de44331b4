// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/trace_event.h"

// What the names of a trace's events say of them.
namespace paceline::analysis::traces {

enum class Role : std::uint8_t {
  kOther,
  kStep,
  kLoader,
  kOptimizer,
  kAutograd,
  kReducer,       // DDP's own work on buckets
  kForwardScope,  // a scope around all of the pass
  kBackwardScope,
  kTogether,      // a collective that ends on all ranks together
  kRooted,        // communication that a rank can leave before others
  kPointToPoint,  // between two ranks, as pipelines have it
  kHandsOver,     // hands communication to another thread or the device, or waits for it
  kLaunch,        // a call that starts a kernel
};

// Of each name. The scopes of Paceline's own traces count where there are no ProfilerStep#N.
std::vector<Role> roles_of(const std::vector<std::string>& names);

// Names that are scopes are scopes only when somebody named them, and operators only as operators.
Role role_of(const TraceEvent& event, const std::vector<Role>& roles);

inline bool is_communication(Role role) {
  return role == Role::kTogether || role == Role::kRooted || role == Role::kPointToPoint;
}

// What an event without a category is, where its name tells; kKernel: of a device, whichever of its kinds.
std::optional<EventKind> kind_of_name(const std::string& name);

// The number behind the prefix of a step.
std::optional<std::int64_t> step_number(const std::string& name);

}  // namespace paceline::analysis::traces
