// SPDX-License-Identifier: MIT
#include "workload/training/data/cifar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/handle.h"
#include "base/text.h"
#include "workload/training/data/pickled_batch.h"
#include "workload/training/data/tar_gz.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void nothing_at(const fs::path& path, const CifarSet& set, std::string_view why) {
  throw Error(
      ErrorCode::kIo,
      fmt::format("no {} at '{}'{}: put {} (published at {}) there, or give it, or the folder it "
                  "unpacks to, or torchvision's {}, as data.path",
                  set.name, path.string(), why, set.published.name, set.published.page, set.pickled_folder));
}

constexpr const char* kFetchLock = "fetch.lock";
constexpr std::string_view kBinary = ".bin", kPickled = "";
// Folders below data.path where files of either version may be; empty: data.path itself.
struct Place {
  std::string_view CifarSet::*folder;
  std::string_view ending;
};
constexpr std::array kPlaces{Place{nullptr, kBinary}, Place{&CifarSet::folder, kBinary},
                             Place{nullptr, kPickled}, Place{&CifarSet::pickled_folder, kPickled}};

std::vector<std::string> files_of(const CifarSet& set, CifarPart part, std::string_view ending) {
  auto names = split(part == CifarPart::kTrain ? set.train : set.test, ',');
  for (auto& name : names) name += ending;
  return names;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_archive(const fs::path& file) {
  return file.extension() == ".gz" || file.extension() == ".tgz";
}

std::optional<fs::path> file_beside(const fs::path& train, const CifarSet& set) {
  const auto test = train.parent_path() / files_of(set, CifarPart::kTest, train.extension().string()).front();
  return is_file(test) ? std::optional(test) : std::nullopt;
}

// The files to read the part from: those of the part, else the archive; empty: there are none.
std::vector<fs::path> find_files(const fs::path& path, const CifarSet& set, CifarPart part) {
  if (is_file(path)) {
    if (part == CifarPart::kTrain || is_archive(path)) return {path};
    const auto test = file_beside(path, set);
    return test ? std::vector{*test} : std::vector<fs::path>{};
  }
  for (const Place& place : kPlaces) {
    std::vector<fs::path> files;
    for (const auto& name : files_of(set, part, place.ending))
      files.push_back((place.folder ? path / (set.*place.folder) : path) / name);
    const auto missing = std::ranges::find_if_not(files, is_file);
    if (missing == files.end()) return files;
    if (missing != files.begin())
      throw Error(ErrorCode::kIo, fmt::format("{} is not whole: '{}' is missing beside '{}'", set.name,
                                              missing->string(), files.front().string()));
  }
  if (is_file(path / set.published.name)) return {path / set.published.name};
  return {};
}

// Locks the folder for one process at a time.
FileDescriptor lock_folder(const fs::path& folder) {
  FileDescriptor lock(::open((folder / kFetchLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock) ::flock(lock.get(), LOCK_EX);
  return lock;
}

void fetch_and_unpack(const fs::path& folder, const CifarSet& set, const std::vector<FetchTool>& tools) {
  const auto archive = folder / set.published.name;
  if (!fs::exists(archive)) fetch_published(set.published, folder, tools);
  check_published(archive, set.published);
  make_directories(folder / set.folder);
  for (const auto part : {CifarPart::kTest, CifarPart::kTrain})  // training data last: then all is there
    for (const auto& name : files_of(set, part, kBinary))
      write_file_atomic(folder / set.folder / name, read_tar_gz_member(archive, name));
}

std::span<const unsigned char> unpacked_bytes(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

}  // namespace

CifarRecords::CifarRecords(const fs::path& path, const CifarSet& set, CifarPart part) {
  const auto files = find_files(path, set, part);
  if (files.empty()) nothing_at(path, set, "");
  if (!is_archive(files.front())) {
    for (const auto& file : files) add_file(file, set);
    return;
  }
  check_published(files.front(), set.published);
  for (const auto& name : files_of(set, part, kBinary)) {
    Piece piece;
    piece.own = read_tar_gz_member(files.front(), name);
    const auto bytes = unpacked_bytes(piece.own);
    add_binary(std::move(piece), bytes, files.front().string(), set);
  }
}

void CifarRecords::add_file(const fs::path& file, const CifarSet& set) {
  if (const auto why = too_large(file, Foreign::kCifar))
    throw Error(ErrorCode::kData, fmt::format("'{}' {}", file.string(), *why));
  Piece piece;
  piece.mapped = std::make_unique<MappedFile>(file);
  const std::span bytes(piece.mapped->data(), piece.mapped->size());
  if (file.extension() != kBinary && is_pickled(bytes))
    add_pickled(std::move(piece), bytes, file.string(), set);
  else
    add_binary(std::move(piece), bytes, file.string(), set);
}

void CifarRecords::add_binary(Piece piece, std::span<const unsigned char> bytes, const std::string& file,
                              const CifarSet& set) {
  const std::size_t stride = set.label_bytes + kPixelBytes;
  if (bytes.empty() || bytes.size() % stride != 0)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is not {}'s binary version: {} bytes are no whole records of {}; is it cut "
                            "off, or the other CIFAR?",
                            file, set.name, bytes.size(), stride));
  piece.first = size();
  piece.stride = stride;
  piece.planes = bytes.data() + set.label_bytes;
  pieces_.push_back(std::move(piece));
  for (std::size_t i = 0; i < bytes.size() / stride; ++i) {
    labels_.push_back(bytes[i * stride + set.label_bytes - 1]);
    if (labels_.back() >= set.classes)
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' is not {}'s binary version: record {} has the label {}, there are {}",
                              file, set.name, i, labels_.back(), set.classes));
  }
}

