// SPDX-License-Identifier: MIT
#include "workload/training/data/cifar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/handle.h"
#include "workload/training/data/tar_gz.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr unsigned char kFineLabels = 100;

[[noreturn]] void nothing_at(const fs::path& path, const PublishedFile& published, std::string_view why) {
  throw Error(ErrorCode::kIo, fmt::format("no CIFAR-100 at '{}'{}: put {} (published at {}) there, or give "
                                          "it, or the folder it unpacks to, as data.path",
                                          path.string(), why, published.name, published.page));
}

std::string file_of(CifarPart part) {
  return part == CifarPart::kTrain ? "train.bin" : "test.bin";
}

bool is_archive(const fs::path& file) {
  return file.extension() == ".gz" || file.extension() == ".tgz";
}

// The file to read the part from: the part itself, else the archive.
std::optional<fs::path> find_file(const fs::path& path, const PublishedFile& published,
                                  CifarPart part = CifarPart::kTrain) {
  std::error_code ignored;
  const auto name = file_of(part);
  const bool whole = part == CifarPart::kTrain || is_archive(path);
  if (fs::is_regular_file(path, ignored)) {
    if (whole) return path;
    return fs::is_regular_file(path.parent_path() / name, ignored) ? std::optional(path.parent_path() / name)
                                                                   : std::nullopt;
  }
  for (const fs::path& below :
       {fs::path(name), fs::path("cifar-100-binary") / name, fs::path(published.name)})
    if (fs::is_regular_file(path / below, ignored)) return path / below;
  return std::nullopt;
}

// Locks the folder for one process at a time.
FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor lock(::open((folder / "fetch.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock) ::flock(lock.get(), LOCK_EX);
  return lock;
}

void fetch_and_unpack(const fs::path& folder, const PublishedFile& published,
                      const std::vector<FetchTool>& tools) {
  if (!fs::exists(folder / published.name)) fetch_published(published, folder, tools);
  check_published(folder / published.name, published);
  make_directories(folder / "cifar-100-binary");
  for (const auto part : {CifarPart::kTest, CifarPart::kTrain})  // train.bin last: then all is there
    write_file_atomic(folder / "cifar-100-binary" / file_of(part),
                      read_tar_gz_member(folder / published.name, file_of(part)));
}

}  // namespace

CifarRecords::CifarRecords(const fs::path& path, const PublishedFile& published, CifarPart part) {
  const auto found = find_file(path, published, part);
  if (!found) nothing_at(path, published, "");
  const fs::path& file = *found;
  if (is_archive(file)) {
    check_published(file, published);
    unpacked_ = read_tar_gz_member(file, file_of(part));
    data_ = reinterpret_cast<const unsigned char*>(unpacked_.data());
    bytes_ = unpacked_.size();
  } else {
    mapped_ = std::make_unique<MappedFile>(file);
    data_ = mapped_->data();
    bytes_ = mapped_->size();
  }
  check(file);
}

void CifarRecords::check(const fs::path& file) const {
  if (bytes_ == 0 || bytes_ % kRecordBytes != 0)
    throw Error(ErrorCode::kData, fmt::format("'{}' is not CIFAR-100's binary version: {} bytes are no whole "
                                              "records of {}; is it cut off, or CIFAR-10?",
                                              file.string(), bytes_, kRecordBytes));
  for (std::int64_t i = 0; i < size(); ++i)
    if (fine_label(i) >= kFineLabels)
      throw Error(
          ErrorCode::kData,
          fmt::format("'{}' is not CIFAR-100's binary version: record {} has the label {}, there are {}",
                      file.string(), i, fine_label(i), kFineLabels));
}

std::int64_t CifarRecords::size() const {
  return static_cast<std::int64_t>(bytes_ / kRecordBytes);
}

const unsigned char* CifarRecords::record(std::int64_t index) const {
  return data_ + static_cast<std::size_t>(index) * kRecordBytes;
}

std::int64_t CifarRecords::fine_label(std::int64_t index) const {
  return record(index)[1];
}

const unsigned char* CifarRecords::planes(std::int64_t index) const {
  return record(index) + 2;
}

bool has_cifar100(const fs::path& path, CifarPart part) {
  return find_file(path.empty() ? cache_dir() / "data" : path, kCifar100, part).has_value();
}

fs::path cached_cifar100(const fs::path& folder, const PublishedFile& published,
                         const std::vector<FetchTool>& tools) {
  try {
    make_directories(folder);
    const FileDescriptor lock = lock_folder(folder);
    const auto found = find_file(folder, published);
    if (!found || found->filename() == published.name) fetch_and_unpack(folder, published, tools);
  } catch (const Error& error) {
    nothing_at(folder, published, fmt::format(" ({})", error.what()));
  }
  return folder;
}

}  // namespace paceline::workload
