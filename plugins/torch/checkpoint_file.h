// SPDX-License-Identifier: MIT
// Reads weights: .safetensors, several of them by their list, or the dictionary of a torch.save.
#pragma once
#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "torch/safetensors.h"

namespace paceline::torch_plugin {

// Whether a file is a torch.save from before PyTorch 1.6, which only Python reads.
bool is_old_pickle(const std::filesystem::path& path);

// The tensors of a checkpoint, mapped or in memory as long as this lives. Error(kData) names the file and
// what is wrong with it.
class CheckpointFile {
 public:
  explicit CheckpointFile(const std::filesystem::path& path);
  [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

 private:
  void add(const std::filesystem::path& path);
  void add_indexed(const std::filesystem::path& index);
  void add_pickle(const std::filesystem::path& path);

  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::vector<at::Tensor> kept_;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace paceline::torch_plugin
