// SPDX-License-Identifier: MIT
// Raw samples of a measurement and their CSV.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::result {

enum SampleFlag : std::uint32_t {
  kSampleBatched = 1,      // the duration is the mean of a batch of iterations
  kSamplePipelined = 2,    // the duration is the mean of a block of inferences that were waited for at once
  kSampleWarmup = 4,       // a request in the first part of a server run: kept, but in no statistic
  kSampleTimedOut = 8,     // never served; its latency counts as infinite
  kSampleUnfinished = 16,  // not complete when the run ended; its latency counts as infinite
  kSampleFailed = 32       // its instance died with it; its latency counts as infinite
};

// One timed iteration or request. start_ns is on the host's monotonic clock.
struct Sample {
  std::int32_t repetition = 0;
  std::int32_t rank = 0;
  std::int64_t index = 0;
  std::int64_t start_ns = 0;  // server: the scheduled time
  std::int64_t host_ns = 0;   // from start_ns until outputs are readable; 0 when lost() (empty in CSV)
  std::optional<std::int64_t> device_ns{};  // device time, where there is one
  std::uint32_t flags = 0;
  // server: the parts of host_ns, and how late a free lane noticed the request; input, compute and output:
  // also the parts of an inference on a device
  std::optional<std::int64_t> queue_ns{}, input_ns{}, compute_ns{}, output_ns{}, issue_delay_ns{};
  // requests in the inference that served it, where batches are formed; which of several instances claimed it
  std::optional<std::int64_t> batch{}, instance{};
  std::optional<std::int64_t> enqueue_ns{};  // how long starting it kept the host, where a device runs it

  [[nodiscard]] bool lost() const {
    return (flags & (kSampleTimedOut | kSampleUnfinished | kSampleFailed)) != 0;
  }
  [[nodiscard]] bool counts() const { return (flags & kSampleWarmup) == 0; }
  friend bool operator==(const Sample&, const Sample&) = default;
};

// With the columns of requests or of inferences on a device, or only the first seven.
std::vector<std::string> sample_columns(const std::vector<Sample>& samples = {});
std::string samples_to_csv(const std::vector<Sample>& samples);
// Throws Error(kData) naming file and line.
std::vector<Sample> read_samples_csv(const std::filesystem::path& path);

// Durations in ns, in order, of one repetition (all with repetition < 0) that count and were completed.
std::vector<double> durations_ns(const std::vector<Sample>& samples, int repetition = -1);

// Gives each request that was lost an infinite latency.
std::vector<double> latencies_ns(const std::vector<Sample>& samples, int repetition = -1);

}  // namespace paceline::result
