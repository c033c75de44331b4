// SPDX-License-Identifier: MIT
#include "torch/threads.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <mutex>

// The function of LibTorch's OpenMP, where it has one.
extern "C" __attribute__((weak)) int omp_get_thread_limit();

namespace paceline::torch_plugin {

// LibTorch accepts the number of inter-op threads once per process, in which several plug-ins may have a copy
// of this function, and several threads may load a model at the same time.
void set_threads(int threads) {
  static std::mutex once_at_a_time;
  const std::scoped_lock lock(once_at_a_time);
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::set_num_threads(threads);
}

int running_threads() {
  const int most = omp_get_thread_limit ? omp_get_thread_limit() : at::get_num_threads();
  return std::min(at::get_num_threads(), most);
}

}  // namespace paceline::torch_plugin
