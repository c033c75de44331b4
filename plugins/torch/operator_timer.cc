// SPDX-License-Identifier: MIT
#include "torch/operator_timer.h"

#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "torch/flop_counter.h"
#include "torch/weights.h"

namespace paceline::torch_plugin {
namespace {

// LibTorch's callbacks are plain functions; operators run on the thread that calls the model.
struct Recording {
  std::map<const void*, std::string> layers;  // by the memory of their weights
  std::vector<TimedOperator> operators;
  int depth = 0;
  bool onednn_convolution = false;
};
thread_local Recording* recording = nullptr;

struct Started : at::ObserverContext {
  std::int64_t begin_ns = 0;
};

const void* memory_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage().data() : nullptr;
}

// The TorchScript interpreter passes its whole stack; an operator's own inputs are the last ones.
auto own_inputs(const at::RecordFunction& function) {
  const auto all = function.inputs();
  const auto schema = function.operator_schema();
  const auto count = schema ? schema->arguments().size() : 0;
  return all.slice(all.size() > count ? all.size() - count : 0);
}

// An operator inside a product that a GPU rounds sees float32 and no switch.
bool is_told_less(const std::string& precision, const std::string& before) {
  return precision == "fp32" && before == "tf32";
}

void describe(TimedOperator& op, const at::RecordFunction& function) {
  bool typed = false;
  for (const auto& value : own_inputs(function)) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const auto& tensor = value.toTensor();
    if (!typed && c10::isFloatingType(tensor.scalar_type())) {
      const auto precision = precision_name(tensor.scalar_type());
      if (!is_told_less(precision, op.precision)) op.precision = precision;
      typed = true;
    }
    const auto layer = recording->layers.find(memory_of(tensor));
    if (op.layer.empty() && layer != recording->layers.end()) op.layer = layer->second;
  }
  if (const auto rounded = precision_on_gpu(function); !rounded.empty()) op.precision = rounded;
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  if (!recording) return nullptr;
  if (recording->depth++ == 0) recording->operators.push_back({function.name(), {}, {}, 0});
  recording->onednn_convolution |= std::string_view(function.name()) == "aten::mkldnn_convolution";
  describe(recording->operators.back(), function);
  auto started = std::make_unique<Started>();
  started->begin_ns = SteadyClock{}.now_ns();
  return started;
}

void on_end(const at::RecordFunction&, at::ObserverContext* context) {
  const auto now = SteadyClock{}.now_ns();
  const auto* started = static_cast<Started*>(context);
  if (!started || !recording || --recording->depth > 0) return;
  recording->operators.back().time_ns = static_cast<double>(now - started->begin_ns);
}

}  // namespace

OperatorTimer::OperatorTimer(const Weights& weights) {
  static thread_local Recording here;
  here = {};
  for (const auto& [name, tensor] : weights)
    if (const auto* memory = memory_of(tensor)) here.layers.emplace(memory, layer_of(name));
  recording = &here;
  handle_ = at::addGlobalCallback(
      at::RecordFunctionCallback(on_start, on_end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

OperatorTimer::~OperatorTimer() {
  at::removeCallback(handle_);
  recording = nullptr;
}

std::vector<TimedOperator> OperatorTimer::take() {
  return std::exchange(recording->operators, {});
}

bool OperatorTimer::saw_onednn_convolution() const {
  return recording->onednn_convolution;
}

}  // namespace paceline::torch_plugin
