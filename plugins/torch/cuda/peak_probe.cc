// SPDX-License-Identifier: MIT
#include "torch/cuda/peak_probe.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/ops/_int_mm.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "torch/cuda/device.h"
#include "torch/cuda/switches.h"
#include "torch/errors.h"

namespace paceline::cuda_plugin {
namespace {

using plugin::ProbedOperation;

constexpr double kWarmUpS = 1;          // of the clock, under load, before the first figure
constexpr double kTimeOfFigureS = 0.2;  // repetitions of one operation take as long together
constexpr int kFewest = 10, kMost = 200;
constexpr double kLongestS = 0.1;  // a repetition that takes longer is of a size too large for this device
constexpr std::array<std::int64_t, 3> kSizes{4096, 8192, 16384};
constexpr std::int64_t kWithinBytes = std::int64_t{1} << 30, kHostBytes = std::int64_t{256} << 20;

// Repeats an operation and returns what each took, in ns of the device.
class Repeater {
 public:
  explicit Repeater(c10::cuda::CUDAStream stream) : stream_(stream) {}

  std::vector<double> operator()(const std::function<void()>& operation) const {
    operation();  // chooses its kernel, allocates
    const double once_ns = times_of(operation, 1).front();
    if (once_ns > kLongestS * 1e9) return {once_ns};
    const auto wanted = static_cast<int>(kTimeOfFigureS * 1e9 / std::max(once_ns, 1.0));
    return times_of(operation, std::clamp(wanted, kFewest, kMost));
  }

 private:
  // All are started before the first is waited for, so that the device never waits for the host.
  [[nodiscard]] std::vector<double> times_of(const std::function<void()>& operation, int count) const {
    std::vector<at::cuda::CUDAEvent> events;
    for (int i = 0; i <= count; ++i) events.emplace_back(cudaEventDefault);
    events.front().record(stream_);
    for (int i = 0; i < count; ++i) {
      operation();
      events[static_cast<std::size_t>(i) + 1].record(stream_);
    }
    stream_.synchronize();
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      times.push_back(static_cast<double>(events[at].elapsed_time(events[at + 1])) * 1e6);
    }
    return times;
  }

  c10::cuda::CUDAStream stream_;
};

at::Tensor random_matrix(std::int64_t size, at::ScalarType type, const at::Device& device) {
  const auto on = at::TensorOptions().device(device);
  if (type == at::kChar) return at::randint(-128, 128, {size, size}, on.dtype(at::kChar));
  return at::randn({size, size}, on.dtype(at::kFloat)).to(type);
}

struct ProductRow {
  const char* precision;
  at::ScalarType type;
  bool tf32;
  int capability;  // the first with hardware for it
};
constexpr std::array<ProductRow, 6> kProducts{{{"fp32", at::kFloat, false, 0},
                                               {"tf32", at::kFloat, true, 80},
                                               {"fp16", at::kHalf, false, 70},
                                               {"bf16", at::kBFloat16, false, 80},
                                               {"fp8", at::kFloat8_e4m3fn, false, 89},
                                               {"int8", at::kChar, false, 75}}};

class PeakProbe : public plugin::DeviceProbe {
 public:
  std::vector<ProbedOperation> measure(const std::string& device) override;

 private:
  // An operation that fails here costs its figure alone.
  void add(std::string operation, std::string variant, std::string detail, double amount,
           const std::function<std::vector<double>()>& times);
  void warm_up() const;
  void add_products(const ProductRow& row);
  void add_convolution(const ProductRow& row);
  void add_copy(const char* way, std::int64_t bytes, double counted, const std::function<void()>& copy);
  void add_copies();

