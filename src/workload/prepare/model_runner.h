// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"
#include "pass/pass.h"
#include "pass/records.h"
#include "plugin/registry.h"

namespace paceline::workload {

// Runs models that exist only in memory, all in the pass's engine and on the pass's inputs.
class ModelRunner {
 public:
  // Reads the input files and loads the plug-in of the spec.
  ModelRunner(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt);
  ~ModelRunner();
  ModelRunner(const ModelRunner&) = delete;
  ModelRunner& operator=(const ModelRunner&) = delete;

  // Called with one inference; `batch` is the number of its samples.
  using Visit = std::function<void(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                                   std::int64_t batch)>;
  // Calls `visit` after each inference. An inference takes as many samples as the model's first dimension
  // says where that is a number, else one. Runs whole inferences only, for at most `samples` samples but
  // at least one inference, and returns their number. Throws Error(kData) when there are fewer samples than
  // one inference takes.
  std::int64_t run(onnx::proto::ModelProto& model, std::int64_t samples, const std::string& phase,
                   const Visit& visit);

  [[nodiscard]] std::int64_t samples() const;                             // how many there are
  [[nodiscard]] std::string engine_name() const { return engine_name_; }  // with its version

 private:
  [[nodiscard]] plugin::ModelSpec scratch_model(std::int64_t batch) const;

  const pass::PassSpec& spec_;
  pass::RecordSink& sink_;
  const std::atomic<bool>& interrupt_;
  plugin::LoadedPlugin plugin_;
  std::vector<Tensor> inputs_;
  std::filesystem::path scratch_;
  std::string engine_name_;
};

}  // namespace paceline::workload
