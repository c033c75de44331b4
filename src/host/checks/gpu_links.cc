// SPDX-License-Identifier: MIT
#include "host/checks/gpu_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/units.h"
#include "host/machine/accelerators.h"

namespace paceline::host {
namespace {

using nvml::Device;
using nvml::Library;
using Code = int;

constexpr unsigned kMostLinks = 18;         // NVML_NVLINK_MAX_LINKS
constexpr int kRead = 0, kOverNvlink = 2;   // nvmlGpuP2PCapsIndex_t
constexpr int kPeersFine = 0, kUnsure = 6;  // nvmlGpuP2PStatus_t
constexpr const char* kPeersFix = "nvidia-smi topo -p2p r shows why: look at ACS and IOMMU in the BIOS";
constexpr const char* kLinksFix =
    "nvidia-smi nvlink -s shows which are down: reset the GPU, or restart the fabric manager";

// The status; kUnsure where the driver does not report it.
int peer_status(const Library& nvml, Device first, Device second, int index) {
  int status = kUnsure;
  const int code =
      nvml.code<Code(Device, Device, int, int*)>("nvmlDeviceGetP2PStatus", first, second, index, &status);
  return code == nvml::kSuccess ? status : kUnsure;
}

PairPath path_between(const Library& nvml, Device first, Device second) {
  if (peer_status(nvml, first, second, kOverNvlink) == kPeersFine) return PairPath::kNvlink;
  const int read = peer_status(nvml, first, second, kRead);
  if (read == kUnsure) return PairPath::kUnknown;
  return read == kPeersFine ? PairPath::kPcie : PairPath::kHost;
}

int active_links(const Library& nvml, Device device) {
  int count = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int active = 0;
    if (nvml.code<Code(Device, unsigned, int*)>("nvmlDeviceGetNvLinkState", device, link, &active) ==
        nvml::kSuccess)
      count += active != 0 ? 1 : 0;
  }
  return count;
}

struct PathWords {
  PairPath path;
  const char* words;
};
constexpr std::array<PathWords, 4> kPathWords{{{PairPath::kNvlink, "over NVLink"},
                                               {PairPath::kPcie, "only over PCIe"},
                                               {PairPath::kHost, "only through the host's memory"},
                                               {PairPath::kUnknown, "not known"}}};

std::string pair_names(const GpuLinks& links, PairPath path) {
  std::vector<std::string> names;
  for (const auto& pair : links.pairs)
    if (pair.path == path) names.push_back(fmt::format("{}-{}", pair.first, pair.second));
  return join(names, ", ");
}

// The path that most pairs have is named last.
std::string paths_in_words(const GpuLinks& links) {
  const auto count = [&](PairPath path) { return std::ranges::count(links.pairs, path, &GpuPair::path); };
  auto rows = kPathWords;
  std::ranges::stable_sort(rows, {}, [&](const auto& row) { return count(row.path); });
  if (count(rows.back().path) == std::ssize(links.pairs))
    return fmt::format("all pairs {}", rows.back().words);
  std::string text = "pairs ";
  for (const auto& [path, words] : rows)
    if (path != rows.back().path && count(path) > 0)
      text += fmt::format("{} {}, ", pair_names(links, path), words);
  return text + "the others " + rows.back().words;
}

std::string links_in_words(const GpuLinks& links) {
  const auto [fewest, most] = std::ranges::minmax(links.active);
  if (most == 0) return {};
  if (fewest == most) return ", " + plural(most, "link") + " each";
  std::vector<std::string> short_ones;
  for (std::size_t i = 0; i < links.active.size(); ++i)
    if (links.active[i] < most)
      short_ones.push_back(fmt::format("GPU {} has {} of {} links", i, links.active[i], most));
  return ", but " + join(short_ones, ", ");
}

}  // namespace

GpuLinks read_gpu_links(const std::string& library) {
  const Library nvml(library);
  unsigned count = 0;
  if (!nvml.reason().empty() || !nvml.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count).empty())
    return {};
  std::vector<Device> devices(count);
  for (unsigned i = 0; i < count; ++i)
    (void)nvml.code<Code(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", i, &devices[i]);
  GpuLinks links;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    links.active.push_back(devices[i] ? active_links(nvml, devices[i]) : 0);
    for (std::size_t j = i + 1; j < devices.size(); ++j)
      links.pairs.push_back(
          {i, j, devices[i] && devices[j] ? path_between(nvml, devices[i], devices[j]) : PairPath::kUnknown});
  }
  return links;
}

std::string in_words(const GpuLinks& links) {
  return links.pairs.empty() ? "" : paths_in_words(links) + links_in_words(links);
}

CheckResult check_gpu_links(const SystemFiles& files, const std::string& library) {
  if (const auto absent = no_nvidia_device_reason(files); !absent.empty())
    return {Verdict::kNotAsked, absent, {}};
  const auto links = read_gpu_links(library);
  if (links.pairs.empty())
    return {Verdict::kNotAsked, links.active.empty() ? "the driver lists no GPU" : "one GPU has no peer", {}};
  std::vector<std::string> fixes;
  if (std::ranges::find(links.pairs, PairPath::kHost, &GpuPair::path) != links.pairs.end())
    fixes.emplace_back(kPeersFix);
  if (std::ranges::min(links.active) < std::ranges::max(links.active)) fixes.emplace_back(kLinksFix);
  return {fixes.empty() ? Verdict::kYes : Verdict::kReservedly, in_words(links), join(fixes, "; ")};
}

Fact gpu_links_fact(const SystemFiles& files, const std::string& library) {
  constexpr const char* kName = "GPU links";
  if (const auto absent = no_nvidia_device_reason(files); !absent.empty()) return {kName, {}, absent};
  const auto words = in_words(read_gpu_links(library));
  return words.empty() ? Fact{kName, {}, "fewer than two GPUs"} : Fact{kName, words, {}};
}

}  // namespace paceline::host
