// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

// Work of a stream is done when it is waited for, in its order, so that reading too early shows. While it is
// recorded, what comes after `recorded_from` is not done at all.
struct CUstream_st {
  std::vector<std::function<void()>> work;
  std::optional<std::size_t> recorded_from{};
  bool broken = false;  // what was recorded is of no use
};
