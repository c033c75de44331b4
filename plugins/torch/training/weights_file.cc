// SPDX-License-Identifier: MIT
#include "torch/training/weights_file.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "torch/safetensors.h"
#include "torch/tensors.h"
#include "torch/training/file_sink.h"
#include "torch/training/saved_state.h"

namespace paceline::torch_plugin {
namespace {

constexpr std::string_view kStatistics = ".running_mean";
constexpr std::size_t kAlignment = 8;  // of the first tensor, as the format asks for

NamedTensors with_counters(const NamedTensors& weights, std::int64_t batches) {
  NamedTensors all = weights;
  for (const auto& [name, tensor] : weights)
    if (name.ends_with(kStatistics))
      all.emplace_back(name.substr(0, name.size() - kStatistics.size()) + ".num_batches_tracked",
                       at::scalar_tensor(batches, at::kLong));
  return all;
}

std::string header_of(const NamedTensors& tensors) {
  nlohmann::json header;
  header["__metadata__"]["format"] = "pt";
  std::uint64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto end = begin + tensor.nbytes();
    header[name] = {{"dtype", stored_type_name(from_torch(tensor.scalar_type()))},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
    begin = end;
  }
  auto text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

void save_weights(const std::string& file, const NamedTensors& weights, std::int64_t batches) {
  check_finite(weights, {});
  const auto all = with_counters(weights, batches);
  const auto header = header_of(all);
  const std::uint64_t length = header.size();
  FileSink sink(file);
  sink.write(&length, sizeof length);
  sink.write(header.data(), header.size());
  for (const auto& [name, tensor] : all) {
    const auto plain = tensor.detach().cpu().contiguous();
    sink.write(plain.const_data_ptr(), plain.nbytes());
  }
  sink.check("weights");
}

}  // namespace paceline::torch_plugin
