// SPDX-License-Identifier: MIT
#include "torch/program_factory.h"

#include <fmt/format.h>

#include <vector>

#include "torch/eager_program.h"
#include "torch/models/model.h"
#include "torch/models/table.h"
#include "torch/script_program.h"

namespace paceline::torch_plugin {
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
                                       const Precision& precision, const Form& form) {
  if (spec.name.empty()) return load_program({spec.file, spec.inputs.size(), compile}, precision, form);
  auto model = make_model(spec, threads);
  convert(*model, form);
  if (!compile) return make_eager_program(std::move(model), precision);
  std::vector<at::Tensor> examples;
  for (const auto& input : spec.inputs) examples.push_back(example_input(input, form));
  return trace_program(*model, spec.name, examples, precision);
}

}  // namespace paceline::torch_plugin