void CifarRecords::add_pickled(Piece piece, std::span<const unsigned char> bytes, const std::string& file,
                               const CifarSet& set) {
  auto batch = read_pickled_batch(bytes, set.label_key, file);
  const auto beyond = std::ranges::find_if(batch.labels, [&](auto label) { return label >= set.classes; });
  if (beyond != batch.labels.end())
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is not {}: picture {} has the class {}, there are {}", file, set.name,
                            beyond - batch.labels.begin(), *beyond, set.classes));
  piece.first = size();
  piece.stride = kPixelBytes;
  labels_.insert(labels_.end(), batch.labels.begin(), batch.labels.end());
  piece.planes = batch.pixels.data();
  piece.own = std::move(batch.copy);
  pieces_.push_back(std::move(piece));
}

const unsigned char* CifarRecords::planes(std::int64_t index) const {
  const auto piece =
      std::find_if(pieces_.rbegin(), pieces_.rend(), [&](const Piece& one) { return one.first <= index; });
  return piece->planes + static_cast<std::size_t>(index - piece->first) * piece->stride;
}

bool has_cifar(const fs::path& path, const CifarSet& set, CifarPart part) {
  return !find_files(path.empty() ? cache_dir() / "data" : path, set, part).empty();
}

bool awaits_cifar(const fs::path& path) {
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return !unknown;
  if (!fs::is_directory(path, unknown)) return false;
  return fs::exists(path / kFetchLock, unknown) || fs::is_empty(path, unknown);
}

fs::path cached_cifar(const fs::path& folder, const CifarSet& set, const std::vector<FetchTool>& tools) {
  try {
    make_directories(folder);
    const FileDescriptor lock = lock_folder(folder);
    const auto found = find_files(folder, set, CifarPart::kTrain);
    if (found.empty() || is_archive(found.front())) fetch_and_unpack(folder, set, tools);
  } catch (const Error& error) {
    nothing_at(folder, set, fmt::format(" ({})", error.what()));
  }
  return folder;
}

}  // namespace paceline::workload
