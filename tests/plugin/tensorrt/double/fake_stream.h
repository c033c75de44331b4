// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <vector>

// Work of a stream is done when it is waited for, in its order, so that reading too early shows.
struct CUstream_st {
  std::vector<std::function<void()>> work;
};
