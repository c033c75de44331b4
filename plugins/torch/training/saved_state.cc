// SPDX-License-Identifier: MIT
#include "torch/training/saved_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/serialize.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "torch/errors.h"
#include "torch/training/file_sink.h"
#include "torch/training/fingerprint.h"

namespace paceline::torch_plugin {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

constexpr std::int64_t kFormat = 1;

std::vector<at::Tensor> tensors_of(const NamedTensors& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

bool finite(const at::Tensor& tensor) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return true;
  const auto [low, high] = at::aminmax(tensor.detach());  // NaN wins both
  return std::isfinite(low.item<double>()) && std::isfinite(high.item<double>());
}

// Which of weights and optimizer state is not finite; empty: all are finite.
std::string what_is_not_finite(const NamedTensors& weights, const std::vector<at::Tensor>& optimizer) {
  for (const auto& [name, tensor] : weights)
    if (!finite(tensor)) return name;
  for (std::size_t i = 0; i < optimizer.size(); ++i)
    if (!finite(optimizer[i])) return fmt::format("state {} of the optimizer", i);
  return {};
}

// A list is stored as <name>_0, <name>_1, …, with its length and the fingerprint of its bytes.
void write_list(OutputArchive& archive, const std::string& name, const std::vector<at::Tensor>& tensors) {
  archive.write(name + "_count", c10::IValue(static_cast<std::int64_t>(tensors.size())));
  archive.write(name + "_fingerprint", c10::IValue(fingerprint_of(tensors)));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    archive.write(fmt::format("{}_{}", name, i), tensors[i].detach(), /*is_buffer=*/true);
}

void write_shared(OutputArchive& archive, const SharedState& shared) {
  c10::List<std::string> names;
  for (const auto& [name, tensor] : shared.weights) names.push_back(name);
  archive.write("model", c10::IValue(shared.model));
  archive.write("optimizer", c10::IValue(shared.optimizer));
  archive.write("names", c10::IValue(names));
  archive.write("steps", c10::IValue(shared.steps));
  write_list(archive, "weight", tensors_of(shared.weights));
  write_list(archive, "optimizer_state", shared.optimizer_state);
}

void write_archive(OutputArchive& archive, FileSink& sink) {
  archive.save_to([&](const void* data, std::size_t size) {
    sink.write(data, size);
    return size;
  });
}

// A file being read; every error names it.
class Source {
 public:
  explicit Source(const std::string& file) : file_(file) {
    check_there();
    guarded("cannot be read", [&] { archive_.load_from(file, at::kCPU); });
    if (value("format").toInt() != kFormat) fail("is of another version of paceline");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kData, fmt::format("checkpoint '{}' {}", file_, what));
  }
  c10::IValue value(const std::string& key) {
    c10::IValue result;
    guarded("is not one of paceline's", [&] { archive_.read(key, result); });
    return result;
  }
  bool has(const std::string& key) {
    c10::IValue ignored;
    return archive_.try_read(key, ignored);
  }
  std::vector<at::Tensor> list(const std::string& name) {
    std::vector<at::Tensor> tensors(static_cast<std::size_t>(value(name + "_count").toInt()));
    guarded("cannot be read", [&] {
      for (std::size_t i = 0; i < tensors.size(); ++i)
        archive_.read(fmt::format("{}_{}", name, i), tensors[i], /*is_buffer=*/true);
    });
    if (fingerprint_of(tensors) != value(name + "_fingerprint").toStringRef())
      fail(fmt::format("is damaged: its {} do not have the fingerprint they were written with", name));
    return tensors;
  }

 private:
  void check_there() const {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file_, error)) fail("does not exist");
  }
  template <typename Work>
  void guarded(const std::string& what, Work&& work) {
    translate_errors(ErrorCode::kData, fmt::format("checkpoint '{}' {}", file_, what),
                     std::forward<Work>(work));
  }

  std::string file_;
  InputArchive archive_;
};

void check_same(const Source& source, const std::string& what, const std::string& there,
                const std::string& here) {
  if (there != here)
    source.fail(
        fmt::format("is of {} '{}', this run has '{}'; continue with the same {} or start from the beginning",
                    what, there, here, what));
}

