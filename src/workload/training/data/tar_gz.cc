// SPDX-License-Identifier: MIT
#include "workload/training/data/tar_gz.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace paceline::workload {
namespace {

constexpr std::size_t kReadSize = std::size_t{1} << 18;
constexpr std::int64_t kMostBytes = std::int64_t{1}
                                    << 32;  // of a member: more than any data set that is read so

class TarGz {
 public:
  explicit TarGz(const std::filesystem::path& path)
      : path_(path.string()), archive_(archive_read_new(), archive_read_free) {
    if (::access(path.c_str(), R_OK) != 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", path_, std::strerror(errno)));
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    if (archive_read_open_filename(archive_.get(), path.c_str(), kReadSize) != ARCHIVE_OK) bad();
  }
  // Goes to the next member; nullptr at the end.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(archive_.get(), &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    if (code < ARCHIVE_WARN) bad();
    return entry;
  }
  // The content of the member that next() went to.
  std::string read(std::int64_t size) {
    if (size < 0 || size > kMostBytes) bad("a header in it is damaged");
    std::string content(static_cast<std::size_t>(size), '\0');
    const auto n = archive_read_data(archive_.get(), content.data(), content.size());
    if (n < 0) bad();
    if (n != size) bad("it ends early");
    return content;
  }
  [[noreturn]] void bad(const std::string& why) const {
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable .tar.gz archive: {}", path_, why));
  }

 private:
  [[noreturn]] void bad() const {
    const char* why = archive_error_string(archive_.get());
    bad(why ? why : "it is damaged");
  }
  std::string path_;
  std::unique_ptr<::archive, int (*)(::archive*)> archive_;
};

}  // namespace

std::string read_tar_gz_member(const std::filesystem::path& archive, std::string_view name) {
  TarGz stream(archive);
  while (auto* entry = stream.next())
    if (archive_entry_filetype(entry) == AE_IFREG &&
        std::string_view(archive_entry_pathname(entry)).ends_with(name))
      return stream.read(archive_entry_size(entry));
  stream.bad(fmt::format("there is no '{}' in it", name));
}

}  // namespace paceline::workload
