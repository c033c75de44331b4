// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/registry.h"

// Drives the built plug-in as a worker does, through the shared object alone.
namespace paceline::torch_test {

const plugin::LoadedPlugin& torch_plugin();

// Inputs of a built-in model for a batch and, for language models, a sequence length.
std::vector<TensorSpec> inputs_of(const std::string& model, std::int64_t batch, std::int64_t length = 8);

// Seeded data: normal images, token ids, masks of ones. Sample i is the same whatever the batch.
std::vector<Tensor> data_for(const std::vector<TensorSpec>& specs);

struct Case {
  std::string model;
  std::string engine = "eager";
  std::string precision = "fp32";
  std::string layout = "contiguous";
  std::int64_t batch = 2;
  std::int64_t length = 8;
  int threads = 2;
  std::string weights_file{};
  std::uint64_t seed = 0;
};

// Loads with the case's batch; the engine is ready to bind.
std::unique_ptr<plugin::Engine> load(const Case& c);
// Loads a TorchScript file with one input.
std::unique_ptr<plugin::Engine> load_file(const std::string& file, const Shape& shape,
                                          const std::string& engine, const std::string& precision = "fp32");

void bind(plugin::Engine& engine, std::vector<Tensor>& data);
// One inference; first output as float32 whatever its type.
std::vector<float> run(plugin::Engine& engine, plugin::Slot slot = 0);
std::vector<float> as_floats(const TensorView& view);

// Value of an info() setting.
std::optional<std::string> setting(const plugin::Engine& engine, const std::string& name);
// max|a-b| / max|b|
double relative_error(const std::vector<float>& a, const std::vector<float>& b);

// The error a call throws; empty code when it throws none.
template <typename Call>
std::pair<std::optional<ErrorCode>, std::string> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {std::nullopt, ""};
}

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace paceline::torch_test
