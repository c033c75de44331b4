// SPDX-License-Identifier: MIT
#include "torch/threads.h"

#include <ATen/Parallel.h>

#include <mutex>

namespace paceline::torch_plugin {

void set_threads(int threads) {
  static std::once_flag once;  // LibTorch takes the number of inter-op threads once in a process
  std::call_once(once, [] { at::set_num_interop_threads(1); });
  at::set_num_threads(threads);
}

}  // namespace paceline::torch_plugin
