// SPDX-License-Identifier: MIT
// The probe of the spin plug-in, for tests only. SPIN_PEAKS: what it finds, as OPERATION:VARIANT:FIGURE parts
// with commas, "product:bf16:640e12,copy:within_device:4.3e12"; a figure that is words is why there is none.
// "lost": the device cannot be used. SPIN_PEAKS_1: the same of cuda:1 alone. Each figure has ten repetitions
// around it, and half the speed of it comes first. SPIN_PEAKS_SLOW=cuda:1=3: on that device all takes three
// times as long; with SPIN_PEAKS_ONCE=FILE, in which it counts, only the first two times.
#pragma once
#include <memory>

#include "plugin/device_probe.h"

namespace paceline::test {

std::unique_ptr<plugin::DeviceProbe> make_spin_probe();

}  // namespace paceline::test
