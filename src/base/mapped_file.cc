// SPDX-License-Identifier: MIT
#include "base/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/display_text.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/reading.h"

namespace paceline {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto fail = [&](int why) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot read '{}': {}", shown_path(path.string()), std::strerror(why)));
  };
  const FileDescriptor file = open_regular_file(path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail(errno);
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;  // an empty file cannot be mapped
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) fail(errno);
  data_ = static_cast<const unsigned char*>(memory);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<unsigned char*>(data_), size_);
}

}  // namespace paceline
