// SPDX-License-Identifier: MIT
#include "workload/training/data/tar_gz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace paceline::workload {
namespace {

constexpr std::size_t kBlock = 512;  // everything in a tar file starts at a multiple
constexpr std::size_t kNameSize = 100, kSizeAt = 124, kSizeSize = 12, kTypeAt = 156;

using Block = std::array<char, kBlock>;

class GzipStream {
 public:
  explicit GzipStream(const std::filesystem::path& path)
      : path_(path.string()), file_(gzopen(path.c_str(), "rb"), gzclose) {
    if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", path_, std::strerror(errno)));
    gzbuffer(file_.get(), 1 << 18);
  }
  [[noreturn]] void bad(std::string_view why) const {
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable .tar.gz archive: {}", path_, why));
  }
  // Returns false when the stream ends here.
  bool read(char* to, std::size_t size) {
    while (size > 0) {
      const int n = gzread(file_.get(), to, static_cast<unsigned>(std::min<std::size_t>(size, 1 << 26)));
      if (n < 0) bad(message());
      if (n == 0) return false;
      to += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }
  void skip(std::size_t size) {
    Block block;
    for (; size > 0; size -= std::min(size, kBlock))
      if (!read(block.data(), std::min(size, kBlock))) bad("it ends early");
  }

 private:
  std::string message() {
    int code = 0;
    return gzerror(file_.get(), &code);
  }
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::string_view text_of(const Block& header, std::size_t at, std::size_t size) {
  const char* begin = header.data() + at;
  return {begin, static_cast<std::size_t>(std::find(begin, begin + size, '\0') - begin)};
}

std::size_t size_of(const Block& header, const GzipStream& archive) {
  std::string_view digits = text_of(header, kSizeAt, kSizeSize);
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  std::size_t size = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), size, 8);
  if (end.ec != std::errc() || size > (std::size_t{1} << 40)) archive.bad("a header in it is damaged");
  return size;
}

std::size_t padding(std::size_t size) {
  return (kBlock - size % kBlock) % kBlock;
}

}  // namespace

std::string read_tar_gz_member(const std::filesystem::path& archive, std::string_view name) {
  GzipStream stream(archive);
  Block header;
  while (stream.read(header.data(), header.size()) && header[0] != '\0') {
    const std::size_t size = size_of(header, stream);
    const bool regular = header[kTypeAt] == '0' || header[kTypeAt] == '\0';
    if (!regular || !text_of(header, 0, kNameSize).ends_with(name)) {
      stream.skip(size + padding(size));
      continue;
    }
    std::string content(size, '\0');
    if (!stream.read(content.data(), size)) stream.bad("it ends early");
    return content;
  }
  stream.bad(fmt::format("there is no '{}' in it", name));
}

}  // namespace paceline::workload
