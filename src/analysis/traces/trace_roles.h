// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/traces/trace_event.h"

// Roles of a trace's events, by their names.
namespace paceline::analysis::traces {

enum class Role : std::uint8_t {
  kOther,
  kStep,
  kLoader,
  kOptimizer,
  kAutograd,
  kReducer,       // work of DDP and FSDP that backward calls alone do
  kForwardScope,  // a scope around all of the pass
  kBackwardScope,
  kCommunication,
  kHandsOver,  // hands communication to another thread or the device, or waits for it
  kLaunch,     // a call that starts a kernel
};

// Returns a role per name. The scopes of Paceline's own traces count if there are no ProfilerStep#N.
std::vector<Role> roles_of(const std::vector<std::string>& names);

// A name may mean something else of another kind of event: scopes are what somebody named, kernels of
// communication run on a device.
Role role_of(const TraceEvent& event, const std::vector<Role>& roles);

// Kind of an event without a category, if its name tells; kKernel: any kind on a device.
std::optional<EventKind> kind_of_name(const std::string& name);

// The number behind the prefix of a step.
std::optional<std::int64_t> step_number(const std::string& name);

}  // namespace paceline::analysis::traces
