// SPDX-License-Identifier: MIT
#include "torch/cuda/graph.h"

#include "torch/errors.h"

namespace paceline::cuda_plugin {
namespace {

constexpr int kRunsBefore = 3;  // libraries choose their kernels, TorchScript observes and rewrites the graph

// A capture must be ended even after an error, because the stream cannot be used before.
class Capture {
 public:
  explicit Capture(at::cuda::CUDAGraph& graph) : graph_(graph) {
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);  // other threads may call CUDA
  }
  ~Capture() {
    if (ended_) return;
    try {
      graph_.capture_end();
    } catch (const std::exception&) {  // the error that broke it is being thrown already
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void end() {
    ended_ = true;
    graph_.capture_end();
  }

 private:
  at::cuda::CUDAGraph& graph_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<at::cuda::CUDAGraph> record_graph(torch_plugin::Program& program,
                                                  std::span<const at::Tensor> inputs,
                                                  std::vector<at::Tensor>& outputs,
                                                  const c10::cuda::CUDAStream& stream) {
  for (int run = 0; run < kRunsBefore; ++run) program.run(inputs, outputs);
  stream.synchronize();
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  torch_plugin::translate_errors(ErrorCode::kUnsupported,
                                 "the model cannot be recorded as a CUDA graph; use cuda_graph: false", [&] {
                                   Capture capture(*graph);
                                   program.run(inputs, outputs);
                                   capture.end();
                                 });
  return graph;
}

}  // namespace paceline::cuda_plugin
