// SPDX-License-Identifier: MIT
#pragma once

namespace paceline::torch_plugin {

// Sets the number of threads of every LibTorch operator from now on. Inter-op threads are set to one, because
// nothing here uses them.
void set_threads(int threads);

// Number of threads that an operator runs on: OMP_THREAD_LIMIT caps it without a word of LibTorch's.
int running_threads();

}  // namespace paceline::torch_plugin
