// SPDX-License-Identifier: MIT
#pragma once

namespace paceline::torch_plugin {

// Threads of every operator from now on. Inter-op threads are set to one: nothing here uses them.
void set_threads(int threads);

}  // namespace paceline::torch_plugin
