// SPDX-License-Identifier: MIT
#include "torch/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "torch/checkpoint_file.h"
#include "torch/models/model.h"
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

// Sums are in a fixed order, so that the result only depends on the values.
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

// Returns the rest of `name` if it begins with `pattern`; '#' matches digits, which go to `number`.
std::optional<std::string> rest_after(std::string_view pattern, std::string_view name, std::string& number) {
  while (!pattern.empty()) {
    if (pattern.front() == '#') {
      const auto digits = std::min(name.find_first_not_of("0123456789"), name.size());
      if (digits == 0) return std::nullopt;
      number = name.substr(0, digits);
      name.remove_prefix(digits);
    } else if (!name.starts_with(pattern.front())) {
      return std::nullopt;
    } else {
      name.remove_prefix(1);
    }
    pattern.remove_prefix(1);
  }
  return std::string(name);
}

// The checkpoints' name for a tensor of the model; several names are its parts.
std::vector<std::string> public_names(const std::string& name, const CheckpointNames& names) {
  for (const auto& row : names.renamed) {
    std::string number;
    const auto rest = rest_after(row.ours, name, number);
    if (!rest) continue;
    std::vector<std::string> theirs;
    for (std::string their(row.theirs[0]); !their.empty();
         their = theirs.size() < 3 ? row.theirs[theirs.size()] : "") {
      if (const auto at = their.find('#'); at != std::string::npos) their.replace(at, 1, number);
      theirs.push_back(their + *rest);
    }
    return theirs;
  }
  return {name};
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

// The file's tensors by the names of the model's tensors that they stand for.
class Checkpoint {
 public:
  Checkpoint(const std::string& file, const CheckpointNames& names)
      : file_(file), names_(names), stored_(file) {
    for (const auto& [name, tensor] : stored_.tensors()) {
      if (is_ignored(name, names))
        ignored_.push_back(name);
      else
        found_[canonical_name(name, names.prefix)] = &tensor;
    }
  }

  void copy_to(const std::string& name, const at::Tensor& target) {
    const auto parts = public_names(name, names_);
    const auto count = static_cast<std::int64_t>(parts.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& part = parts[static_cast<std::size_t>(i)];
      const auto at = found_.find(part);
      if (at == found_.end())
        throw Error(ErrorCode::kData,
                    fmt::format("weights '{}' lack {}; are they of another model?", file_, part));
      const auto rows = count == 1 ? 0 : target.size(0) / count;
      copy_tensor(count == 1 ? target : target.narrow(0, i * rows, rows), *at->second, part, file_);
      found_.erase(at);
    }
  }

  void check_nothing_is_left() const {
    if (!found_.empty())
      throw Error(
          ErrorCode::kData,
          fmt::format("weights '{}' contain {}, which the model does not have; are they of another model?",
                      file_, found_.begin()->first));
  }

  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  std::string file_;
  const CheckpointNames& names_;
  CheckpointFile stored_;
  std::map<std::string, const StoredTensor*> found_;
  std::vector<std::string> ignored_;
};

}  // namespace

void fill_random(Model& model, std::span<const WeightRule> rules, std::uint64_t seed, int threads) {
  for (auto& [name, tensor] : named_tensors(model)) {
    const auto& rule = rule_for(rules, name);
    const std::span<float> values(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
    fill_uniform(values, CounterRng(seed, hash64(name)), rule.centre, half_width(rule, tensor), threads);
    if (rule.law == Law::kFanInBalanced) balance(tensor);
  }
}

std::vector<std::string> load_weights(Model& model, const CheckpointNames& names, const std::string& file) {
  Checkpoint checkpoint(file, names);
  for (auto& [name, tensor] : named_tensors(model)) checkpoint.copy_to(name, tensor);
  checkpoint.check_nothing_is_left();
  return checkpoint.ignored();
}

std::string layer_of(const std::string& weight) {
  const auto dot = weight.rfind('.');
  return dot == std::string::npos ? weight : weight.substr(0, dot);
}

}  // namespace paceline::torch_plugin