void check_names(Source& source, const NamedTensors& weights) {
  const auto stored = source.value("names").toList();
  for (std::size_t i = 0; i < std::max(stored.size(), weights.size()); ++i) {
    const auto there = i < stored.size() ? stored.get(i).toStringRef() : std::string("nothing");
    const auto here = i < weights.size() ? weights[i].first : std::string("nothing");
    if (there != here) source.fail(fmt::format("contains {} where the model has {}", there, here));
  }
}

void check_shapes(const Source& source, const std::vector<at::Tensor>& stored,
                  const std::vector<at::Tensor>& wanted,
                  const std::function<std::string(std::size_t)>& name) {
  if (stored.size() != wanted.size())
    source.fail(
        fmt::format("contains {} tensors where this run has {}; are model, optimizer and precision the same?",
                    stored.size(), wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (stored[i].sizes() != wanted[i].sizes() || stored[i].scalar_type() != wanted[i].scalar_type())
      source.fail(fmt::format("contains {} as {} [{}], this run needs {} [{}]", name(i),
                              c10::toString(stored[i].scalar_type()), fmt::join(stored[i].sizes(), ","),
                              c10::toString(wanted[i].scalar_type()), fmt::join(wanted[i].sizes(), ",")));
}

void copy_all(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& into) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < into.size(); ++i) into[i].detach().copy_(from[i]);
}

}  // namespace

void check_finite(const NamedTensors& weights, const std::vector<at::Tensor>& optimizer) {
  if (const auto bad = what_is_not_finite(weights, optimizer); !bad.empty())
    throw Error(ErrorCode::kInternal, fmt::format("{} contains numbers that are not finite: training has "
                                                  "diverged; lower the learning rate, or clip gradients",
                                                  bad));
}

void save_state(const std::string& file, const SharedState* shared, const RankState& rank) {
  if (shared) check_finite(shared->weights, shared->optimizer_state);
  OutputArchive archive;
  archive.write("format", c10::IValue(kFormat));
  if (shared) write_shared(archive, *shared);
  archive.write("rank", c10::IValue(rank.rank));
  write_list(archive, "random", {rank.random});
  archive.write("random_device", c10::IValue(rank.device));
  write_list(archive, "rank_buffer", rank.buffers);
  FileSink sink(file);
  try {
    if (sink.error() == 0) write_archive(archive, sink);
  } catch (const std::exception& e) {
    if (sink.error() == 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write checkpoint '{}': {}", file, reason_of(e)));
  }
  sink.check("checkpoint");
}

void load_shared_state(const std::string& file, SharedState& into) {
  Source source(file);
  if (!source.has("model")) source.fail("contains one rank's random state only; give that of rank 0");
  check_same(source, "model", source.value("model").toStringRef(), into.model);
  check_same(source, "optimizer", source.value("optimizer").toStringRef(), into.optimizer);
  check_names(source, into.weights);
  const auto weights = source.list("weight");
  const auto optimizer = source.list("optimizer_state");
  check_shapes(source, weights, tensors_of(into.weights), [&](auto i) { return into.weights[i].first; });
  check_shapes(source, optimizer, into.optimizer_state,
               [](auto i) { return fmt::format("state {} of the optimizer", i); });
  NamedTensors named;
  for (std::size_t i = 0; i < weights.size(); ++i) named.emplace_back(into.weights[i].first, weights[i]);
  if (const auto bad = what_is_not_finite(named, optimizer); !bad.empty())
    source.fail(fmt::format("contains numbers that are not finite in {}: training had diverged", bad));
  copy_all(weights, tensors_of(into.weights));
  copy_all(optimizer, into.optimizer_state);
  into.steps = source.value("steps").toInt();
}

void load_rank_state(const std::string& file, RankState& into) {
  Source source(file);
  const auto random = source.list("random");
  const auto buffers = source.list("rank_buffer");
  check_shapes(source, buffers, into.buffers, [](auto i) { return fmt::format("buffer {}", i); });
  into.rank = source.value("rank").toInt();
  into.random = random.front();
  into.device = source.has("random_device") ? source.value("random_device").toStringRef() : "cpu";
  copy_all(buffers, into.buffers);
}

}  // namespace paceline::torch_plugin
