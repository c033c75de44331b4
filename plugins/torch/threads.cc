// SPDX-License-Identifier: MIT
#include "torch/threads.h"

#include <ATen/Parallel.h>

namespace paceline::torch_plugin {

// LibTorch takes the number of inter-op threads once in a process, in which several plug-ins may have a copy
// of this function.
void set_threads(int threads) {
  if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  at::set_num_threads(threads);
}

}  // namespace paceline::torch_plugin
