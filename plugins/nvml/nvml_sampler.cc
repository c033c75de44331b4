// SPDX-License-Identifier: MIT
#include "nvml/nvml_sampler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/device.h"
#include "base/error.h"

namespace paceline::nvml_plugin {
namespace {

using nvml::Device;
using Code = int;

constexpr std::chrono::milliseconds kSlowPeriod{1000};

// The GPUs of this host as CUDA counts them in a process with these variables.
class VisibleDevices {
 public:
  VisibleDevices(const nvml::Library& library, const nvml::Variable& variable) : library_(library) {
    unsigned count = 0;
    if (!library.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count).empty()) count = 0;
    handles_.resize(count);
    std::vector<nvml::GpuName> names(count);
    std::string unknown;
    for (unsigned i = 0; i < count; ++i) {
      if (!library.call<Code(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", i, &handles_[i]).empty())
        continue;
      names[i] = {library.text("nvmlDeviceGetName", unknown, handles_[i]),
                  library.text("nvmlDeviceGetUUID", unknown, handles_[i])};
    }
    visible_ = nvml::visible_gpus(names, variable);
  }

  [[nodiscard]] int count() const { return static_cast<int>(visible_.size()); }
  // Null, with the reason, where it is not known. Of a part of a GPU the whole one: clocks and power are its.
  [[nodiscard]] Device at(int index, std::string& reason) const {
    reason = "NVIDIA's management library does not know which GPU it is";
    if (index < 0 || index >= std::ssize(visible_)) return nullptr;
    const auto& one = visible_[static_cast<std::size_t>(index)];
    Device device = one.place ? handles_[*one.place] : nullptr;
    if (!one.mig.empty()) device = whole_of(one.mig, reason);
    return device;
  }

 private:
  [[nodiscard]] Device whole_of(const std::string& mig, std::string& reason) const {
    Device part = nullptr, whole = nullptr;
    reason = library_.call<Code(const char*, Device*)>("nvmlDeviceGetHandleByUUID", mig.c_str(), &part);
    if (reason.empty())
      reason =
          library_.call<Code(Device, Device*)>("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", part, &whole);
    return whole;
  }

  const nvml::Library& library_;
  std::vector<Device> handles_;  // by PCI address
  std::vector<nvml::VisibleGpu> visible_;
};

// Environment of a process that sees all GPUs, in the driver's order.
std::optional<std::string> driver_order(const std::string& name) {
  return name == "CUDA_DEVICE_ORDER" ? std::optional<std::string>("PCI_BUS_ID") : std::nullopt;
}

}  // namespace

std::chrono::nanoseconds NvmlSampler::open(const plugin::SamplerSettings& settings) {
  library_.emplace();
  if (!library_->reason().empty()) throw Error(ErrorCode::kUnavailable, library_->reason());
  // The monitor asks for it, whatever its own process may compute on.
  waits_ = settings.options.contains("driver_order");
  const VisibleDevices visible(*library_, waits_ ? nvml::Variable(driver_order) : nvml::own_variable);
  std::string reason = "the case runs on no NVIDIA GPU";
  for (const auto& name : settings.devices) {
    const auto device = device_named(name);
    const bool shared = device.index >= visible.count() && !devices_.empty();  // more ranks than GPUs
    if (device.kind != DeviceKind::kCuda || shared) continue;
    if (auto* const found = visible.at(device.index, reason))
      devices_.emplace_back(Source{*library_, found, own_}, name, settings.options.at("pcie") == "true");
    else
      refused_.push_back({name, kLeftOut, "", "everything: " + reason});
  }
  if (devices_.empty()) throw Error(ErrorCode::kUnavailable, reason);
  warm_up();
  const std::chrono::milliseconds period(std::stoi(settings.options.at("period_ms")));
  slow_every_ = static_cast<int>(std::max<std::int64_t>(1, kSlowPeriod / period));
  return period;
}

// The first call of a function may take a tenth of a second in the driver, in which the GPU would idle inside
// the window.
void NvmlSampler::warm_up() {
  std::vector<plugin::Reading> readings;
  for (auto& device : devices_) {
    device.read(Period::kTenSeconds, readings);
    device.report_again();
  }
  refuse_if_all_are_lost();
}

void NvmlSampler::refuse_if_all_are_lost() const {
  if (!waits_ && std::ranges::none_of(devices_, [](const auto& one) { return one.loss().empty(); }))
    throw Error(ErrorCode::kUnavailable, devices_.front().loss());
}

std::vector<plugin::Reading> NvmlSampler::read(plugin::Moment moment) {
  constexpr int kRareEvery = 10;  // slow readings
  auto readings = std::exchange(refused_, {});
  const int number = readings_++;
  const bool rare = moment == plugin::Moment::kEdge || number % (kRareEvery * slow_every_) == 0;
  const auto period = rare                        ? Period::kTenSeconds
                      : number % slow_every_ == 0 ? Period::kOneSecond
                                                  : Period::kEveryReading;
  for (auto& device : devices_) device.read(period, readings);
  refuse_if_all_are_lost();
  return readings;
}

}  // namespace paceline::nvml_plugin
