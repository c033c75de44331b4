// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "host/system_files.h"

namespace paceline::host {

// Why no NVIDIA GPU can be used here, from what its driver would leave in /dev and /proc; empty when there is
// a sign of one, and the driver has the word. Nothing of CUDA is loaded to say it.
std::string no_nvidia_device_reason(const SystemFiles& files);

}  // namespace paceline::host
