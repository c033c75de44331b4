// SPDX-License-Identifier: MIT
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace paceline::torch_plugin {

// Writes a file piece by piece. After an error it remembers the reason and accepts the rest silently, because
// the archive's writer ends the process when a write fails.
class FileSink {
 public:
  // Replaces what has the name, also a link that somebody put there. A device stays, and is written to.
  explicit FileSink(std::string file) : file_(std::move(file)) {
    struct stat info {};
    const bool device =
        ::lstat(file_.c_str(), &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
    if (!device) ::unlink(file_.c_str());
    descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CLOEXEC | (device ? 0 : O_CREAT | O_EXCL), 0644);
    if (descriptor_ < 0) error_ = errno;
  }
  ~FileSink() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  void write(const void* data, std::size_t size) {
    std::size_t done = 0;
    while (error_ == 0 && done < size) {
      const auto now = ::write(descriptor_, static_cast<const char*>(data) + done, size - done);
      if (now >= 0)
        done += static_cast<std::size_t>(now);
      else if (errno != EINTR)
        error_ = errno;
    }
  }
  [[nodiscard]] int error() const { return error_; }
  // Throws Error(kIo) if anything was not written; `what` is the word for the file.
  void check(const char* what) const {
    if (error_ != 0)
      throw Error(ErrorCode::kIo,
                  fmt::format("cannot write {} '{}': {}", what, file_, std::strerror(error_)));
  }

 private:
  std::string file_;
  int descriptor_ = -1;
  int error_ = 0;
};

}  // namespace paceline::torch_plugin
