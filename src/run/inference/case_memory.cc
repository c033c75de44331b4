// SPDX-License-Identifier: MIT
#include "run/inference/case_memory.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "base/units.h"
#include "config/vocabulary.h"
#include "host/machine/gpu_locality.h"
#include "run/case/case_identity.h"
#include "run/case/case_settings.h"
#include "run/case/model_parts.h"

namespace paceline::run {
namespace {

using config::Case;

// Weights and activations may be as small as the precision has them.
double bytes_of_number(const std::string& precision) {
  if (precision == "fp32" || precision == "tf32") return 4;
  return precision == "int8" ? 1 : 2;
}

bool is_libtorch(const std::string& engine) {
  return engine == "eager" || engine == "torchscript";
}

double bytes_of(const std::vector<TensorSpec>& inputs) {
  double bytes = 0;
  for (const auto& input : inputs)
    bytes +=
        static_cast<double>(element_count(input.shape)) * static_cast<double>(dtype_size_bytes(input.dtype));
  return bytes;
}

std::string parts_words(const InferenceMemory& least) {
  std::vector<std::string> parts{"inputs " + format_bytes(least.inputs)};
  if (least.weights > 0) parts.push_back("weights " + format_bytes(least.weights));
  if (least.activations > 0) parts.push_back("activations " + format_bytes(least.activations));
  return join(parts, ", ");
}

std::string shortage(const Case& c, const InferenceMemory& least, const std::string& whose, double have) {
  return fmt::format(
      "out of memory: an inference of {} {} needs at least {} ({}), and {} {}; use a smaller batch",
      c.settings.integer("batch"), config::item_of_model(c.settings.text("model")),
      format_bytes(least.bytes()), parts_words(least), whose, format_bytes(have));
}

}  // namespace

InferenceMemory least_inference_memory(const Case& c) {
  InferenceMemory least;
  least.inputs = bytes_of(config::case_inputs(c));
  const auto* model = config::find_model(c.settings.text("model"));
  if (!model || !is_libtorch(c.settings.text("engine"))) return least;
  const double each = bytes_of_number(asked_precision(c.settings));
  const auto length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length") : 0;
  least.weights = each * static_cast<double>(model->parameters);
  least.activations = each * static_cast<double>(c.settings.integer("batch")) *
                      static_cast<double>(model->live_numbers(length));
  return least;
}

MemoryHere memory_here() {
  return {host::read_memory(host::SystemFiles{}),
          [](int index) { return host::gpu_at_index(host::gpu_places(), index); }};
}

double ample_bytes(const CaseRun& c) {
  constexpr double kTimes = 16;
  const auto* known = config::find_model(c.definition.settings.text("model"));
  double bytes = bytes_of(c.base.model.inputs) + (known ? 4.0 * static_cast<double>(known->parameters) : 0);
  for (const auto& model : {c.base.model.file, c.base.model.weights_file})
    for (const auto& part : model_parts(model)) {
      std::error_code missing;
      if (const auto size = std::filesystem::file_size(part, missing); !missing)
        bytes += static_cast<double>(size);
    }
  return kTimes * bytes;
}

bool leaves_room_beside(const CaseRun& c, const MemoryHere& here) {
  const auto usable = host::usable_bytes(here.host);
  return usable && ample_bytes(c) <= static_cast<double>(*usable);
}

std::string memory_obstacle(const Case& c, const MemoryHere& here) {
  const auto least = least_inference_memory(c);
  const auto device = device_of(c.settings);
  const auto usable = host::usable_bytes(here.host);
  if (device.kind == DeviceKind::kCpu) {
    if (!usable || least.bytes() <= static_cast<double>(*usable)) return {};
    return shortage(c, least, "this machine can give", static_cast<double>(*usable));
  }
  const auto gpu = here.gpu(device.index);
  if (gpu.memory_bytes && least.bytes() > static_cast<double>(*gpu.memory_bytes))
    return shortage(c, least,
                    fmt::format("{} ({}) has", device_name(device), gpu.name ? *gpu.name : "the GPU"),
                    static_cast<double>(*gpu.memory_bytes));
  if (usable && least.inputs > static_cast<double>(*usable))
    return shortage(c, {least.inputs, 0, 0}, "the host can give", static_cast<double>(*usable));
  return {};
}

}  // namespace paceline::run
