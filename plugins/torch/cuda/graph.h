// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <span>
#include <vector>

#include "torch/program.h"

namespace paceline::cuda_plugin {

// Records one run of a program as a CUDA graph on the current stream, which must be `stream` and not the
// default one. Replays read the same inputs and write the same `outputs`. Error(kUnsupported) for what cannot
// be recorded: reading a value on the host, allocations outside LibTorch's allocator.
std::unique_ptr<at::cuda::CUDAGraph> record_graph(torch_plugin::Program& program,
                                                  std::span<const at::Tensor> inputs,
                                                  std::vector<at::Tensor>& outputs,
                                                  const c10::cuda::CUDAStream& stream);

}  // namespace paceline::cuda_plugin
