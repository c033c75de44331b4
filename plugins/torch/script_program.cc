// SPDX-License-Identifier: MIT
#include "torch/script_program.h"

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "torch/checkpoint_file.h"
#include "torch/errors.h"
#include "torch/models/model.h"
#include "torch/script_hints.h"
#include "torch/trace.h"

namespace paceline::torch_plugin {
namespace {

namespace jit = torch::jit;

void append_outputs(const c10::IValue& value, std::vector<at::Tensor>& outputs) {
  if (value.isTensor())
    outputs.push_back(value.toTensor());
  else if (value.isTuple())
    for (const auto& element : value.toTupleRef().elements()) append_outputs(element, outputs);
  else if (value.isList())
    for (const auto& element : value.toListRef()) append_outputs(element, outputs);
  else if (value.isGenericDict())
    for (const auto& item : value.toGenericDict()) append_outputs(item.value(), outputs);
}

// Names of the same tensors in the same order: keys of dictionaries ("boxes"), after their place in a list of
// several ("1.boxes"); "": no dictionary names it.
void append_names(const c10::IValue& value, const std::string& name, std::vector<std::string>& names) {
  const auto several = [&](const auto& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      append_names(elements[i], elements.size() == 1 ? name : fmt::format("{}{}.", name, i), names);
  };
  if (value.isTensor())
    names.push_back(name.ends_with('.') ? std::string() : name);
  else if (value.isTuple())
    for (const auto& element : value.toTupleRef().elements()) append_names(element, name, names);
  else if (value.isList())
    several(value.toListRef());
  else if (value.isGenericDict())
    for (const auto& item : value.toGenericDict())
      append_names(item.value(), item.key().isString() ? name + item.key().toStringRef() : name, names);
}

// A name stands for one output: those that repeat get their place in front ("1.boxes").
void make_distinct(std::vector<std::string>& names) {
  const auto all = names;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!all[i].empty() && std::ranges::count(all, all[i]) > 1) names[i] = fmt::format("{}.{}", i, all[i]);
}

// How many weights optimize_for_inference has given to oneDNN; 0 means that it found nothing to do.
std::int64_t prepacked_weights(const jit::Block* block) {
  std::int64_t count = 0;
  for (const auto* node : block->nodes()) {
    count += node->kind() == c10::prim::ConstantMKLDNNTensor;
    for (const auto* inner : node->blocks()) count += prepacked_weights(inner);
  }
  return count;
}

// A tensor of one element as a number, where the model takes a number, and as a list where it takes a list.
c10::IValue as_argument(const at::Tensor& input, c10::TypeKind wanted) {
  switch (wanted) {
    case c10::TypeKind::IntType:
      return input.item<std::int64_t>();
    case c10::TypeKind::FloatType:
      return input.item<double>();
    case c10::TypeKind::BoolType:
      return input.item<bool>();
    case c10::TypeKind::ListType: {  // of images: those of dimension 0
      c10::List<at::Tensor> elements;
      for (auto& element : input.unbind(0)) elements.push_back(std::move(element));
      return elements;
    }
    default:
      return input;
  }
}

// Numbers of the inputs (0: the first behind the module itself) that the model may write to.
std::vector<std::size_t> written_inputs(const jit::Method& forward) {
  const auto graph = forward.graph()->copy();
  jit::Inline(*graph);
  const jit::AliasDb aliases(graph);
  std::vector<std::size_t> written;
  for (std::size_t i = 1; i < graph->inputs().size(); ++i)
    if (graph->inputs()[i]->type()->kind() == c10::TypeKind::TensorType &&
        aliases.hasWriters(graph->inputs()[i]))
      written.push_back(i - 1);
  return written;
}

// Switches of a TorchScript file: as it came, and as it was set.
struct FileSwitches {
  SwitchCounts found;
  GraphSwitches set;
};

class ScriptProgram : public Program {
 public:
  ScriptProgram(jit::Module module, std::optional<Precision> autocast, std::int64_t parameters,
                std::string passes, std::optional<FileSwitches> file = std::nullopt)
      : module_(std::move(module)),
        forward_(module_.get_method("forward")),
        autocast_(autocast),
        parameters_(parameters),
        passes_(std::move(passes)),
        file_(file) {
    for (const auto& argument : forward_.function().getSchema().arguments())
      wanted_.push_back(argument.type()->kind());
    written_ = written_inputs(forward_);
  }
  void run(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& outputs) override {
    std::optional<Autocast> autocast;
    if (autocast_) autocast.emplace(*autocast_);
    jit::Stack arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(as_argument(inputs[i], wanted_.at(i + 1)));
    for (const auto i : written_)  // the next inference is to get what this one got
      if (i < inputs.size()) arguments[i] = inputs[i].clone();
    const auto result = forward_(std::move(arguments));
    outputs.clear();
    append_outputs(result, outputs);
    if (output_names.empty()) append_names(result, "", output_names), make_distinct(output_names);
    if (outputs.empty()) throw Error(ErrorCode::kData, "the TorchScript model returns no tensor");
  }
  std::int64_t parameter_count() const override { return parameters_; }
  std::vector<std::pair<std::string, at::Tensor>> weights() const override {
    std::vector<std::pair<std::string, at::Tensor>> named;
    for (const auto& parameter : module_.named_parameters())
      named.emplace_back(parameter.name, parameter.value);
    return named;
  }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    std::vector<std::pair<std::string, std::string>> all{
        {"torchscript_passes", passes_},
        {"torchscript_onednn_weights", std::to_string(prepacked_weights(forward_.graph()->block()))},
        {"torchscript_profiling_executor", jit::getExecutorMode() ? "on" : "off"},
        {"torchscript_profiled_runs", std::to_string(jit::getNumProfiledRuns())},
        {"torchscript_graph_optimizer", jit::getGraphExecutorOptimize() ? "on" : "off"}};
    if (!written_.empty()) all.emplace_back("torchscript_copied_inputs", copied_inputs());
    const auto add = [&](const char* name, const SwitchCounts& counts) {
      if (auto text = switches_text(counts); !text.empty()) all.emplace_back(name, std::move(text));
    };
    add("torchscript_switches", read_switches(module_));
    if (file_) add("torchscript_switches_in_file", file_->found);
    return all;
  }
  std::string arithmetic_note() const override {
    if (!file_ || file_->set.allow_tf32 || file_->found.allow_tf32.on == 0) return {};
    return fmt::format(
        "its file allows TF32 in {} of {} convolutions, which are kept from it here; a reference that this "
        "file gave on a GPU is rounded, and --precision tf32 runs as that did",
        file_->found.allow_tf32.on, file_->found.allow_tf32.calls);
  }

