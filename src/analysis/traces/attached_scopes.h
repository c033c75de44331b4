// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attach/step_file.h"

// Roles of the scopes that a step file names.
namespace paceline::analysis::traces {

enum class ScopeRole : std::uint8_t {
  kOther,
  kLoader,
  kOptimizer,
  kForward,
  kWaits,     // FSDP waits in it for communication
  kShards,    // FSDP2 does something else
  kCompiles,  // torch.compile works
};

ScopeRole role_of_scope(std::string_view name);

// Roles and facts of all names of a file.
class ScopeRoles {
 public:
  explicit ScopeRoles(const attach::StepFile& file);
  [[nodiscard]] ScopeRole operator()(const attach::StepRecord& record) const {
    return record.name < roles_.size() ? roles_[record.name] : ScopeRole::kOther;
  }
  [[nodiscard]] bool sharded() const { return sharded_; }    // FSDP
  [[nodiscard]] bool fsdp2() const { return fsdp2_; }        // its exchanges begin in its own scopes
  [[nodiscard]] bool compiled() const { return compiled_; }  // torch.compile
  // Loaders begin with processes of their own, which takes a while.
  [[nodiscard]] bool loads_in_processes() const { return loads_in_processes_; }

 private:
  std::vector<ScopeRole> roles_;
  bool sharded_ = false, fsdp2_ = false, compiled_ = false, loads_in_processes_ = false;
};

inline bool is_kind(const attach::StepRecord& record, attach::StepKind kind) {
  return record.kind == static_cast<std::uint8_t>(kind);
}

}  // namespace paceline::analysis::traces
