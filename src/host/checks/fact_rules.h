// SPDX-License-Identifier: MIT
// The table of facts that machines are compared by: where each is read, what a difference means, and its fix.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "host/checks/checks.h"

namespace paceline::host {

struct Fact {
  std::string name;      // a row of the table of rules: "CPU quota"
  nlohmann::json value;  // text, number or true/false; null: not known
  std::string reason;    // why it is not known; "no limit" of limits
};

enum class FactUnit { kNone, kBytes, kCpus, kWatts, kMegahertz };

struct FactRule {
  std::string_view name;     // of the fact; where it ends with a blank, how the name begins
  std::string_view pointer;  // in the environment, or in a GPU of it; empty: read elsewhere
  FactUnit unit = FactUnit::kNone;
  Verdict differs = Verdict::kReservedly;
  bool limit = false;  // only a lower one is worse
  std::string_view fix{};
};

std::span<const FactRule> fact_rules();
std::span<const FactRule> gpu_fact_rules();  // of each GPU; names follow "GPU 0 "

// Every fact has one: the last row is for what newer versions report.
const FactRule& rule_of(std::string_view fact);

inline constexpr const char* kNoLimit = "no limit";

// "0.50 CPUs", "no limit", "not known (…)"
std::string shown_value(const Fact& fact);

// Stands for a fact that a machine lacks: libraries, plug-ins and variables are absent; others are unknown,
// as another version of Paceline looked.
std::optional<Fact> absent_fact(const std::string& name);

// Judges that one machine has `found` and another `expected`; empty if they are equal.
std::optional<Verdict> judge(const Fact& found, const Fact& expected);

}  // namespace paceline::host