 private:
  // By name, as in "x, mask".
  [[nodiscard]] std::string copied_inputs() const {
    const auto& arguments = forward_.function().getSchema().arguments();
    std::vector<std::string> names;
    for (const auto i : written_) names.push_back(arguments.at(i + 1).name());
    return fmt::format("{}", fmt::join(names, ", "));
  }

  jit::Module module_;
  jit::Method forward_;
  std::optional<Precision> autocast_;
  std::int64_t parameters_;
  std::string passes_;
  std::optional<FileSwitches> file_;
  std::vector<std::size_t> written_;   // inputs that it may write to, copied before each run
  std::vector<c10::TypeKind> wanted_;  // kinds of forward's arguments, starting with the module itself
};

std::int64_t parameter_count_of(const jit::Module& module) {
  std::int64_t count = 0;
  for (const auto& parameter : module.parameters()) count += parameter.numel();
  return count;
}

// A frozen file keeps its weights as constants of the graph.
void convert_constants(jit::Block* block, const Form& form) {
  for (auto* node : block->nodes()) {
    for (auto* inner : node->blocks()) convert_constants(inner, form);
    const auto value = c10::attr::value;
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(value)) continue;
    if (node->kindOf(value) != jit::AttributeKind::t) continue;
    node->t_(value, in_form(node->t(value), form));
    node->output()->inferTypeFrom(node->t(value));
  }
}

void convert(jit::Module& module, const Form& form) {
  const auto apply = [&](at::Tensor tensor) { tensor.set_data(in_form(tensor, form)); };
  for (const auto& parameter : module.parameters()) apply(parameter);
  for (const auto& buffer : module.buffers()) apply(buffer);
  convert_constants(module.get_method("forward").graph()->block(), form);
}

void check_arity(const jit::Module& module, const ScriptFile& file) {
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  const auto required = std::count_if(arguments.begin() + 1, arguments.end(),
                                      [](const auto& argument) { return !argument.default_value(); });
  if (file.inputs >= static_cast<std::size_t>(required) && file.inputs < arguments.size()) return;
  std::vector<std::string> names;
  for (auto argument = arguments.begin() + 1; argument != arguments.end(); ++argument)
    names.push_back(argument->name());
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' takes {} inputs ({}), {} given; describe them with --shapes", file.path,
                          names.size(), fmt::join(names, ", "), file.inputs));
}

// Whether the file is a torch.save of a model or its weights, which has data but no code.
bool holds_weights_alone(const std::string& path) {
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    return archive.hasRecord("data.pkl") && !archive.hasRecord("constants.pkl");
  } catch (const std::exception&) {
    return false;
  }
}

