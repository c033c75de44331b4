// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "fake_device.h"
#include "fake_plan.h"

namespace fake {

int enqueued();   // inferences in this process, also those of a recording
int profilers();  // contexts that have one

// Runs a plan whose outputs are twice its inputs. As the real one it wants its device's context, a shape for
// every open input, an address for every tensor, and one plain run before a recording; it reads what the host
// holds when a run is enqueued, and computes when the stream comes to it.
class ExecutionContext : public nvinfer1::IExecutionContext {
 public:
  ExecutionContext(const Plan& plan, nvinfer1::ILogger& logger, Context* home);
  ~ExecutionContext() noexcept override;
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;
  bool setOptimizationProfileAsync(std::int32_t profile, cudaStream_t stream) noexcept override;
  bool setInputShape(char const* name, nvinfer1::Dims const& dims) noexcept override;
  nvinfer1::Dims getTensorShape(char const* name) const noexcept override;
  std::int32_t inferShapes(std::int32_t most_names, char const** names) noexcept override;
  bool setTensorAddress(char const* name, void* address) noexcept override;
  bool enqueueV3(cudaStream_t stream) noexcept override;
  void setProfiler(nvinfer1::IProfiler* profiler) noexcept override;

 private:
  struct Run;  // what a kernel knows
  bool refuse(const std::string& why) const;
  [[nodiscard]] nvinfer1::Dims input_shape(const Tensor& input) const;
  [[nodiscard]] nvinfer1::Dims output_shape(const Tensor& output) const;
  void infer() const;
  [[nodiscard]] std::string problem_of(const Tensor& tensor) const;
  [[nodiscard]] std::string problem() const;
  [[nodiscard]] std::shared_ptr<Run> make_run() const;
  bool report_layers(cudaStream_t stream);

  const Plan& plan_;
  nvinfer1::ILogger& logger_;
  Context* home_;
  std::uint64_t activations_ = 0;
  std::size_t profile_ = 0;
  std::map<std::string, nvinfer1::Dims> shapes_;  // of inputs, as they were set
  std::map<std::string, void*> addresses_;
  mutable std::map<std::string, nvinfer1::Dims> inferred_;  // of outputs; empty: to be inferred
  bool ran_ = false;                                        // plainly, with these shapes
  int runs_ = 0;
  std::shared_ptr<int> computed_ = std::make_shared<int>(0);
  nvinfer1::IProfiler* profiler_ = nullptr;
  std::size_t profiled_ = 0;
};

}  // namespace fake
