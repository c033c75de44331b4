// SPDX-License-Identifier: MIT
// Exports a built-in model as a TorchScript file.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "torch/errors.h"
#include "torch/export/exporters.h"
#include "torch/graph_switches.h"
#include "torch/models/model.h"
#include "torch/models/table.h"
#include "torch/tensors.h"
#include "torch/trace.h"

namespace paceline::torch_plugin {
namespace {

class ScriptExporter : public plugin::Exporter {
 public:
  void write(const plugin::ModelSpec& spec, const plugin::ExportSettings&, const std::string& file) override {
    translate_errors(ErrorCode::kData, fmt::format("cannot export model '{}'", spec.name), [&] {
      const auto model = make_model(spec, at::get_num_threads());
      std::vector<at::Tensor> examples;
      for (const auto& input : spec.inputs) examples.push_back(example_input(input, {}));
      const at::NoGradGuard no_grad;
      const auto partial = file + ".partial";
      check_own_name(partial);
      auto traced = trace_model(*model, spec.name, examples);
      set_switches(traced, {});  // fp32 on every device, whatever the switches are here
      traced.save(partial);
      std::filesystem::rename(partial, file);
    });
  }
};

}  // namespace

std::unique_ptr<plugin::Exporter> make_script_exporter() {
  return std::make_unique<ScriptExporter>();
}

}  // namespace paceline::torch_plugin
