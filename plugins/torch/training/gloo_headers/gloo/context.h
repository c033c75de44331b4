// SPDX-License-Identifier: MIT
#pragma once
#include <chrono>

// LibTorch's packages include headers that need gloo's, and gloo itself, but not gloo's headers. These files
// declare what is named there and never used by us: everything goes through c10d's own classes.
namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
  [[nodiscard]] std::chrono::milliseconds getTimeout() const;
};

}  // namespace gloo
