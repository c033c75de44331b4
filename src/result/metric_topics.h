// SPDX-License-Identifier: MIT
// The headings of docs/metrics.md that metrics belong to, and what each says of its metrics.
#pragma once
#include <string_view>

#include "result/stored/case_result.h"

namespace paceline::result {

// Common properties of the metrics below one heading of docs/metrics.md.
struct Topic {
  std::string_view anchor;      // the heading, with formula and reading
  bool of_check = false;        // found by the check of outputs: valid where it failed the case
  bool outlives_noise = false;  // valid whatever the grade: pair ratios, sizes, results of checks
  bool (*concerns)(const CaseResult&) = nullptr;  // whether a case may have these; nullptr: every case
};

namespace topics {

bool has_load(const CaseResult& c);
bool is_trained(const CaseResult& c);
bool is_checked(const CaseResult& c);
bool reads_model(const CaseResult& c);
bool has_device_time(const CaseResult& c);
bool has_devices(const CaseResult& c);
bool has_cpu_power(const CaseResult& c);
bool is_cross_checked(const CaseResult& c);

inline constexpr Topic kLatencyQuantiles{.anchor = "latency-quantiles"},
    kMeanMinMax{.anchor = "mean-min-max-mad"}, kBackToBack{.anchor = "back-to-back"},
    kPartsOfATime{.anchor = "enqueue-and-copies"}, kHiddenCopies{.anchor = "hidden-copies"},
    kSamples{.anchor = "samples"}, kHighestQuantile{.anchor = "highest-claimable-quantile"},
    kThroughput{.anchor = "throughput"}, kFirstIteration{.anchor = "first-iteration-and-load"},
    kPictures{.anchor = "pictures"}, kFlops{.anchor = "flops-and-peak"},
    kCollectives{.anchor = "collectives"}, kSpread{.anchor = "spread"},
    kHarness{.anchor = "harness-overhead"}, kNoise{.anchor = "noise"};
inline constexpr Topic kDeviceTime{.anchor = "device-time", .concerns = has_device_time},
    kDevices{.anchor = "devices", .concerns = has_devices},
    kCpuPower{.anchor = "cpu-power", .concerns = has_cpu_power},
    kLoad{.anchor = "load", .concerns = has_load},
    kTrainingThroughput{.anchor = "training-throughput", .concerns = is_trained},
    kPartsOfAStep{.anchor = "parts-of-a-step", .concerns = is_trained},
    kStragglers{.anchor = "stragglers", .concerns = is_trained};
inline constexpr Topic kSpeedUp{.anchor = "speed-up", .outlives_noise = true},
    kMemory{.anchor = "memory", .outlives_noise = true},
    kDeviceMemory{.anchor = "memory", .outlives_noise = true, .concerns = has_devices},
    kModelFile{.anchor = "model-file", .outlives_noise = true, .concerns = reads_model},
    kCrossCheck{.anchor = "cross-check", .outlives_noise = true, .concerns = is_cross_checked},
    kEfficiency{.anchor = "scaling-efficiency", .outlives_noise = true, .concerns = is_trained},
    kLoss{.anchor = "loss-and-accuracy-while-training", .outlives_noise = true, .concerns = is_trained};
inline constexpr Topic kAccuracy{
    .anchor = "accuracy", .of_check = true, .outlives_noise = true, .concerns = is_checked},
    kAgreement{.anchor = "agreement", .of_check = true, .outlives_noise = true, .concerns = is_checked},
    kChangeOfAccuracy{
        .anchor = "change-of-accuracy", .of_check = true, .outlives_noise = true, .concerns = is_checked};

}  // namespace topics
}  // namespace paceline::result
