// SPDX-License-Identifier: MIT
#include "torch/program_factory.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "torch/models/model.h"
#include "torch/models/table.h"
#include "torch/script_program.h"

namespace paceline::torch_plugin {
namespace {

// Runs a built-in model operator by operator. Its tensors must already be in the wanted form.
class EagerProgram : public Program {
 public:
  EagerProgram(std::shared_ptr<Model> model, const Precision& precision)
      : model_(std::move(model)), precision_(precision) {}
  void run(std::span<const at::Tensor> inputs, std::vector<at::Tensor>& outputs) override {
    std::optional<Autocast> autocast;
    if (precision_.autocast) autocast.emplace(precision_);
    outputs.resize(1);
    outputs[0] = model_->run(inputs);
  }
  std::int64_t parameter_count() const override { return torch_plugin::parameter_count(*model_); }
  std::vector<std::pair<std::string, at::Tensor>> weights() const override { return named_tensors(*model_); }
  std::vector<std::pair<std::string, std::string>> settings() const override { return {}; }

 private:
  std::shared_ptr<Model> model_;
  Precision precision_;
};

std::unique_ptr<Program> trace_with_examples(Model& model, const plugin::ModelSpec& spec,
                                             const Precision& precision, const Form& form) {
  std::vector<at::Tensor> examples;
  for (const auto& input : spec.inputs) examples.push_back(example_input(input, form));
  return trace_program(model, spec.name, examples, precision);
}

}  // namespace

void convert(Model& model, const Form& form) {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : named_tensors(model)) tensor.set_data(in_form(tensor, form));
}

bool wants_channels_last(const std::string& layout) {
  if (layout == "channels_last") return true;
  if (layout == "contiguous") return false;
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown layout '{}'; there are: contiguous, channels_last", layout));
}

std::unique_ptr<Program> build_program(const plugin::ModelSpec& spec, bool compile, int threads,
                                       const Precision& precision, const Form& form,
                                       const GraphSwitches& switches) {
  if (spec.name.empty())
    return load_program({spec.file, spec.inputs.size(), compile}, precision, form, switches);
  auto model = make_model(spec, threads);
  convert(*model, form);
  auto program = compile ? trace_with_examples(*model, spec, precision, form)
                         : std::make_unique<EagerProgram>(model, precision);
  program->left_out = model->left_out;
  return program;
}

void change_weights(const Program& program, const std::string& how) {
  std::vector<at::Tensor> matrices;
  for (const auto& [name, tensor] : program.weights())
    if (tensor.scalar_type() == at::kFloat && tensor.dim() >= 2) matrices.push_back(tensor);
  if (matrices.empty()) throw Error(ErrorCode::kUnsupported, "the model has no weights that can be changed");
  const at::NoGradGuard no_grad;
  if (how == "bf16") {
    auto& middle = matrices[matrices.size() / 2];
    middle.copy_(middle.to(at::kBFloat16).to(at::kFloat));
    return;
  }
  const auto generator = at::detail::createCPUGenerator(1);
  for (auto& tensor : matrices) {
    const auto up = at::empty_like(tensor).bernoulli_(0.5, generator);
    tensor.copy_(at::nextafter(tensor, (up - 0.5) * HUGE_VAL));
  }
}

std::vector<std::pair<std::string, std::string>> settings_of(const Program& program) {
  constexpr std::size_t kShown = 8;
  auto settings = program.settings();
  const auto& names = program.left_out;
  if (names.empty()) return settings;
  const auto shown = std::min(names.size(), kShown);
  auto text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  settings.emplace_back("weights_left_out", std::move(text));
  return settings;
}

}  // namespace paceline::torch_plugin
