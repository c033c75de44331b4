// SPDX-License-Identifier: MIT
#pragma once
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/foreign_text.h"

// Bytes of a file, unpacked where gzip packed it.
namespace paceline::analysis::traces {

class TraceBytes {
 public:
  static constexpr int kEnd = -1;
  // Traces shrink about 25 times. What unpacks to more than kMostUnpacked times its size, and to more than
  // kAlwaysUnpacked, was made to fill memory.
  static constexpr std::int64_t kMostUnpacked = 200, kAlwaysUnpacked = 64 << 20;

  // Throws Error(kIo) when it cannot be read or is no regular file: a pipe would never end.
  // `name`: of the file, for messages.
  // `most`: bytes, unpacked.
  TraceBytes(const std::filesystem::path& file, std::string name,
             std::int64_t most = static_cast<std::int64_t>(limit_of(Foreign::kUnpackedTrace).bytes));

  // The next byte, or kEnd. Throws Error(kIo), or Error(kData) for a file that is, or unpacks to, too much.
  int peek() { return at_ < end_ ? static_cast<unsigned char>(*at_) : fill(); }
  int get() {
    const int byte = peek();
    if (byte != kEnd) ++at_;
    return byte;
  }
  // Bytes that are available without reading; skip() must not exceed them.
  [[nodiscard]] std::string_view ready() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void skip(std::size_t count) { at_ += count; }

  [[nodiscard]] std::int64_t position() const { return before_ + (at_ - buffer_.data()); }  // unpacked
  [[nodiscard]] bool damaged() const;  // gzip could not unpack more

 private:
  int fill();

  std::string name_;
  std::int64_t most_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_{nullptr, gzclose};
  std::vector<char> buffer_;
  const char *at_ = nullptr, *end_ = nullptr;
  std::int64_t before_ = 0;  // bytes before the buffer
};

}  // namespace paceline::analysis::traces
