// SPDX-License-Identifier: MIT
#include "analysis/traces/attached_scopes.h"

#include <algorithm>
#include <array>

namespace paceline::analysis::traces {
namespace {

struct ScopePrefix {
  std::string_view text;
  ScopeRole role;
};
constexpr std::array kScopePrefixes{
    ScopePrefix{"enumerate(DataLoader)", ScopeRole::kLoader},
    ScopePrefix{"Optimizer.step#", ScopeRole::kOptimizer},
    ScopePrefix{"DistributedDataParallel.forward", ScopeRole::kForward},
    ScopePrefix{"FullyShardedDataParallel.forward", ScopeRole::kForward},
    ScopePrefix{"FSDP::root_pre_forward", ScopeRole::kForward},
    ScopePrefix{"FSDP::all_gather", ScopeRole::kWaits},  // gloo waits in it, others in …_copy_out
    ScopePrefix{"FSDP::post_backward_reduce", ScopeRole::kWaits},
    ScopePrefix{"FSDP::post_backward_rs_wait", ScopeRole::kWaits},
    ScopePrefix{"FSDP::root_post_backward_callback", ScopeRole::kWaits},
    ScopePrefix{"FSDP::", ScopeRole::kShards}};
constexpr std::string_view kCompilerEnd = "(dynamo_timed)";
constexpr std::array<std::string_view, 3> kCompiledWords{"Torch-Compiled Region", "CompiledFunction",
                                                         "CompiledFxGraph"};

}  // namespace

ScopeRole role_of_scope(std::string_view name) {
  for (const auto& prefix : kScopePrefixes)
    if (name.starts_with(prefix.text)) return prefix.role;
  return name.ends_with(kCompilerEnd) ? ScopeRole::kCompiles : ScopeRole::kOther;
}

ScopeRoles::ScopeRoles(const attach::StepFile& file) {
  for (const auto& name : file.names) {
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    roles_.push_back(role_of_scope(name));
    sharded_ |= name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel.");
    fsdp2_ |= name.starts_with("FSDP::");
    compiled_ |= roles_.back() == ScopeRole::kCompiles || std::ranges::any_of(kCompiledWords, has);
    loads_in_processes_ |= roles_.back() == ScopeRole::kLoader && has("MultiProcessing");
  }
}

}  // namespace paceline::analysis::traces
