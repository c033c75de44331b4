// SPDX-License-Identifier: MIT
#include "torch/graph_switches.h"

#include <fmt/format.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <array>
#include <functional>
#include <set>

namespace paceline::torch_plugin {
namespace {

namespace jit = torch::jit;

struct SwitchRow {
  std::string_view argument;
  bool GraphSwitches::*wanted;
  SwitchCount SwitchCounts::*count;
};
constexpr std::array<SwitchRow, 4> kSwitches{{
    {"allow_tf32", &GraphSwitches::allow_tf32, &SwitchCounts::allow_tf32},
    {"benchmark", &GraphSwitches::benchmark, &SwitchCounts::benchmark},
    {"deterministic", &GraphSwitches::deterministic, &SwitchCounts::deterministic},
    {"cudnn_enabled", &GraphSwitches::cudnn_enabled, &SwitchCounts::cudnn_enabled},
}};

// Visits every node that a module can run, each once.
class Walk {
 public:
  using Visit = std::function<void(jit::Node&)>;
  explicit Walk(Visit visit) : visit_(std::move(visit)) {}

  void module(const jit::Module& module) {
    for (const auto& part : module.modules())
      for (const auto& method : part.get_methods()) enter(method.function());
  }

 private:
  void enter(jit::Function& function) {
    function.ensure_defined();
    auto* with_graph = jit::tryToGraphFunction(function);
    if (with_graph && seen_.insert(with_graph).second) enter(*with_graph->graph()->block());
  }
  void enter(jit::Block& block) {
    for (auto* node : block.nodes()) {
      visit_(*node);
      for (auto* inner : node->blocks()) enter(*inner);
      if (node->hasAttribute(c10::attr::Subgraph)) enter(*node->g(c10::attr::Subgraph)->block());
      if (node->kind() != c10::prim::CallFunction) continue;
      if (const auto called = node->input(0)->type()->cast<c10::FunctionType>()) enter(*called->function());
    }
  }

  Visit visit_;
  std::set<jit::Function*> seen_;
};

// The position of a switch among the inputs of a call; none: its operator does not take it.
std::optional<std::size_t> position_of(const c10::FunctionSchema& schema, std::string_view name) {
  const auto at = schema.argumentIndexWithName(name);
  if (!at || schema.arguments()[static_cast<std::size_t>(*at)].type()->kind() != c10::TypeKind::BoolType)
    return std::nullopt;
  return static_cast<std::size_t>(*at);
}

// Calls use(position, row) for each switch that the node takes.
template <typename Use>
void for_each_switch(const jit::Node& node, const Use& use) {
  const auto* schema = node.kind().is_aten() ? node.maybeSchema() : nullptr;
  if (!schema) return;
  for (const auto& row : kSwitches)
    if (const auto at = position_of(*schema, row.argument); at && *at < node.inputs().size()) use(*at, row);
}

}  // namespace

SwitchCounts read_switches(const jit::Module& module) {
  SwitchCounts counts;
  Walk([&](jit::Node& node) {
    for_each_switch(node, [&](std::size_t at, const SwitchRow& row) {
      const auto value = jit::toIValue(node.input(at));
      auto& count = counts.*row.count;
      ++count.calls;
      count.on += !value || !value->isBool() || value->toBool();
    });
  }).module(module);
  return counts;
}

void set_switches(jit::Module& module, const GraphSwitches& switches) {
  Walk([&](jit::Node& node) {
    for_each_switch(node, [&](std::size_t at, const SwitchRow& row) {
      const jit::WithInsertPoint before(&node);
      node.replaceInput(
          at, node.owningGraph()->insertConstant(switches.*row.wanted));  // others share the old one
    });
  }).module(module);
}

std::string switches_text(const SwitchCounts& counts) {
  std::string text;
  for (const auto& row : kSwitches)
    if (const auto& count = counts.*row.count; count.calls > 0)
      text += fmt::format("{}{} on in {} of {} calls", text.empty() ? "" : ", ", row.argument, count.on,
                          count.calls);
  return text;
}

std::optional<bool> switch_of_call(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> inputs,
                                   std::string_view name) {
  const auto at = position_of(schema, name);
  if (!at || *at >= inputs.size() || !inputs[*at].isBool()) return std::nullopt;
  return inputs[*at].toBool();
}

}  // namespace paceline::torch_plugin
