// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/extra_names.h"
#include "config/option_places.h"
#include "config/raw_setting.h"
#include "config/settings.h"

namespace paceline::config {

// The option and value that would fix a mistake, as a plan has them (a list in brackets).
struct Addition {
  std::string_view option{}, value{};
};

// A workload while it is read: what is set, what was written, and where mistakes go. Settings may be missing
// because their own value was a mistake.
struct WorkloadDraft {
  WorkloadKind kind;
  Settings& settings;
  std::span<const RawSetting> raw;  // of several with the same name the last one counts
  Place where;
  const NameSpace& names;
  std::vector<Diagnostic>& problems;
  std::vector<std::string>& remarks;

  // The option as it was written; null: it was not.
  [[nodiscard]] const RawSetting* written(std::string_view name) const;
  // Where it was written; else where the workload begins.
  [[nodiscard]] Place place_of(std::string_view name) const;
  // Adds a mistake at the place of the option: "…; add scenario: server", or "…; add --scenario server" where
  // that is the command line.
  void report(std::string_view name, const std::string& message, const Addition& add = {});
  // The name of an option as it is written where the mistake is.
  [[nodiscard]] std::string as_written(std::string_view mistake, std::string_view name) const;
  // Whether it was typed as a flag that is no key ("--scheduler").
  [[nodiscard]] bool has_short_flag(std::string_view name) const;
  // The name of another option in the form of the mistake: a key, or a flag that is as short.
  [[nodiscard]] std::string name_beside(std::string_view mistake, std::string_view name) const;
  // Whether it has a value other than the default: a plan with every default written out stays valid.
  [[nodiscard]] bool differs(std::string_view name) const;
  [[nodiscard]] bool is(std::string_view name, std::string_view value) const;
};

}  // namespace paceline::config