// Says which operator or class a file needs that comes with a library.
jit::Module load_module(const std::string& path, c10::Device device) try {
  return jit::load(path, device);
} catch (const std::exception& e) {
  const std::string text = e.what();
  for (const std::string_view part : {"Unknown builtin op: ", "Unknown type name '"}) {
    const auto at = text.find(part);
    if (at == std::string::npos) continue;
    const auto name =
        text.substr(at + part.size(), text.find_first_of(".'\n ", at + part.size()) - at - part.size());
    throw Error(
        ErrorCode::kUsage,
        fmt::format("'{}' needs {}, which LibTorch does not have; load the library that brings it with "
                    "--load-library FILE, e.g. torchvision's _C.so",
                    path, name));
  }
  throw;
}

jit::Module open_module(const std::string& path, c10::Device device) {
  check_file(path);
  if (is_old_pickle(path) || holds_weights_alone(path))
    throw Error(ErrorCode::kData,
                fmt::format("'{}' was written by torch.save and has no code to run: save the model with "
                            "torch.jit.save(torch.jit.trace(model, example), FILE) or torch.onnx.export, or "
                            "write its weights with safetensors for a built-in model (--weights)",
                            path));
  auto module = translate_errors(
      ErrorCode::kData,
      fmt::format("'{}' cannot be read as TorchScript; write it with torch.jit.save, and copy it whole",
                  path),
      [&] { return load_module(path, device); });
  if (!module.find_method("forward"))
    throw Error(ErrorCode::kData,
                fmt::format("'{}' has no forward method; write it with torch.jit.save", path));
  module.eval();
  return module;
}

jit::Module read_module(const ScriptFile& file, c10::Device device) {
  auto module = open_module(file.path, device);
  check_arity(module, file);
  return module;
}

struct NumberType {
  c10::TypeKind kind;
  DType dtype;
};
constexpr std::array<NumberType, 3> kNumberTypes{{{c10::TypeKind::IntType, DType::kInt64},
                                                  {c10::TypeKind::FloatType, DType::kFloat64},
                                                  {c10::TypeKind::BoolType, DType::kBool}}};

DeclaredInput declared_input(const c10::Argument& argument) {
  DeclaredInput input{argument.name(), {}, {}, {}};
  for (const auto& [kind, dtype] : kNumberTypes)
    if (argument.type()->kind() == kind) input.dtype = dtype, input.shape = Shape{};
  return input;
}

}  // namespace

std::vector<DeclaredInput> script_file_inputs(const std::string& path) {
  const auto module = open_module(path, at::kCPU);
  const auto& arguments = module.get_method("forward").function().getSchema().arguments();
  std::vector<DeclaredInput> inputs;
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (!arguments[i].default_value()) inputs.push_back(declared_input(arguments[i]));
  add_script_hints(module, inputs);
  return inputs;
}

std::unique_ptr<Program> trace_program(Model& model, const std::string& name,
                                       std::span<const at::Tensor> examples, const Precision& precision) {
  const at::NoGradGuard no_grad;
  std::optional<Autocast> autocast;
  if (precision.autocast) autocast.emplace(precision, /*keep_casts=*/false);
  const auto traced = trace_model(model, name, examples);
  autocast.reset();
  auto frozen = jit::freeze(traced);
  return std::make_unique<ScriptProgram>(
      jit::optimize_for_inference(frozen), std::nullopt, parameter_count(model),
      precision.autocast ? "trace under autocast, freeze, optimize_for_inference"
                         : "trace, freeze, optimize_for_inference");
}

std::unique_ptr<Program> load_program(const ScriptFile& file, const Precision& precision, const Form& form,
                                      const GraphSwitches& wanted) {
  const at::NoGradGuard no_grad;
  auto module = read_module(file, form.device);
  const FileSwitches switches{read_switches(module), wanted};
  set_switches(module, wanted);
  const auto parameters = parameter_count_of(module);
  convert(module, form);
  if (!file.optimise)
    return std::make_unique<ScriptProgram>(
        module, precision.autocast ? std::optional(precision) : std::nullopt, parameters, "none", switches);
  const bool frozen_already = !module.hasattr("training");
  auto frozen = frozen_already ? module : jit::freeze(module);
  // Autocast does not reach weights that optimize_for_inference has prepacked.
  if (precision.autocast)
    return std::make_unique<ScriptProgram>(frozen, precision, parameters, "freeze", switches);
  return std::make_unique<ScriptProgram>(jit::optimize_for_inference(frozen), std::nullopt, parameters,
                                         "freeze, optimize_for_inference", switches);
}

}  // namespace paceline::torch_plugin
