// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "config/plan.h"
#include "run/case/case_time.h"

namespace paceline::run {

// Speeds of the same cases in runs that this host has measured before: every option that changes an iteration
// has the same value, and a model's file was not written since.
class StoredSpeeds {
 public:
  // `results`: a folder of runs, of which the newest are read; `host`: as host::host_digest. What cannot be
  // read is left out.
  StoredSpeeds(const std::filesystem::path& results, const std::string& host);
  // From the newest run that has it.
  [[nodiscard]] std::optional<StoredSpeed> of(const config::Case& c) const;

 private:
  struct Measured {
    StoredSpeed speed;
    nlohmann::json config;  // as CaseResult::config_effective
    std::string started_utc;
  };
  std::multimap<std::string, Measured> measured_;  // of one key the newest first
};

}  // namespace paceline::run
