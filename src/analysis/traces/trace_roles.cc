// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_roles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

struct Prefix {
  std::string_view text;
  Role role;
};
constexpr std::array<Prefix, 21> kPrefixes{{{"ProfilerStep#", Role::kStep},
                                            {"enumerate(DataLoader)", Role::kLoader},
                                            {"Optimizer.step#", Role::kOptimizer},
                                            {"## Backward ##", Role::kBackwardScope},
                                            {"autograd::engine::evaluate_function", Role::kAutograd},
                                            // In the forward pass, as the only one of DDP.
                                            {"torch.distributed.ddp.reducer::search_unused", Role::kOther},
                                            {"torch.distributed.ddp", Role::kReducer},
                                            {"torch::distributed::reducer", Role::kReducer},
                                            {"FSDP::root_post_backward_callback", Role::kReducer},
                                            {"c10d::", Role::kHandsOver},
                                            {"_c10d_functional::", Role::kHandsOver},
                                            {"c10d_functional::", Role::kHandsOver},
                                            {"_c10d_functional_autograd::", Role::kHandsOver},
                                            {"symm_mem::", Role::kHandsOver},
                                            {"record_param_comms", Role::kHandsOver},
                                            {"rccl:", Role::kHandsOver},
                                            {"xccl:", Role::kHandsOver},
                                            {"oneccl", Role::kHandsOver},
                                            {"torch_ccl::", Role::kHandsOver},
                                            {"hccl:", Role::kHandsOver},
                                            {"nccl:", Role::kHandsOver}}};
// The scopes of paceline's own traces: whole names, but for the number of a step.
constexpr std::string_view kOwnStep = "step ";
constexpr std::array<Prefix, 4> kOwnScopes{{{"data wait", Role::kLoader},
                                            {"forward", Role::kForwardScope},
                                            {"backward", Role::kBackwardScope},
                                            {"optimizer", Role::kOptimizer}}};
// Scopes of the host that last as long as the exchange.
constexpr std::array<std::string_view, 3> kTransports{"gloo:", "mpi:", "ucc:"};
// Names of kernels, copies and calls of a device's runtime begin so.
constexpr std::array<std::string_view, 9> kDeviceNames{"cuda",    "hip",     "nccl",    "void ",  "Memcpy ",
                                                       "Memset ", "cutlass", "triton_", "ampere_"};
// Covers CUDA, HIP and SYCL: cudaLaunchKernelExC, hipExtModuleLaunchKernel, cudaGraphLaunch,
// urEnqueueKernelLaunch.
constexpr std::array<std::string_view, 3> kLaunchWords{"LaunchKernel", "KernelLaunch", "GraphLaunch"};

bool has_any(const std::string& name, const auto& words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

Role own_role_of(const std::string& name) {
  if (name.starts_with(kOwnStep)) return Role::kStep;
  const auto scope = std::ranges::find(kOwnScopes, name, &Prefix::text);
  return scope == kOwnScopes.end() ? Role::kOther : scope->role;
}

Role role_of_name(const std::string& name) {
  for (const auto& prefix : kPrefixes)
    if (name.starts_with(prefix.text)) return prefix.role;
  const auto begins = [&](std::string_view text) { return name.starts_with(text); };
  if (std::ranges::any_of(kTransports, begins)) return Role::kCommunication;
  return has_any(name, kLaunchWords) ? Role::kLaunch : Role::kOther;
}

bool is_scope(Role role) {
  return role == Role::kLoader || role == Role::kOptimizer || role == Role::kForwardScope ||
         role == Role::kBackwardScope;
}

// "aten::mm": an operator; the names of kernels have arguments and blanks.
bool is_in_namespace(const std::string& name) {
  return name.find("::") != std::string::npos && name.find_first_of(" <>()[]") == std::string::npos;
}

}  // namespace

std::optional<EventKind> kind_of_name(const std::string& name) {
  const auto begins = [&](std::string_view text) { return name.starts_with(text); };
  const Role role = role_of_name(name);
  if (role == Role::kLaunch || std::ranges::any_of(kDeviceNames, begins)) return EventKind::kKernel;
  if (role == Role::kStep || is_scope(role) || role == Role::kCommunication) return EventKind::kAnnotation;
  if (role != Role::kOther || is_in_namespace(name)) return EventKind::kOperator;
  return std::nullopt;
}

std::vector<Role> roles_of(const std::vector<std::string>& names) {
  std::vector<Role> roles;
  std::ranges::transform(names, std::back_inserter(roles), role_of_name);
  if (std::ranges::find(roles, Role::kStep) != roles.end()) return roles;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (const Role own = own_role_of(names[i]); own != Role::kOther) roles[i] = own;
  return roles;
}

Role role_of(const TraceEvent& event, const std::vector<Role>& roles) {
  const Role role = roles[event.name];
  if (is_scope(role) && event.kind != EventKind::kAnnotation) return Role::kOther;
  return role == Role::kLaunch && event.kind != EventKind::kLaunch ? Role::kOther : role;
}

std::optional<std::int64_t> step_number(const std::string& name) {
  const auto at = name.find_last_of("# ");
  if (at == std::string::npos) return std::nullopt;
  return parse_int(std::string_view(name).substr(at + 1));
}

}  // namespace paceline::analysis::traces
