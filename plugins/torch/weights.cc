// SPDX-License-Identifier: MIT
#include "torch/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "torch/models/model.h"
#include "torch/safetensors.h"
#include "torch/tensors.h"

namespace paceline::torch_plugin {
namespace {

const WeightRule& rule_for(std::span<const WeightRule> rules, const std::string& name) {
  for (const auto& rule : rules)
    if (name.ends_with(rule.suffix)) return rule;
  throw Error(ErrorCode::kInternal, fmt::format("no rule to draw parameter {}", name));
}

// Half the width of the uniform distribution; a uniform of half-width h has standard deviation h/sqrt(3).
double half_width(const WeightRule& rule, const at::Tensor& tensor) {
  if (rule.law == Law::kAround) return rule.spread;
  const auto outputs = rule.law == Law::kFanInTransposed ? tensor.size(1) : tensor.size(0);
  return rule.spread * std::sqrt(3.0 * static_cast<double>(outputs) / static_cast<double>(tensor.numel()));
}

void fill_range(float* out, std::size_t begin, std::size_t end, const CounterRng& rng, double low,
                double width) {
  for (std::size_t i = begin; i < end; ++i) out[i] = static_cast<float>(low + width * rng.uniform(i));
}

// Plain threads: an OpenMP region compiled here could bring a second OpenMP runtime beside LibTorch's.
void fill_uniform(std::span<float> out, const CounterRng& rng, double centre, double half, int threads) {
  constexpr std::size_t kGrain = 1 << 18;
  const auto parts =
      std::clamp<std::size_t>(out.size() / kGrain, 1, static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::jthread> workers;
  for (std::size_t part = 1; part < parts; ++part)
    workers.emplace_back([=] {
      fill_range(out.data(), out.size() * part / parts, out.size() * (part + 1) / parts, rng, centre - half,
                 2 * half);
    });
  fill_range(out.data(), 0, out.size() / parts, rng, centre - half, 2 * half);
}

// Sums run in one fixed order, so that the result does not depend on anything but the values.
void balance(at::Tensor& tensor) {
  const auto row_size = tensor.numel() / tensor.size(0);
  auto* row = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.size(0); ++i, row += row_size) {
    const auto mean =
        static_cast<float>(std::accumulate(row, row + row_size, 0.0) / static_cast<double>(row_size));
    for (std::int64_t j = 0; j < row_size; ++j) row[j] -= mean;
  }
}

// Checkpoints converted from TensorFlow call a norm's weight and bias gamma and beta.
std::string canonical_name(std::string name, std::string_view prefix) {
  if (!prefix.empty() && name.starts_with(prefix)) name.erase(0, prefix.size());
  if (name.ends_with(".gamma")) name.replace(name.size() - 5, 5, "weight");
  if (name.ends_with(".beta")) name.replace(name.size() - 4, 4, "bias");
  return name;
}

bool is_ignored(const std::string& name, const CheckpointNames& names) {
  return std::any_of(names.ignored.begin(), names.ignored.end(),
                     [&](auto part) { return name.find(part) != std::string::npos; });
}

void copy_tensor(at::Tensor target, const StoredTensor& stored, const std::string& name,
                 const std::string& file) {
  if (Shape shape(target.sizes().begin(), target.sizes().end()); shape != stored.shape)
    throw Error(ErrorCode::kData,
                fmt::format("weights '{}': {} is [{}] in the file, the model needs [{}]", file, name,
                            fmt::join(stored.shape, ","), fmt::join(shape, ",")));
  auto source = at::empty(target.sizes(), target.options().dtype(to_torch(stored.dtype)));
  std::memcpy(source.data_ptr(), stored.bytes.data(), stored.bytes.size());
  target.copy_(source);
}

}  // namespace

void fill_random(Model& model, std::span<const WeightRule> rules, std::uint64_t seed, int threads) {
  for (auto& [name, tensor] : named_tensors(model)) {
    const auto& rule = rule_for(rules, name);
    const std::span<float> values(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
    fill_uniform(values, CounterRng(seed, hash64(name)), rule.centre, half_width(rule, tensor), threads);
    if (rule.law == Law::kFanInBalanced) balance(tensor);
  }
}

void load_weights(Model& model, const CheckpointNames& names, const std::string& file) {
  const SafetensorsFile stored(file);
  std::map<std::string, const StoredTensor*> found;
  for (const auto& [name, tensor] : stored.tensors())
    if (!is_ignored(name, names)) found[canonical_name(name, names.prefix)] = &tensor;
  for (auto& [name, tensor] : named_tensors(model)) {
    const auto at = found.find(name);
    if (at == found.end())
      throw Error(ErrorCode::kData,
                  fmt::format("weights '{}' lack {}; are they of another model?", file, name));
    copy_tensor(tensor, *at->second, name, file);
    found.erase(at);
  }
  if (!found.empty())
    throw Error(ErrorCode::kData,
                fmt::format("weights '{}' hold {}, which the model does not have; are they of another model?",
                            file, found.begin()->first));
}

}  // namespace paceline::torch_plugin
