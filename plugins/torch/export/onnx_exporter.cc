// SPDX-License-Identifier: MIT
// Exports a built-in model as an ONNX file.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "base/pretrained_model.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "torch/errors.h"
#include "torch/export/exporters.h"
#include "torch/export/onnx_graph.h"
#include "torch/export/onnx_rules.h"
#include "torch/models/model.h"
#include "torch/models/table.h"
#include "torch/tensors.h"
#include "torch/trace.h"

namespace paceline::torch_plugin {
namespace {

namespace jit = torch::jit;
namespace proto = onnx::proto;

constexpr std::int64_t kIrVersion = 8;  // the IR version of opset 17, which every engine reads since then
constexpr std::int64_t kLowestOpset = 13, kHighestOpset = 21;

// Nodes without arithmetic, which only carry structure.
bool is_structure(const jit::Node* node) {
  static const std::set<c10::Symbol> kinds{c10::prim::Constant, c10::prim::ListConstruct,
                                           c10::prim::ListUnpack};
  return kinds.contains(node->kind());
}

// "encoder.layers.0.ln.weight" for a value read through a chain of attributes.
void name_attribute(OnnxGraph& onnx, std::map<const jit::Value*, std::string>& modules,
                    const jit::Node* node) {
  const auto owner = modules.find(node->input(0));
  const std::string path = (owner == modules.end() ? "" : owner->second + ".") + node->s(c10::attr::name);
  modules[node->output()] = path;
  if (node->output()->type()->isSubtypeOf(*c10::TensorType::get()))
    onnx.set_attribute_path(node->output(), path);
}

// An in-place operator equals its pure form only if the old value is not read afterwards.
void check_mutation(OnnxGraph& onnx, const jit::Node* node) {
  if (!std::string_view(node->kind().toUnqualString()).ends_with('_')) return;
  for (const auto& use : node->input(0)->uses())
    if (use.user != node && use.user->isAfter(node))
      onnx.unsupported("its input is changed in place and read again");
}

void translate(OnnxGraph& onnx, const jit::Graph& graph) {
  std::map<const jit::Value*, std::string> modules;
  for (const auto* node : graph.nodes()) {
    if (node->kind() == c10::prim::GetAttr) {
      name_attribute(onnx, modules, node);
    } else if (!is_structure(node)) {
      onnx.begin(node);
      const auto rule = find_rule(node->kind().toQualString());
      if (!rule) onnx.unsupported("Paceline cannot write it as ONNX");
      check_mutation(onnx, node);
      rule(onnx, node);
    }
  }
}

TensorSpec output_spec(const jit::Value* value) {
  const auto type = value->type()->expect<c10::TensorType>()->scalarType().value();
  return {"output", from_torch(type), OnnxGraph::shape(value)};
}

TensorSpec with_batch(TensorSpec spec, bool dynamic) {
  if (dynamic) spec.shape.at(0) = -1;
  return spec;
}

proto::ModelProto to_onnx(const jit::Module& module, const plugin::ModelSpec& spec,
                          const plugin::ExportSettings& settings) {
  proto::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("paceline");
  auto& set = *model.add_opset_import();
  set.set_version(settings.opset);
  auto& graph = *model.mutable_graph();
  graph.set_name(folder_name(spec.name));
  const auto source = module.get_method("forward").graph();
  OnnxGraph onnx(graph, module, settings.opset);
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    onnx.set_name(source->inputs().at(i + 1), spec.inputs[i].name);  // input 0 is the module itself
    *graph.add_input() = onnx::make_value_info(with_batch(spec.inputs[i], settings.dynamic_batch));
  }
  const auto* result = source->outputs().at(0);
  onnx.set_name(result, "output");
  *graph.add_output() = onnx::make_value_info(with_batch(output_spec(result), settings.dynamic_batch));
  translate(onnx, *source);
  return model;
}

void check_opset(std::int64_t opset) {
  if (opset < kLowestOpset || opset > kHighestOpset)
    throw Error(ErrorCode::kUsage, fmt::format("opset {} cannot be written; from {} to {} can", opset,
                                               kLowestOpset, kHighestOpset));
}

jit::Module traced(const plugin::ModelSpec& spec) {
  const auto model = make_model(spec, at::get_num_threads());
  std::vector<at::Tensor> examples;
  for (const auto& input : spec.inputs) examples.push_back(example_input(input, {}));
  const at::NoGradGuard no_grad;
  return trace_model(*model, spec.name, examples);
}

class OnnxExporter : public plugin::Exporter {
 public:
  void write(const plugin::ModelSpec& spec, const plugin::ExportSettings& settings,
             const std::string& file) override {
    check_opset(settings.opset);
    translate_errors(ErrorCode::kData, fmt::format("cannot export model '{}'", spec.name), [&] {
      auto model = to_onnx(traced(spec), spec, settings);
      onnx::write_model(model, file, {settings.external_data_above_bytes});
    });
  }
};

}  // namespace

std::unique_ptr<plugin::Exporter> make_onnx_exporter() {
  return std::make_unique<OnnxExporter>();
}

}  // namespace paceline::torch_plugin
