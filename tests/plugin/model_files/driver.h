// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "plugin/model_files/models.h"
#include "plugin/registry.h"

// Drives a built plug-in as a worker does; PLUGIN_FILE and ENGINE say which.
namespace paceline::model_files_test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Settings {
  std::string precision = "fp32";
  int threads = 1;
  std::map<std::string, std::string> options{};
  bool precision_of_file = false;
};

std::unique_ptr<plugin::Engine> make_engine();
std::unique_ptr<plugin::Engine> load(const std::string& file, const std::vector<TensorSpec>& inputs,
                                     const Settings& settings = {});
Tensor tensor(const std::string& name, const Shape& shape, const std::vector<float>& data);
Tensor tensor(const std::string& name, const Shape& shape, const std::vector<std::int64_t>& data);
std::vector<TensorSpec> specs_of(const std::vector<Tensor>& data);
void bind(plugin::Engine& engine, std::vector<Tensor>& data, plugin::Slot slot = 0);

// One inference; an output as float32.
std::vector<float> run(plugin::Engine& engine, std::size_t output = 0, plugin::Slot slot = 0);
// max|a-b| / max|b|; infinite for different lengths.
double relative_error(const std::vector<float>& a, const std::vector<float>& b);
std::optional<std::string> setting(const plugin::Engine& engine, const std::string& name);

// The error of a call; no code when it throws none.
template <typename Call>
std::pair<std::optional<ErrorCode>, std::string> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& e) {
    return {e.code(), e.what()};
  }
  return {std::nullopt, ""};
}

}  // namespace paceline::model_files_test
