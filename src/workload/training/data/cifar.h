// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "workload/training/data/published_file.h"

namespace paceline::workload {

// CIFAR-100: the archive as the University of Toronto publishes it.
inline constexpr PublishedFile kCifar100{
    "cifar-100-binary.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar.html",
    "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec", 168'513'733};

enum class CifarPart { kTrain, kTest };

// One part of CIFAR-100: records of a coarse label, a fine label, and 32 x 32 pixels as planes of red, green
// and blue. The train.bin (test.bin) of a folder is mapped; an archive is unpacked into this process's memory
// after its digest was checked.
class CifarRecords {
 public:
  static constexpr int kSide = 32;
  static constexpr std::size_t kRecordBytes = 2 + 3 * kSide * kSide;

  // `path` is the archive, train.bin (for the test set the test.bin beside it), or a folder that holds one of
  // them (also in cifar-100-binary). Throws Error(kIo) when nothing is there, saying what to put where;
  // Error(kData) for another size or digest and for a label above 99.
  CifarRecords(const std::filesystem::path& path, const PublishedFile& published,
               CifarPart part = CifarPart::kTrain);
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t fine_label(std::int64_t index) const;
  [[nodiscard]] const unsigned char* planes(std::int64_t index) const;

 private:
  [[nodiscard]] const unsigned char* record(std::int64_t index) const;
  void check(const std::filesystem::path& file) const;

  std::unique_ptr<MappedFile> mapped_;
  std::string unpacked_;
  const unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Whether the part is there, judged by file names. An empty path stands for the folder of cached_cifar100.
bool has_cifar100(const std::filesystem::path& path, CifarPart part);

// Fetches CIFAR-100 and unpacks it into `folder` unless it is there. Several processes may call this at once.
// Throws Error(kIo) when it cannot be fetched, saying what to put where.
std::filesystem::path cached_cifar100(const std::filesystem::path& folder, const PublishedFile& published,
                                      const std::vector<FetchTool>& tools = kFetchTools);

}  // namespace paceline::workload
