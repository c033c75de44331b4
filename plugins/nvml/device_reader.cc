// SPDX-License-Identifier: MIT
#include "nvml/device_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace paceline::nvml_plugin {
namespace {

// Timeout, in use, no data, not ready, unknown error: the next reading may have a value.
constexpr std::array kPassing{10, 19, 21, 27, 999};

bool may_come_back(int code) {
  return std::ranges::find(kPassing, code) != kPassing.end();
}

}  // namespace

DeviceReader::DeviceReader(Source source, std::string name, bool pcie)
    : source_(std::move(source)), name_(std::move(name)) {
  for (const auto& probe : all_probes())
    if (pcie || !probe.pcie) probes_.push_back(&probe);
}

void DeviceReader::read(Often often, std::vector<plugin::Reading>& into) {
  const auto known = left_out_.size();
  for (auto& probe : probes_) {
    if (probe->often > often) continue;
    values_.clear();
    if (probe->read(source_, values_)) {
      into.push_back({name_, std::string(probe->first.name), std::string(probe->first.unit), values_[0]});
      if (values_.size() > 1)
        into.push_back({name_, std::string(probe->second.name), std::string(probe->second.unit), values_[1]});
    } else {
      leave_out(*probe);
      if (!may_come_back(source_.code)) probe = nullptr;
    }
  }
  std::erase(probes_, nullptr);
  if (left_out_.size() > known) into.push_back({name_, kLeftOut, "", join(left_out_, "; ")});
}

void DeviceReader::leave_out(const Probe& probe) {
  if (source_.code == nvml::kGpuIsLost || source_.code == nvml::kResetRequired)
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("{} does not answer any more ({}); see dmesg for its Xid, and reset it or the host",
                    name_, source_.why));
  auto text = fmt::format("{}{}{}: {}", probe.first.name, probe.second.name.empty() ? "" : ", ",
                          probe.second.name, source_.why);
  if (std::ranges::find(left_out_, text) == left_out_.end()) left_out_.push_back(std::move(text));
}

}  // namespace paceline::nvml_plugin
