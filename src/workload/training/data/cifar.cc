// SPDX-License-Identifier: MIT
#include "workload/training/data/cifar.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "workload/training/data/tar_gz.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr unsigned char kFineLabels = 100;

[[noreturn]] void nothing_at(const fs::path& path, const PublishedFile& published) {
  throw Error(ErrorCode::kIo,
              fmt::format("no CIFAR-100 at '{}': fetch {} ({}) and give it, or the folder it unpacks to, as "
                          "data.path",
                          path.string(), published.url, published.page));
}

// What there is of the data set, best first.
fs::path find_file(const fs::path& path, const PublishedFile& published) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return path;
  for (const fs::path& below :
       {fs::path("train.bin"), fs::path("cifar-100-binary") / "train.bin", fs::path(published.name)})
    if (fs::is_regular_file(path / below, ignored)) return path / below;
  nothing_at(path, published);
}

void check_archive(const fs::path& file, const PublishedFile& published) {
  const auto bytes = static_cast<std::int64_t>(fs::file_size(file));
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kData, fmt::format("'{}' is not {} as published at {}: {}; fetch it again",
                                              file.string(), published.name, published.page, what));
  };
  if (bytes != published.bytes) refuse(fmt::format("{} bytes instead of {}", bytes, published.bytes));
  if (const auto digest = sha256_file(file); digest != published.sha256)
    refuse(fmt::format("its SHA-256 is {} instead of {}", digest, published.sha256));
}

}  // namespace

CifarRecords::CifarRecords(const fs::path& path, const PublishedFile& published) {
  const fs::path file = find_file(path, published);
  if (file.extension() == ".gz" || file.extension() == ".tgz") {
    check_archive(file, published);
    unpacked_ = read_tar_gz_member(file, "train.bin");
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
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is not CIFAR-100's binary version: {} bytes are no whole records of {}; is "
                            "it cut off, or CIFAR-10?",
                            file.string(), bytes_, kRecordBytes));
  for (std::int64_t i = 0; i < size(); ++i)
    if (fine_label(i) >= kFineLabels)
      throw Error(ErrorCode::kData, fmt::format("'{}' is not CIFAR-100's binary version: record {} has the "
                                                "label {}, there are {}",
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

}  // namespace paceline::workload
