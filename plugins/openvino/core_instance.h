// SPDX-License-Identifier: MIT
#pragma once
#include <openvino/runtime/core.hpp>

namespace paceline::openvino_plugin {

// One in a process, never destroyed: its plug-ins do not survive static objects.
inline ov::Core& core() {
  static ov::Core& instance = *new ov::Core;
  return instance;
}

}  // namespace paceline::openvino_plugin
