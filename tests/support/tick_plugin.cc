// SPDX-License-Identifier: MIT
// A plug-in for tests only, with one sampler. It counts how often it is read, beside whatever is timed.
//   tick   metrics ticks (a number) and parity (words) of each device; option tick.every_ms: the period.
//          TICK_FAULT = open: nothing ticks here; read: it throws at the third reading; alien: it throws what
//          is no exception; TICK_ABI: the ABI version that the plug-in tells of
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "plugin/plugin.h"

namespace paceline::plugin {
namespace {

bool fails_at(const std::string& moment) {
  const char* fault = std::getenv("TICK_FAULT");
  return fault && moment == fault;
}

class TickSampler : public Sampler {
 public:
  std::chrono::nanoseconds open(const SamplerSettings& settings) override {
    if (fails_at("open")) throw Error(ErrorCode::kUnavailable, "there is nothing that ticks here");
    if (fails_at("alien")) throw 1;
    devices_ = settings.devices;
    return std::chrono::milliseconds(std::stoi(settings.options.at("every_ms")));
  }
  std::vector<Reading> read(Moment) override {
    if (++ticks_ == 3 && fails_at("read")) throw Error(ErrorCode::kInternal, "the clock has stopped");
    std::vector<Reading> readings;
    for (const auto& device : devices_) {
      readings.push_back({device, "ticks", "1", static_cast<double>(ticks_)});
      readings.push_back({device, "parity", "", std::string(ticks_ % 2 == 0 ? "even" : "odd")});
    }
    return readings;
  }

 private:
  std::vector<std::string> devices_;
  int ticks_ = 0;
};

std::vector<std::pair<std::string, std::string>> versions() {
  return {{"tick", "1"}};
}

std::uint32_t abi_version() {
  const char* other = std::getenv("TICK_ABI");
  return other ? static_cast<std::uint32_t>(std::stoul(other)) : kAbiVersion;
}

constexpr char kOptions[] = R"json([
  {"name": "tick.every_ms", "type": "integer", "min": 1, "max": 1000, "default": 5, "unit": "ms",
   "help": "Tick: time between two ticks."}
])json";
constexpr SamplerEntry kSamplers[] = {{"tick", [] { return std::unique_ptr<Sampler>(new TickSampler); }}};
const Plugin kPlugin{.abi_version = abi_version(),
                     .name = "tick",
                     .versions = versions,
                     .engines = {},
                     .samplers = kSamplers,
                     .options = kOptions};

}  // namespace
}  // namespace paceline::plugin

PACELINE_PLUGIN(paceline::plugin::kPlugin)
