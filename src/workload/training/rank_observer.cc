// SPDX-License-Identifier: MIT
#include "workload/training/rank_observer.h"

#include <algorithm>

#include "base/device.h"
#include "host/machine/affinity.h"
#include "host/machine/gpu_locality.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kSampleEveryNs = 500'000'000;
constexpr std::size_t kMostCpus = 8;  // one read wakes a core that sleeps

template <class T>
std::vector<T> tail_of_samples(const std::vector<T>& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())), all.end()};
}

}  // namespace

ClockSampler::ClockSampler(const std::string& device) : cpus_(host::current_affinity()) {
  cpus_.resize(std::min(cpus_.size(), kMostCpus));
  const Device mine = device_named(device);
  if (mine.kind != DeviceKind::kCuda) {
    samples_.no_device = "the rank computes on CPUs";
    return;
  }
  const auto uuid = host::uuid_of_device(host::gpu_places(), mine.index);
  if (uuid.empty())
    samples_.no_device = "NVIDIA's management library does not know the GPU of this rank";
  else
    gpu_ = std::make_unique<host::GpuSensor>(uuid);
}

void ClockSampler::between_steps() {
  const auto now = clock_.now_ns();
  if (now - sampled_ns_ < kSampleEveryNs) return;
  sampled_ns_ = now;
  samples_.core_mhz.push_back(host::mean_mhz(cpus_));
  if (gpu_) samples_.device.push_back(gpu_->now());
}

host::ClockSamples ClockSampler::since(std::size_t mark) const {
  return {tail_of_samples(samples_.core_mhz, mark), tail_of_samples(samples_.device, mark),
          samples_.no_device};
}

void RankObserver::begin() {
  mark_ = clocks_.mark();
  first_ = host::take_rank_counters(ranks_);
}

result::RankEvidence RankObserver::evidence(std::int64_t steps) const {
  if (!first_) return {};
  return host::evidence_between(*first_, host::take_rank_counters(ranks_), steps, clocks_.since(mark_));
}

void EvidenceObserver::open() {
  first_step_ = next_step_();
  counters_.begin();
}

void EvidenceObserver::close() {
  evidence_ = counters_.evidence(next_step_() - first_step_);
}

}  // namespace paceline::workload
