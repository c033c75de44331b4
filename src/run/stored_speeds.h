// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "config/plan.h"
#include "run/case/case_time.h"

namespace paceline::run {

// Speeds of the same cases in runs that this host has measured before: model, engine, precision, batch and
// device are those of the case's id.
class StoredSpeeds {
 public:
  // `results`: a folder of runs, of which the newest are read; `host`: as host::host_digest. What cannot be
  // read is left out.
  StoredSpeeds(const std::filesystem::path& results, const std::string& host);
  // From the newest run that has it.
  [[nodiscard]] std::optional<StoredSpeed> of(const config::Case& c) const;

 private:
  std::map<std::string, StoredSpeed> speeds_;
};

}  // namespace paceline::run
