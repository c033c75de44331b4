// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>

namespace paceline::workload {

// Maps a whole file into memory, read-only; processes that map the same file share it. It must not shrink
// meanwhile.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws Error(kIo) naming the path
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] const unsigned char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace paceline::workload
