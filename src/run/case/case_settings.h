// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/device.h"
#include "config/settings.h"
#include "stats/stop_rule.h"

// Readings of a case's settings that its identity and its passes share.
namespace paceline::run {

// Empty when it is not set.
std::string optional_text(const config::Settings& s, std::string_view name);

// The device, of several the first; the CPU as long as auto is not resolved.
Device device_of(const config::Settings& s);

// The precision that the engine is asked for: fp32 where a model file has its own.
std::string asked_precision(const config::Settings& s);

// The processes that share a queue, as instances or gpus ask for them; 0: neither is asked for.
std::int64_t instances_of(const config::Settings& s);

// The numbers of the devices that they are on, in order; empty: the first ones.
std::vector<int> device_numbers(const config::Settings& s);

// Instances are on devices of their own where the device is called cuda: a number names one for all of them.
// 0: they are not spread over devices.
std::int64_t instances_per_device(const config::Settings& s);

// Inputs that are compared with the reference, before they become whole batches: as written, else 64.
std::int64_t asked_samples(const config::Settings& s);

// The stop rule as the options stop.* have it.
stats::StopConfig stop_config(const config::Settings& s);

// Nanoseconds of a time in seconds.
std::int64_t to_ns(double seconds);

// Seconds of warm-up at least: as written, else 0.5, and on a GPU 1; never beyond warmup.max_time_s.
double warmup_floor_s(const config::Settings& s);

// Seconds that the process sleeps before each inference; 0 without a gap.
double gap_s(const config::Settings& s);

}  // namespace paceline::run
