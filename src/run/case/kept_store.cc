// SPDX-License-Identifier: MIT
#include "run/case/kept_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string_view>
#include <utility>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/reading.h"
#include "base/sha256.h"

namespace paceline::run {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::int64_t kDigest = 64;                            // hexadecimal digits at the end of an entry
constexpr std::int64_t kLongestHead = std::int64_t{64} << 20;   // bytes of its first line
constexpr std::uintmax_t kStaysFree = std::uintmax_t{1} << 30;  // of the disk
constexpr auto kAbandoned = std::chrono::hours(1);  // after which an unfinished file belongs to nobody

[[noreturn]] void fail(const fs::path& file) {
  throw Error(ErrorCode::kIo, "cannot use '" + file.string() + "'");
}

// Hands `bytes` bytes from `offset` on to `take`, in pieces. False: the file ends before.
bool read_range(const FileDescriptor& fd, std::int64_t offset, std::int64_t bytes,
                const std::function<void(std::string_view)>& take) {
  std::string buffer(kChunk, '\0');
  while (bytes > 0) {
    const auto wanted = std::min(static_cast<std::size_t>(bytes), kChunk);
    const auto n = ::pread(fd.get(), buffer.data(), wanted, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    take({buffer.data(), static_cast<std::size_t>(n)});
    offset += n, bytes -= n;
  }
  return true;
}

void write_all(const FileDescriptor& fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const auto n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(file);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// An entry: a line of JSON, the files one after the other, the digest of both.
struct Opened {
  FileDescriptor fd;
  Json head;
  std::int64_t begin = 0, end = 0;  // of the files
};

std::string digest_of(const FileDescriptor& fd, std::int64_t bytes) {
  Sha256 hash;
  const bool whole = read_range(fd, 0, bytes, [&](std::string_view piece) { hash.update(piece); });
  return whole ? hash.finish_hex() : std::string();
}

std::string first_line(const FileDescriptor& fd, std::int64_t bytes) {
  std::string line;
  for (std::int64_t at = 0; at < std::min(bytes, kLongestHead);) {
    const auto before = line.size();
    read_range(fd, at, std::min<std::int64_t>(kChunk, bytes - at), [&](auto piece) { line += piece; });
    if (line.size() == before) return {};
    if (const auto end = line.find('\n', before); end != std::string::npos) return line.substr(0, end);
    at = static_cast<std::int64_t>(line.size());
  }
  return {};
}

std::int64_t bytes_of(const Json& files) {
  std::int64_t sum = 0;
  for (const auto& file : files) sum += file.at("bytes").get<std::int64_t>();
  return sum;
}

// nullopt: the file is cut, or something else than what was written.
std::optional<Opened> open_entry(const fs::path& file) try {
  Opened entry{open_regular_file(file), {}};
  struct stat info {};
  if (::fstat(entry.fd.get(), &info) != 0 || info.st_size <= kDigest) return std::nullopt;
  entry.end = info.st_size - kDigest;
  std::string digest;
  read_range(entry.fd, entry.end, kDigest, [&](auto piece) { digest += piece; });
  if (digest.size() != kDigest || digest != digest_of(entry.fd, entry.end)) return std::nullopt;
  const auto line = first_line(entry.fd, entry.end);
  entry.head = json_or_discarded(line);
  entry.begin = static_cast<std::int64_t>(line.size()) + 1;
  if (!entry.head.is_object() || entry.begin + bytes_of(entry.head.at("files")) != entry.end)
    return std::nullopt;
  return entry;
} catch (const Error&) {
  return std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
}

struct KeptFile {
  fs::path path;
  std::size_t stem = 0;
  std::string suffix;
  std::int64_t bytes = 0;
};

// In the order of their names.
std::vector<KeptFile> files_of(const std::vector<fs::path>& stems) {
  std::vector<KeptFile> files;
  for (std::size_t i = 0; i < stems.size(); ++i) {
    const auto name = stems[i].filename().string();
    for (const auto& entry : fs::directory_iterator(stems[i].parent_path())) {
      const auto other = entry.path().filename().string();
      if (!other.starts_with(name) || !entry.is_regular_file()) continue;
      files.push_back(
          {entry.path(), i, other.substr(name.size()), static_cast<std::int64_t>(entry.file_size())});
    }
  }
  std::ranges::sort(files, {}, &KeptFile::path);
  return files;
}

// Writes a file beside its place; it gets its name when all is there.
class Unfinished {
 public:
  explicit Unfinished(fs::path file)
      : file_(std::move(file)),
        part_(unfinished_file(file_)),
        fd_(::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) {
    if (!fd_) fail(file_);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!part_.empty()) ::unlink(part_.c_str());
  }
  void write(std::string_view bytes) { write_all(fd_, bytes, file_); }
  void sync() {
    if (::fdatasync(fd_.get()) != 0 && errno != EINVAL) fail(file_);
  }
  void finish() {
    if (::rename(part_.c_str(), file_.c_str()) != 0) fail(file_);
    part_.clear();
  }

 private:
  fs::path file_, part_;
  FileDescriptor fd_;
};

void write_entry(const fs::path& target, const std::string& head, const std::vector<KeptFile>& files) {
  Unfinished entry(target);
  Sha256 hash;
  const auto add = [&](std::string_view piece) {
    hash.update(piece);
    entry.write(piece);
  };
  add(head);
  for (const auto& file : files)
    if (!read_range(open_regular_file(file.path), 0, file.bytes, add)) fail(file.path);
  entry.write(hash.finish_hex());
  entry.sync();
  entry.finish();
}

// All of them, or none.
void write_files(const Opened& entry, const std::vector<fs::path>& stems) {
  std::vector<fs::path> written;
  try {
    auto at = entry.begin;
    for (const auto& row : entry.head.at("files")) {
      const auto& stem = stems.at(row.at("stem").get<std::size_t>());
      const fs::path target = stem.string() + row.at("suffix").get<std::string>();
      const auto bytes = row.at("bytes").get<std::int64_t>();
      Unfinished file(target);
      if (!read_range(entry.fd, at, bytes, [&](auto piece) { file.write(piece); })) fail(target);
      file.finish();
      written.push_back(target);
      at += bytes;
    }
  } catch (...) {
    std::error_code ignored;
    for (const auto& file : written) fs::remove(file, ignored);
    throw;
  }
}

}  // namespace

KeptStore::Taken KeptStore::take(const std::string& key, const std::vector<fs::path>& stems,
                                 const Refuse& refuse) const {
  std::error_code error;
  if (folder_.empty() || !fs::exists(file_of(key), error)) return {};
  const auto entry = open_entry(file_of(key));
  if (!entry) return {{}, "it is cut short, or was altered"};
  try {
    if (entry->head.at("key") != key) return {{}, "it belongs to something else"};
    const Json& about = entry->head.at("about");
    if (auto why = refuse ? refuse(about) : std::string(); !why.empty()) return {{}, why};
    write_files(*entry, stems);
    ::utimensat(AT_FDCWD, file_of(key).c_str(), nullptr, 0);  // used now; not in a folder of somebody else
    return {about, {}};
  } catch (const std::exception& e) {
    return {{}, plain_reason(e)};
  }
}

void KeptStore::keep(const std::string& key, const Json& about, const std::vector<fs::path>& stems) const {
  if (folder_.empty()) return;
  try {
    const auto files = files_of(stems);
    Json rows = Json::array();
    for (const auto& f : files) rows.push_back({{"stem", f.stem}, {"suffix", f.suffix}, {"bytes", f.bytes}});
    const auto head = Json{{"key", key}, {"about", about}, {"files", rows}}.dump() + "\n";
    const auto bytes = static_cast<std::int64_t>(head.size()) + bytes_of(rows) + kDigest;
    if (bytes > limit_bytes_ / 2) return;
    fs::create_directories(folder_);
    if (fs::space(folder_).available < static_cast<std::uintmax_t>(bytes) + kStaysFree) return;
    write_entry(file_of(key), head, files);
    make_room(limit_bytes_);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): keeping is a convenience
  }
}

// Removes the least recently used entries until those that stay have `bytes` at most.
void KeptStore::make_room(std::int64_t bytes) const {
  struct Entry {
    fs::file_time_type used;
    std::int64_t bytes = 0;
    fs::path file;
  };
  std::vector<Entry> entries;
  std::int64_t sum = 0;
  std::error_code gone;  // another process makes room, too
  for (const auto& one : fs::directory_iterator(folder_)) {
    const auto used = one.last_write_time(gone);
    const auto size = static_cast<std::int64_t>(one.file_size(gone));
    if (gone) continue;
    const bool unfinished = one.path().filename().string().find(".part") != std::string::npos;
    if (unfinished && fs::file_time_type::clock::now() - used < kAbandoned) continue;
    if (unfinished) fs::remove(one.path(), gone);
    if (unfinished) continue;
    entries.push_back({used, size, one.path()});
    sum += size;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const auto& entry : entries) {
    if (sum <= bytes) return;
    fs::remove(entry.file, gone);
    sum -= entry.bytes;
  }
}

}  // namespace paceline::run
