// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "base/error.h"

namespace paceline::workload {

// What is asked for does not fit into memory. A case that this befalls ends as "oom".
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(ErrorCode::kInternal, message) {}
};

// Before it is allocated: throws OutOfMemory where so many bytes are more than three quarters of what this
// process may still take (available memory, the cgroup's limit). `what` begins the message: "the inputs".
void require_memory(double bytes, const std::string& what);

}  // namespace paceline::workload
