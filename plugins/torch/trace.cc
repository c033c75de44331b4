// SPDX-License-Identifier: MIT
#include "torch/trace.h"

#include <torch/csrc/jit/frontend/tracer.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/lower_case.h"
#include "base/pretrained_model.h"
#include "torch/models/model.h"

namespace paceline::torch_plugin {
namespace jit = torch::jit;
namespace {

// The module tree as a TorchScript module with the same tensors, so that the tracer records attributes.
jit::Module mirror(const torch::nn::Module& module, const std::shared_ptr<jit::CompilationUnit>& unit,
                   const std::string& name) {
  jit::Module result(c10::QualifiedName(name), unit, /*shouldMangle=*/true);
  for (const auto& item : module.named_parameters(/*recurse=*/false))
    result.register_parameter(item.key(), item.value(), /*is_buffer=*/false);
  for (const auto& item : module.named_buffers(/*recurse=*/false))
    result.register_buffer(item.key(), item.value());
  for (const auto& item : module.named_children())
    result.register_module(item.key(), mirror(*item.value(), unit, name + "_" + item.key()));
  result.register_attribute("training", c10::BoolType::get(), false);
  return result;
}

// Converts a name to what TorchScript allows for types: letters, digits and '_'.
std::string type_word(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_letter_or_digit(c); }, '_');
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

}  // namespace

jit::Module trace_model(Model& model, const std::string& name, std::span<const at::Tensor> examples) {
  const auto type_name = "__torch__.paceline." + type_word(folder_name(name));
  auto module = mirror(model, std::make_shared<jit::CompilationUnit>(), type_name);
  const auto run = [&](const jit::Stack& stack) -> jit::Stack {
    std::vector<at::Tensor> inputs;
    for (const auto& value : stack) inputs.push_back(value.toTensor());
    return {model.run(inputs)};
  };
  const auto no_names = [](const at::Tensor&) { return std::string(); };
  const auto traced =
      jit::tracer::trace(jit::Stack(examples.begin(), examples.end()), run, no_names, /*strict=*/true,
                         /*force_outplace=*/false, &module);
  auto* function = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module.type()->name(), "forward"), traced.first->graph);
  module.type()->addMethod(function);
  module.eval();
  return module;
}

}  // namespace paceline::torch_plugin
