// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::result {

enum SampleFlag : std::uint32_t {
  kSampleBatched = 1,    // the duration is the mean of a batch of iterations
  kSampleExtension = 2,  // taken after residual warm-up was seen
};

// One timed iteration. start_ns is on the host's monotonic clock.
struct Sample {
  std::int32_t repetition = 0;
  std::int32_t rank = 0;
  std::int64_t index = 0;
  std::int64_t start_ns = 0;
  std::int64_t host_ns = 0;                 // before enqueue -> outputs readable
  std::optional<std::int64_t> device_ns{};  // device time, where there is one
  std::uint32_t flags = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

std::vector<std::string> sample_columns();
std::string samples_to_csv(const std::vector<Sample>& samples);
// Throws Error(kData) naming file and line.
std::vector<Sample> read_samples_csv(const std::filesystem::path& path);

// Durations of one repetition (or all with repetition < 0), in order, in ns.
std::vector<double> durations_ns(const std::vector<Sample>& samples, int repetition = -1);

}  // namespace paceline::result
