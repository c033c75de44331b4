// SPDX-License-Identifier: MIT
#include "nvml/device_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.h"

namespace paceline::nvml_plugin {
namespace {

// Timeout, in use, no data, not ready, unknown error: the next reading may have a value.
constexpr std::array kPassing{10, 19, 21, 27, 999};

bool may_come_back(int code) {
  return std::ranges::find(kPassing, code) != kPassing.end();
}

std::string names_of(const Probe& probe) {
  return probe.second.name.empty() ? std::string(probe.first.name)
                                   : fmt::format("{}, {}", probe.first.name, probe.second.name);
}

// Words have no unit.
plugin::Reading none_of(const std::string& device, const Metric& metric) {
  plugin::Reading reading{device, std::string(metric.name), std::string(metric.unit), std::string()};
  if (!metric.unit.empty()) reading.value = std::numeric_limits<double>::quiet_NaN();
  return reading;
}

}  // namespace

DeviceReader::DeviceReader(Source source, std::string name, bool pcie)
    : source_(std::move(source)), name_(std::move(name)) {
  for (const auto& probe : all_probes())
    if (pcie || !probe.pcie) asked_.push_back({&probe});
}

void DeviceReader::read(Period period, std::vector<plugin::Reading>& into) {
  const auto before = static_cast<std::ptrdiff_t>(into.size());
  lost_.clear();
  for (auto& one : asked_) {
    if (!one.ended && one.probe->period <= period) ask(one, into);
    if (lost_.empty()) continue;
    into.erase(into.begin() + before, into.end());
    break;
  }
  tell(into);
}

void DeviceReader::ask(Asked& one, std::vector<plugin::Reading>& into) {
  values_.clear();
  const auto& [first, second, read, period, pcie] = *one.probe;
  one.why = read(source_, values_) ? too_much(*one.probe) : source_.why;
  if (one.why.empty()) {
    into.push_back({name_, std::string(first.name), std::string(first.unit), values_[0]});
    if (values_.size() > 1)
      into.push_back({name_, std::string(second.name), std::string(second.unit), values_[1]});
    return;
  }
  if (nvml::is_loss(source_.code)) {
    lost_ = std::exchange(one.why, {});
    return;
  }
  one.ended = source_.code != nvml::kSuccess && !may_come_back(source_.code);
  into.push_back(none_of(name_, first));
  if (!second.name.empty()) into.push_back(none_of(name_, second));
}

// Empty: the numbers can be those of a GPU.
std::string DeviceReader::too_much(const Probe& probe) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto& metric = i == 0 ? probe.first : probe.second;
    const auto* number = std::get_if<double>(&values_[i]);
    if (number && *number > metric.most)
      return fmt::format("the driver gives {:.6g} {}, which no GPU has", *number, metric.unit);
  }
  return {};
}

void DeviceReader::tell(std::vector<plugin::Reading>& into) {
  bool may_pass = !lost_.empty();
  std::vector<std::string> texts;
  for (const auto& one : asked_) {
    if (one.why.empty()) continue;
    texts.push_back(fmt::format("{}: {}", names_of(*one.probe), one.why));
    may_pass = may_pass || !one.ended;
  }
  auto text = lost_.empty() ? join(texts, "; ") : "everything: " + loss();
  if (text != reported_ || may_pass) into.push_back({name_, kLeftOut, "", text});
  reported_ = std::move(text);
}

std::string DeviceReader::loss() const {
  return lost_.empty() ? ""
                       : fmt::format(
                             "{} does not answer any more ({}); see dmesg for its Xid, and reset it or "
                             "the host",
                             name_, lost_);
}

}  // namespace paceline::nvml_plugin
