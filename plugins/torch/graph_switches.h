// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <string_view>

namespace torch::jit {
struct Module;
}

// torch.jit.trace writes the switches of its time as constants into every call that takes them: allow_tf32,
// benchmark and deterministic of convolutions, cudnn_enabled of convolutions and normalisations. LibTorch's
// switches do not reach such calls.
namespace paceline::torch_plugin {

struct GraphSwitches {
  bool allow_tf32 = false;
  bool benchmark = false;
  bool deterministic = false;
  bool cudnn_enabled = true;
};

// How many calls take a switch, and in how many it is on. A value that the model computes counts as on.
struct SwitchCount {
  int on = 0, calls = 0;
};
struct SwitchCounts {
  SwitchCount allow_tf32, benchmark, deterministic, cudnn_enabled;
};

// Counts the switches in all methods of all submodules and in the functions that they call.
SwitchCounts read_switches(const torch::jit::Module& module);

// Sets them there, before the module runs for the first time.
void set_switches(torch::jit::Module& module, const GraphSwitches& switches);

// "allow_tf32 on in 53 of 53 calls, …"; empty where no call takes any.
std::string switches_text(const SwitchCounts& counts);

// The value of the switch `name` in one call; none where the operator does not take it.
std::optional<bool> switch_of_call(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> inputs,
                                   std::string_view name);

}  // namespace paceline::torch_plugin
