// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "base/tensor.h"

namespace paceline::torch_plugin {

struct StoredTensor {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::span<const std::byte> bytes;  // row-major, little-endian; inside the file's mapping
};

// The format's word for a type, such as F32. Error(kUnsupported) for types that it does not have.
std::string_view stored_type_name(DType dtype);

// A safetensors file, mapped read-only: eight bytes of header length, a JSON header, the data. The
// constructor checks everything that is used later; Error(kData) names the file and what is wrong with it.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  [[nodiscard]] const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

 private:
  void read_header();

  std::filesystem::path path_;
  MappedFile mapping_;
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace paceline::torch_plugin
