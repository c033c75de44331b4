// SPDX-License-Identifier: MIT
// Resolves the keys of a plan to option rows, with hints for unknown ones.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "config/option_table.h"
#include "config/raw_setting.h"
#include "config/yaml_tree.h"

namespace paceline::config {

// A plan as written: every key resolved to its row, no value converted yet.
struct RawWorkload {
  std::optional<WorkloadKind> kind;  // missing if unknown, which is one of the problems
  Place place;
  std::vector<RawSetting> settings;
  std::vector<std::string> remarks;  // lines about keys that set nothing
};

struct RawPlan {
  std::vector<RawSetting> settings;  // plan level
  std::vector<std::string> remarks;
  std::vector<RawWorkload> workloads;
};

// Names of options, and first keys of remarks, that the command line sets: what a plan says of them does not
// count, right or wrong.
using Overridden = std::set<std::string, std::less<>>;

// Adds every unknown, misplaced, duplicate or malformed key to `problems`.
RawPlan read_plan(const YamlNode& root, std::vector<Diagnostic>& problems, const Overridden& overridden = {});

// Row of a raw setting; "env.NAME" finds the row of env.
const Option* row_of(std::string_view name, unsigned kinds);

// The keys of a section ("stop": n_min, n_max, …); empty when it is not a section.
std::vector<std::string> section_keys(std::string_view section, unsigned kinds);

// The shorthand of a key and value ("channels_last", "true"); nullptr when there is none.
const Shorthand* find_shorthand(std::string_view key, std::string_view when);
bool is_shorthand(std::string_view key, unsigned kinds);

// "; did you mean 'batch_sizes'? (a list: [1, 8])", or where the key belongs; empty when nothing is near.
std::string key_hint(std::string_view key, unsigned kinds);

}  // namespace paceline::config
