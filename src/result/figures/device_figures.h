// SPDX-License-Identifier: MIT
// Figures of the devices that a case ran on. Pure functions.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "result/stored/case_result.h"
#include "result/stored/samples.h"

namespace paceline::result {

// Items done in a window of a sampler: samples times items, or where single samples do not tell, the rate of
// the case times the length of the window. Missing for a sweep of sizes, of which the largest alone has
// samples.
Number items_in_window(const CaseResult& one, const std::vector<Sample>& samples, double items_per_iteration,
                       const SampledWindow& window);

// GPU states that ranks saw between steps: clock, and what kept it down.
std::vector<DeviceState> states_of_ranks(const Training* training);

// As the sampler saw them; of training without one, what its ranks saw.
std::vector<DeviceState> device_states(const CaseResult& one);

// Names of DevicePart.
inline constexpr char kEnqueue[] = "enqueue", kH2d[] = "h2d", kDeviceCompute[] = "compute", kD2h[] = "d2h";

// Share of the readings with the power cap, or with any other reason to slow down.
Number power_cap_share(const DeviceState& state);
Number slowdown_share(const DeviceState& state);
Number memory_used_mb(const DeviceState& state);

// One figure over the devices of a case; missing where there are none, or one of them has none.
enum class DeviceSum : std::uint8_t { kSmallest, kLargest, kAll };
Number summed_over_devices(const CaseResult& one, Number (*get)(const DeviceState&), DeviceSum sum);

// From this share of the wall time on, the device decides the grade and the noise of the host does not.
inline constexpr double kDeviceDecides = 0.95;

// Median device time over median wall time; of training the share of the parts of a step that the device
// computes.
Number device_share(const CaseResult& one);
// Median host time of starting an inference over its median device time: near 1 the device waits for its
// launches, whose pauses are device time.
Number launch_share(const CaseResult& one);
// From this launch share on the host decides all the same.
inline constexpr double kHostDecides = 0.9;
// Smallest share of training time in which a kernel ran on a device, as the driver says. Its parts of a step
// span the pauses between kernels. Missing if it was read for less than 3 s.
Number kernel_share(const CaseResult& one);
bool device_decides(const CaseResult& one);

}  // namespace paceline::result
