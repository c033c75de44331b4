// SPDX-License-Identifier: MIT
#pragma once
#include <limits>
#include <string>
#include <vector>

namespace paceline {

enum class DeclaredType { kText, kInteger, kNumber, kBoolean, kChoice, kBytes };

// An option that a plug-in declares: a row of the option table, for workloads of kind inference, or of any
// kind where it is a sampler's.
struct DeclaredOption {
  std::string name;  // its key in a plan: "spin.pace"
  // The only engine or sampler it is for, with which the name begins; neither: for the device with which it
  // begins.
  std::string engine{}, sampler{};
  DeclaredType type = DeclaredType::kText;
  std::vector<std::string> choices{};                     // of kChoice
  double min = -std::numeric_limits<double>::infinity();  // of numbers and sizes
  double max = std::numeric_limits<double>::infinity();
  std::string fallback{};  // as written in a plan; empty: unset
  std::string unit{}, help{};
  bool identity = true;  // whether cases with different values measure different things

  // "spin" of "spin.pace": the key under which a plan has it.
  [[nodiscard]] std::string section() const { return name.substr(0, name.find('.')); }
};

}  // namespace paceline
