// SPDX-License-Identifier: MIT
// Facts and load figures of a machine, which can be saved and compared with another's.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "host/checks/fact_rules.h"
#include "host/system_files.h"

namespace paceline::host {

// Result of a load test: a figure of one device or core set.
struct LoadFigure {
  std::string where;  // the device or core set: cuda:0, "CPUs 0-3"
  std::string what;   // "product bf16", "copy"
  std::string unit;   // FLOP/s | B/s
  double median = 0, low = 0, high = 0;
  std::int64_t n = 0;
  [[nodiscard]] std::string name() const { return where + ": " + what; }
};

struct Machine {
  std::string paceline;   // version
  std::string host;       // its name
  std::string taken_utc;  // when it was looked at
  std::vector<Fact> facts;
  std::vector<LoadFigure> load;  // empty: no load test ran
  bool load_disturbed = false;   // neighbours used the CPUs meanwhile
};

// Null where the machine has no such fact.
const Fact* find_fact(const Machine& machine, std::string_view name);

// Facts of the hardware, the system and its limits. `environment` is that of capture_environment.
std::vector<Fact> facts_of(const nlohmann::json& environment, const SystemFiles& files = SystemFiles());

// The limits of this process: open files, locked memory, processes.
std::vector<Fact> limit_facts(const SystemFiles& files);

nlohmann::json to_json(const Machine& machine);
// Throws Error(kData) that names `origin` for what is no machine, or of a newer version.
Machine machine_from_json(const nlohmann::json& json, const std::string& origin);
// Throws likewise, and Error(kIo).
Machine read_machine(const std::filesystem::path& file);

}  // namespace paceline::host
