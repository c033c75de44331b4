// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "host/system_files.h"

namespace paceline::host {

// Says why no NVIDIA GPU can be used here, from what its driver would leave in /dev and /proc; empty when
// there is a sign of one, and the driver has the word. CUDA is not loaded for it.
std::string no_nvidia_device_reason(const SystemFiles& files);

// CUDA_VISIBLE_DEVICES of this process.
std::optional<std::string> visible_devices();

// Adds the reason where CUDA_VISIBLE_DEVICES hides every GPU from this process.
std::string no_visible_device_reason(const SystemFiles& files,
                                     const std::optional<std::string>& visible = visible_devices());

}  // namespace paceline::host
