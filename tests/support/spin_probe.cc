// SPDX-License-Identifier: MIT
#include "spin_probe.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"

namespace paceline::test {
namespace {

// Reads SPIN_PEAKS_SLOW for this device. With SPIN_PEAKS_ONCE=FILE, in which it counts, only the first two
// times.
double slowness_of(const std::string& device) {
  const char* slow = std::getenv("SPIN_PEAKS_SLOW");
  const std::string script = slow ? slow : "";
  if (!script.starts_with(device + "=")) return 1;
  if (const char* once = std::getenv("SPIN_PEAKS_ONCE")) {
    int passes = 0;
    std::ifstream(once) >> passes;
    std::ofstream(once) << passes + 1;
    if (passes >= 2) return 1;  // the rounds of the first measurement
  }
  return std::stod(script.substr(device.size() + 1));
}

class SpinProbe : public plugin::DeviceProbe {
 public:
  std::vector<plugin::ProbedOperation> measure(const std::string& device) override {
    const char* script = std::getenv(("SPIN_PEAKS_" + device.substr(device.find(':') + 1)).c_str());
    if (!script) script = std::getenv("SPIN_PEAKS");
    if (script && std::string(script) == "lost") throw Error(ErrorCode::kUnavailable, device + " is lost");
    const double times = slowness_of(device);
    std::istringstream parts(script ? script : "");
    std::vector<plugin::ProbedOperation> found;
    for (std::string part; std::getline(parts, part, ',');) {
      std::istringstream words(part);
      plugin::ProbedOperation one;
      std::string figure;
      std::getline(words, one.operation, ':'), std::getline(words, one.variant, ':'),
          std::getline(words, figure);
      char* end = nullptr;
      const double per_s = std::strtod(figure.c_str(), &end);
      if (end == figure.c_str()) {
        one.detail = figure;
        found.push_back(one);
        continue;
      }
      one.amount = per_s * 1e-3;  // a millisecond of it
      one.detail = "small", one.times_ns.assign(10, times * 2e6);
      found.push_back(one);
      one.detail = "large";
      for (int i = 0; i < 10; ++i)
        one.times_ns[static_cast<std::size_t>(i)] = times * (1e6 + (i - 5) * 100 + 50);
      found.push_back(one);
    }
    return found;
  }
};

}  // namespace

std::unique_ptr<plugin::DeviceProbe> make_spin_probe() {
  return std::make_unique<SpinProbe>();
}

}  // namespace paceline::test
