// SPDX-License-Identifier: MIT
#pragma once
#include <openvino/runtime/core.hpp>

namespace paceline::openvino_plugin {

// Holds the one ov::Core of a process, which is never destroyed: its plug-ins do not survive static objects.
inline ov::Core& core() {
  static ov::Core& instance = *new ov::Core;
  return instance;
}

}  // namespace paceline::openvino_plugin
