// SPDX-License-Identifier: MIT
#include "spin_probe.h"

#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"

namespace paceline::test {
namespace {

class SpinProbe : public plugin::DeviceProbe {
 public:
  std::vector<plugin::ProbedOperation> measure(const std::string& device) override {
    const char* script = std::getenv(("SPIN_PEAKS_" + device.substr(device.find(':') + 1)).c_str());
    if (!script) script = std::getenv("SPIN_PEAKS");
    if (script && std::string(script) == "lost") throw Error(ErrorCode::kUnavailable, device + " is lost");
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
      one.detail = "small", one.times_ns.assign(10, 2e6);
      found.push_back(one);
      one.detail = "large";
      for (int i = 0; i < 10; ++i) one.times_ns[static_cast<std::size_t>(i)] = 1e6 + (i - 5) * 100 + 50;
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
