// SPDX-License-Identifier: MIT
#include "torch/eager_program.h"

#include <optional>

#include "torch/models/model.h"

namespace paceline::torch_plugin {
namespace {

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

}  // namespace

std::unique_ptr<Program> make_eager_program(std::shared_ptr<Model> model, const Precision& precision) {
  return std::make_unique<EagerProgram>(std::move(model), precision);
}

}  // namespace paceline::torch_plugin
