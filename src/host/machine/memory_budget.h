// SPDX-License-Identifier: MIT
// Checks whether what is about to be allocated fits into memory.
#pragma once
#include <string>

#include "base/error.h"

namespace paceline::host {

// Request that does not fit into memory. The case ends as "oom".
class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(ErrorCode::kInternal, message) {}
};

// To be called before an allocation: throws OutOfMemory where `bytes` is more than three quarters of what
// this process may still take (available memory, the cgroup's limit). The message begins with `what`: "the
// inputs".
void require_memory(double bytes, const std::string& what);

}  // namespace paceline::host
