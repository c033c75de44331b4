// SPDX-License-Identifier: MIT
#include "torch/flop_counter.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>

#include <mutex>
#include <string_view>

#include "torch/graph_switches.h"

namespace paceline::torch_plugin {
namespace {

enum class Kind { kConvolution, kProduct, kAttention };

// `operand` is the tensor that decides the precision: the left factor of products, otherwise the first input.
struct CountedOperator {
  std::string_view name;
  Kind kind;
  std::size_t operand;
};
constexpr CountedOperator kCounted[] = {
    {"aten::conv1d", Kind::kConvolution, 0},
    {"aten::conv2d", Kind::kConvolution, 0},
    {"aten::conv3d", Kind::kConvolution, 0},
    {"aten::convolution", Kind::kConvolution, 0},
    {"aten::_convolution", Kind::kConvolution, 0},
    {"aten::mkldnn_convolution", Kind::kConvolution, 0},
    {"aten::cudnn_convolution_relu", Kind::kConvolution, 0},
    {"aten::cudnn_convolution_add_relu", Kind::kConvolution, 0},
    {"aten::thnn_conv2d", Kind::kConvolution, 0},
    {"aten::_slow_conv2d_forward", Kind::kConvolution, 0},
    {"aten::linear", Kind::kProduct, 0},
    {"aten::mkldnn_linear", Kind::kProduct, 0},
    {"aten::matmul", Kind::kProduct, 0},
    {"aten::mm", Kind::kProduct, 0},
    {"aten::bmm", Kind::kProduct, 0},
    {"aten::mv", Kind::kProduct, 0},
    {"aten::addmm", Kind::kProduct, 1},
    {"aten::addmv", Kind::kProduct, 1},
    {"aten::baddbmm", Kind::kProduct, 1},
    {"aten::scaled_dot_product_attention", Kind::kAttention, 0},
    {"aten::_scaled_dot_product_attention_math", Kind::kAttention, 0},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", Kind::kAttention, 0},
};
constexpr std::string_view kOnednnConvolution = "aten::mkldnn_convolution";

const CountedOperator* find_counted(std::string_view name) {
  for (const auto& row : kCounted)
    if (row.name == name) return &row;
  return nullptr;
}

// A running operator. FLOPs = fixed + per_output times the elements of its result.
struct Running : at::ObserverContext {
  Running* outer = nullptr;
  const CountedOperator* row = nullptr;
  bool holds_counted = false;
  std::string precision;
  double fixed = 0;
  double per_output = 0;
  double bytes = 0;  // of its operands
};

// Only one counter is alive at a time, because LibTorch's callbacks are plain functions.
struct Totals {
  std::mutex mutex;
  WorkByPrecision all;
  WorkByPrecision onednn_convolutions;
  std::vector<plugin::Layer> layers;
};
Totals& totals() {
  static Totals instance;
  return instance;
}
thread_local Running* innermost = nullptr;

// The TorchScript interpreter passes its whole stack; an operator's own values are the last ones.
template <typename Values>
auto own_values(const Values& values, std::size_t count) {
  c10::ArrayRef<c10::IValue> all(values);
  return all.slice(all.size() > count ? all.size() - count : 0);
}

// The dispatcher sees float32 operands; only a switch tells whether a GPU rounds their products: that of the
// call, which a traced file may have baked into it, else LibTorch's own.
std::string precision_of_call(const CountedOperator& row, const at::Tensor& operand,
                              const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> inputs) {
  if (!operand.is_cuda() || operand.scalar_type() != at::kFloat) return precision_name(operand.scalar_type());
  const auto& context = at::globalContext();
  const bool rounds =
      switch_of_call(schema, inputs, "allow_tf32")
          .value_or(row.kind == Kind::kConvolution ? context.allowTF32CuDNN() : context.allowTF32CuBLAS());
  return rounds ? "tf32" : "fp32";
}

// In aten::convolution and aten::_convolution the flag follows the dilation; the others have no boolean
// there. A transposed convolution applies the kernel once per element of its input, a plain one once per
// element of its output.
bool is_transposed(c10::ArrayRef<c10::IValue> inputs) {
  constexpr std::size_t kTransposed = 6;
  return inputs.size() > kTransposed && inputs[kTransposed].isBool() && inputs[kTransposed].toBool();
}

double bytes_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return 0;
  return static_cast<double>(value.toTensor().numel()) * static_cast<double>(value.toTensor().element_size());
}

void describe(Running& running, const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> inputs) {
  const auto& operand = inputs.at(running.row->operand).toTensor();
  running.precision = precision_of_call(*running.row, operand, schema, inputs);
  for (const auto& input : inputs) running.bytes += bytes_of(input);
  if (running.row->kind == Kind::kProduct) {
    running.per_output = 2.0 * static_cast<double>(operand.size(-1));
  } else if (running.row->kind == Kind::kConvolution) {
    const auto& weight = inputs.at(1).toTensor();
    const double per_element = 2.0 * static_cast<double>(weight.numel() / weight.size(0));
    if (is_transposed(inputs))
      running.fixed = per_element * static_cast<double>(operand.numel());
    else
      running.per_output = per_element;
  } else {
    const auto keys = static_cast<double>(inputs.at(1).toTensor().size(-2));
    running.fixed = 2.0 * keys * static_cast<double>(operand.numel());
    running.per_output = 2.0 * keys;
  }
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  const auto* row = find_counted(function.name());
  const auto schema = function.operator_schema();
  if (!row || !schema) return nullptr;
  auto running = std::make_unique<Running>();
  running->row = row;
  running->outer = innermost;
  describe(*running, *schema, own_values(function.inputs(), schema->arguments().size()));
  innermost = running.get();
  return running;
}

void add(WorkByPrecision& work, const std::string& precision, double flops, double bytes) {
  auto& entry = work[precision];
  entry.flops += flops;
  entry.bytes += bytes;
  ++entry.operators;
}

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  const auto* running = static_cast<Running*>(context);
  if (!running) return;
  innermost = running->outer;
  if (innermost) innermost->holds_counted = true;
  if (running->holds_counted) return;
  const auto returns = function.operator_schema()->returns().size();
  const auto& value = own_values(function.outputs(), returns).at(0);
  const double flops = running->fixed + running->per_output * static_cast<double>(value.toTensor().numel());
  const double bytes = running->bytes + bytes_of(value);
  const std::lock_guard lock(totals().mutex);
  add(totals().all, running->precision, flops, bytes);
  totals().layers.push_back({"", std::string(running->row->name), running->precision, {}, flops});
  if (running->row->name == kOnednnConvolution)
    add(totals().onednn_convolutions, running->precision, flops, bytes);
}

}  // namespace

