// SPDX-License-Identifier: MIT
#include "torch/training/fingerprint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/random.h"

namespace paceline::torch_plugin {
namespace {

// Four chains side by side, because a single one would wait for its own multiplications.
class Digest {
 public:
  void add(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(Block); bytes = bytes.subspan(sizeof(Block)))
      absorb(bytes.data(), sizeof(Block));
    absorb(bytes.data(), bytes.size());
    absorb_length();
  }
  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const auto lane : lanes_) all = mix64(all ^ lane);
    return all;
  }

 private:
  using Block = std::array<std::uint64_t, 4>;
  void absorb(const std::byte* data, std::size_t size) {
    Block block{};
    if (size > 0) std::memcpy(block.data(), data, size);
    length_ += size;
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = mix64(lanes_[i] ^ block[i]) + i;
  }
  void absorb_length() { lanes_[0] = mix64(lanes_[0] ^ length_); }

  Block lanes_{1, 2, 3, 4};
  std::uint64_t length_ = 0;
};

}  // namespace

std::string fingerprint_of(const std::vector<at::Tensor>& tensors) {
  Digest digest;
  for (const auto& tensor : tensors) {
    const auto plain = tensor.detach().cpu().contiguous();
    digest.add({static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()});
  }
  return fmt::format("{:016x}", digest.value());
}

}  // namespace paceline::torch_plugin
