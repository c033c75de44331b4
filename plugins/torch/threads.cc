// SPDX-License-Identifier: MIT
#include "torch/threads.h"

#include <ATen/Parallel.h>

#include <mutex>

namespace paceline::torch_plugin {

// LibTorch accepts the number of inter-op threads once per process, in which several plug-ins may have a copy
// of this function, and several threads may load a model at the same time.
void set_threads(int threads) {
  static std::mutex once_at_a_time;
  const std::scoped_lock lock(once_at_a_time);
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::set_num_threads(threads);
}

}  // namespace paceline::torch_plugin