std::string precision_name(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "fp32";
    case at::kBFloat16:
      return "bf16";
    case at::kHalf:
      return "fp16";
    case at::kDouble:
      return "fp64";
    default:
      return c10::toString(type);
  }
}

std::string precision_on_gpu(const at::RecordFunction& function) {
  const auto* row = find_counted(function.name());
  const auto schema = function.operator_schema();
  if (!row || !schema) return {};
  const auto inputs = own_values(function.inputs(), schema->arguments().size());
  if (row->operand >= inputs.size() || !inputs[row->operand].isTensor()) return {};
  const auto& operand = inputs[row->operand].toTensor();
  return operand.defined() && operand.is_cuda() ? precision_of_call(*row, operand, *schema, inputs) : "";
}

FlopCounter::FlopCounter() {
  totals().all.clear();
  totals().onednn_convolutions.clear();
  totals().layers.clear();
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                      .needsInputs(true)
                                      .needsOutputs(true)
                                      .scopes({at::RecordScope::FUNCTION}));
}
FlopCounter::~FlopCounter() {
  at::removeCallback(handle_);
}

WorkByPrecision FlopCounter::total() const {
  return totals().all;
}
double FlopCounter::bytes() const {
  double sum = 0;
  for (const auto& [precision, work] : totals().all) sum += work.bytes;
  return sum;
}
std::vector<plugin::Layer> FlopCounter::layers() const {
  return totals().layers;
}
WorkByPrecision FlopCounter::onednn_convolutions() const {
  return totals().onednn_convolutions;
}

}  // namespace paceline::torch_plugin