  at::Device device_{at::kCUDA};
  int capability_ = 0;
  std::optional<c10::cuda::CUDAStream> stream_;
  std::vector<ProbedOperation> found_;
};

void PeakProbe::add(std::string operation, std::string variant, std::string detail, double amount,
                    const std::function<std::vector<double>()>& times) {
  ProbedOperation one{std::move(operation), std::move(variant), std::move(detail), amount, {}};
  try {
    one.times_ns = times();
  } catch (const std::exception& e) {
    one.detail = torch_plugin::reason_of(e);
  }
  c10::cuda::CUDACachingAllocator::emptyCache();
  found_.push_back(std::move(one));
}

// Clocks rise under load, and settle where power and heat allow.
void PeakProbe::warm_up() const {
  const auto a = random_matrix(kSizes.front(), at::kHalf, device_);
  auto out = at::empty_like(a);
  const Repeater repeat(*stream_);
  for (double spent_ns = 0; spent_ns < kWarmUpS * 1e9;)
    for (const double ns : repeat([&] { at::mm_out(out, a, a); })) spent_ns += ns;
}

void PeakProbe::add_products(const ProductRow& row) {
  for (const auto size : kSizes) {
    const auto flops =
        2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    add("product", row.precision, fmt::format("{0} x {0} x {0}", size), flops, [&] {
      at::globalContext().setAllowTF32CuBLAS(row.tf32);
      const auto a = random_matrix(size, row.type, device_), b = random_matrix(size, row.type, device_);
      const Repeater repeat(*stream_);
      if (row.type == at::kChar) return repeat([&] { (void)at::_int_mm(a, b); });
      if (row.type == at::kFloat8_e4m3fn) {
        const auto scale = at::ones({}, at::TensorOptions().dtype(at::kFloat).device(device_));
        const auto b_columns = b.t();
        return repeat([&] { (void)at::_scaled_mm(a, b_columns, scale, scale, {}, {}, at::kBFloat16, true); });
      }
      auto out = at::empty_like(a);
      return repeat([&] { at::mm_out(out, a, b); });
    });
    const auto& last = found_.back().times_ns;
    if (last.empty() || last.front() * 8 > kLongestS * 1e9)
      return;  // the next size takes eight times as long
  }
}

// 3 x 3, 256 channels, 56 x 56, batch 64, channels_last where tensor cores take it.
void PeakProbe::add_convolution(const ProductRow& row) {
  constexpr std::int64_t kBatch = 64, kChannels = 256, kSide = 56;
  const bool half = row.type == at::kHalf || row.type == at::kBFloat16;
  const double flops = 2.0 * kBatch * kChannels * kChannels * 9 * kSide * kSide;
  add("convolution", row.precision, "3 x 3, 256 channels, 56 x 56, batch 64", flops, [&] {
    at::globalContext().setAllowTF32CuDNN(row.tf32);
    const auto on = at::TensorOptions().dtype(at::kFloat).device(device_);
    const auto format = half ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const auto x = at::randn({kBatch, kChannels, kSide, kSide}, on).to(row.type).contiguous(format);
    const auto w = at::randn({kChannels, kChannels, 3, 3}, on).to(row.type).contiguous(format);
    return Repeater(*stream_)([&] { (void)at::conv2d(x, w, {}, 1, 1); });
  });
}

void PeakProbe::add_copy(const char* way, std::int64_t bytes, double counted,
                         const std::function<void()>& copy) {
  add("copy", way, fmt::format("{} MiB", bytes >> 20), counted * static_cast<double>(bytes),
      [&] { return Repeater(*stream_)(copy); });
}

void PeakProbe::add_copies() {
  const auto bytes = at::TensorOptions().dtype(at::kByte);
  const auto random = [&](std::int64_t size, const at::Device& device) {
    return at::randint(0, 256, {size}, bytes.device(device));
  };
  try {
    const auto from = random(kWithinBytes, device_);
    auto to = at::empty_like(from);
    add_copy("within_device", kWithinBytes, 2, [&] { to.copy_(from, true); });
    auto on_device = random(kHostBytes, device_);
    auto pageable = random(kHostBytes, at::kCPU);
    auto pinned = pageable.pin_memory();
    add_copy("pinned_to_device", kHostBytes, 1, [&] { on_device.copy_(pinned, true); });
    add_copy("pinned_to_host", kHostBytes, 1, [&] { pinned.copy_(on_device, true); });
    add_copy("pageable_to_device", kHostBytes, 1, [&] { on_device.copy_(pageable); });
    add_copy("pageable_to_host", kHostBytes, 1, [&] { pageable.copy_(on_device); });
  } catch (const std::exception& e) {
    found_.push_back({"copy", "within_device", torch_plugin::reason_of(e), 0, {}});
  }
}

std::vector<ProbedOperation> PeakProbe::measure(const std::string& device) {
  const auto index = static_cast<c10::DeviceIndex>(device_index(device, count_devices()));
  device_ = at::Device(at::kCUDA, index);
  capability_ = describe_device(index).capability;
  const c10::InferenceMode inference;
  torch_plugin::translate_errors(ErrorCode::kUnavailable, "the device cannot be measured", [&] {
    const c10::cuda::CUDAGuard on(index);
    stream_ = c10::cuda::getStreamFromPool(false, index);
    const c10::cuda::CUDAStreamGuard guard(*stream_);
    at::globalContext().setBenchmarkCuDNN(true);
    warm_up();
    for (const auto& row : kProducts)
      if (capability_ >= row.capability) {
        add_products(row);
        if (row.type != at::kChar && row.type != at::kFloat8_e4m3fn) add_convolution(row);
      }
    add_copies();
  });
  return std::move(found_);
}

}  // namespace

std::unique_ptr<plugin::DeviceProbe> make_peak_probe() {
  return std::make_unique<PeakProbe>();
}

}  // namespace paceline::cuda_plugin
