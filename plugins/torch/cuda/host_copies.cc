// SPDX-License-Identifier: MIT
#include "torch/cuda/host_copies.h"

#include <ATen/ops/empty.h>

#include <array>

namespace paceline::cuda_plugin {
namespace {

struct IoRow {
  Io io;
  std::string_view name, words;
  bool sends;   // every inference copies its inputs
  bool pinned;  // whether the host's side of the copies is pinned
};
constexpr std::array<IoRow, 4> kIoRows{{
    {Io::kDevice, "device", "inputs on the device, outputs copied to pinned memory", false, true},
    {Io::kPinned, "pinned", "inputs and outputs copied from and to pinned memory", true, true},
    {Io::kPageable, "pageable", "inputs and outputs copied from and to pageable memory", true, false},
    {Io::kNone, "none", "inputs and outputs on the device, nothing is copied", false, true},
}};

const IoRow& row_of(Io io) {
  return kIoRows.at(static_cast<std::size_t>(io));
}

// Copies within the host, as in tests where the CPU stands for a device, need no pinned memory.
bool pins(Io io, const at::Device& device) {
  return row_of(io).pinned && device.is_cuda();
}

bool same_form(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
}

}  // namespace

std::optional<Io> io_named(std::string_view name) {
  for (const auto& row : kIoRows)
    if (row.name == name) return row.io;
  return std::nullopt;
}

std::string io_in_words(Io io) {
  return std::string(row_of(io).words);
}

bool HostCopies::bind(std::span<const TensorView> inputs, const std::vector<TensorSpec>& specs,
                      const torch_plugin::Form& form, Io io) {
  io_ = io;
  auto on_host = form;
  on_host.device = at::kCPU;
  bool same = on_device_.size() == inputs.size();
  sources_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto source = torch_plugin::copy_input(inputs[i], specs[i], on_host);
    sources_.push_back(row_of(io).sends && pins(io, form.device) ? source.pin_memory() : source);
    same = same && same_form(on_device_[i], source);
  }
  on_device_.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (same)
      on_device_[i].copy_(sources_[i]);
    else
      on_device_[i] = sources_[i].to(form.device, sources_[i].scalar_type(), false, /*copy=*/true);
  if (!row_of(io).sends) sources_.clear();
  return same;
}

void HostCopies::send() {
  for (std::size_t i = 0; i < sources_.size(); ++i)
    on_device_[i].copy_(sources_[i], pins(io_, on_device_[i].device()));
}

std::vector<at::Tensor>& HostCopies::fetch(std::span<const at::Tensor> outputs) {
  results_.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& from = outputs[i];
    auto& to = results_[i];
    const bool pinned = pins(io_, from.device());
    if (!same_form(to, from))
      to = at::empty(from.sizes(), at::TensorOptions().dtype(from.scalar_type()).pinned_memory(pinned));
    to.copy_(from, pinned);
  }
  return results_;
}

}  // namespace paceline::cuda_plugin
