// SPDX-License-Identifier: MIT
// Metrics of a GPU, as a table of the calls that read them.
#pragma once
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/nvml_library.h"
#include "nvml/own_processes.h"

namespace paceline::nvml_plugin {

// A GPU, and what is kept between two readings of it.
struct Source {
  const nvml::Library& library;
  nvml::Device device = nullptr;
  OwnProcesses& own;
  int code = nvml::kSuccess;  // of the last call
  std::string why{};          // in words, when it failed
  std::optional<nvml::Wide> energy_mj{};
  nvml::Wide energy_wrapped_mj = 0;

  bool succeeds(const char* name, int result);
  bool refuses(int reason_code, std::string words);  // false, with this reason
};

using Values = std::vector<std::variant<double, std::string>>;
struct Metric {
  std::string_view name, unit;
  double most = std::numeric_limits<double>::infinity();  // larger numbers are invalid
};

// At every reading; once per second, what changes slowly or costs much; at the ends of the window and every
// ten seconds, what takes milliseconds.
enum class Period { kEveryReading, kOneSecond, kTenSeconds };

// One call, which tells a metric or two.
struct Probe {
  Metric first, second{};
  bool (*read)(Source&, Values&) = nullptr;  // false: Source has the reason
  Period period = Period::kEveryReading;
  bool pcie = false;  // on request alone
};
std::span<const Probe> all_probes();

}  // namespace paceline::nvml_plugin
