// SPDX-License-Identifier: MIT
#include "workload/training/rank_observer.h"

#include <utility>

#include "base/text.h"
#include "host/gpu_locality.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kSampleEveryNs = 500'000'000;

// 1 for "cuda:1", 0 for "cuda"; none for a CPU.
std::optional<int> device_index(const std::string& device) {
  if (!device.starts_with("cuda")) return std::nullopt;
  const auto colon = device.find(':');
  return colon == std::string::npos ? 0 : static_cast<int>(parse_int(device.substr(colon + 1)).value_or(0));
}

}  // namespace

RankObserver::RankObserver(std::vector<int> ranks_of_host, const std::string& device)
    : ranks_(std::move(ranks_of_host)) {
  const auto index = device_index(device);
  const auto uuid = index ? host::uuid_of_device(host::gpu_places(), *index) : std::string();
  if (!uuid.empty()) gpu_ = std::make_unique<host::GpuSensor>(uuid);
}

void RankObserver::begin() {
  clocks_ = {};
  first_ = host::take_rank_counters(ranks_);
  sampled_ns_ = clock_.now_ns();
}

void RankObserver::between_steps() {
  const auto now = clock_.now_ns();
  if (!first_ || now - sampled_ns_ < kSampleEveryNs) return;
  sampled_ns_ = now;
  clocks_.core_mhz.push_back(host::mean_mhz(first_->cpu_numbers));
  if (gpu_) clocks_.device.push_back(gpu_->now());
}

result::RankEvidence RankObserver::evidence(std::int64_t steps) {
  return first_ ? host::evidence_between(*first_, host::take_rank_counters(ranks_), steps, clocks_)
                : result::RankEvidence{};
}

}  // namespace paceline::workload
