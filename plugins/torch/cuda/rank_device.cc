// SPDX-License-Identifier: MIT
#include "torch/cuda/rank_device.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "base/ask_until.h"
#include "base/device.h"
#include "torch/cuda/switches.h"

namespace paceline::cuda_plugin {
namespace {

constexpr Pauses kPauses{std::chrono::milliseconds(1), std::chrono::milliseconds(50)};

std::string key_of(int rank) {
  return fmt::format("nccl_device/{}", rank);
}

std::string identity_of(plugin::Store& store, int rank, const Deadline& deadline) {
  std::optional<std::string> found;
  ask_until(deadline, kPauses, [&] { return (found = store.get(key_of(rank))).has_value(); });
  if (!found)
    throw Error(ErrorCode::kUnavailable, fmt::format("rank {} does not say which device it has", rank));
  return *found;
}

}  // namespace

int device_of_rank(int local_rank, int count) {
  return device_index(device_name({DeviceKind::kCuda, count > 0 ? local_rank % count : local_rank}), count);
}

void refuse_shared_devices(plugin::Store& store, const plugin::GroupSpec& spec, const std::string& identity) {
  store.set(key_of(spec.rank), identity);
  const auto deadline = deadline_in(spec.timeout_s);
  std::map<std::string, int> owners;
  for (int rank = 0; rank < spec.world; ++rank) {
    const auto [owner, alone] = owners.emplace(identity_of(store, rank, deadline), rank);
    if (!alone)
      throw Error(ErrorCode::kUnavailable,
                  fmt::format("ranks {} and {} are on one device ({}), and nccl wants a device for each "
                              "rank; start as many ranks as there are devices, or use backend: gloo",
                              owner->second, rank, owner->first));
  }
}

}  // namespace paceline::cuda_plugin
