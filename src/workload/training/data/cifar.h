// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "workload/training/data/published_file.h"

namespace paceline::workload {

// CIFAR-10 or CIFAR-100 as the University of Toronto publishes it.
struct CifarSet {
  std::string_view name;
  PublishedFile published;  // the archive of the binary version
  std::string_view folder,
      pickled_folder;            // what the archives of the binary and the Python version unpack to
  std::string_view train, test;  // files without ".bin", comma-separated
  std::size_t label_bytes;       // before the pixels of a record; the last one is the class
  std::string_view label_key;    // of the Python version
  unsigned char classes;
};

inline constexpr CifarSet kCifar100{
    "CIFAR-100",
    {"cifar-100-binary.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar.html",
     "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
     "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec", 168'513'733},
    "cifar-100-binary",
    "cifar-100-python",
    "train",
    "test",
    2,
    "fine_labels",
    100};
inline constexpr CifarSet kCifar10{
    "CIFAR-10",
    {"cifar-10-binary.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar.html",
     "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
     "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd", 170'052'171},
    "cifar-10-batches-bin",
    "cifar-10-batches-py",
    "data_batch_1,data_batch_2,data_batch_3,data_batch_4,data_batch_5",
    "test_batch",
    1,
    "labels",
    10};

enum class CifarPart { kTrain, kTest };

// One part of a CIFAR set: classes, and 32 x 32 pixels as planes of red, green and blue. Unpacked files are
// mapped, those of the binary version (train.bin) and those that torchvision unpacks (train, pickled). An
// archive is unpacked into this process's memory after its digest was checked.
class CifarRecords {
 public:
  static constexpr int kSide = 32;
  static constexpr std::size_t kPixelBytes = std::size_t{3} * kSide * kSide;

  // `path` is the archive, a file of the part (of the test set: the one beside it), or a folder that holds
  // them (also in the folder an archive unpacks to). Throws Error(kIo) when nothing is there, saying what to
  // put where; Error(kData) for another size, digest or format and for a class beyond the set's.
  CifarRecords(const std::filesystem::path& path, const CifarSet& set, CifarPart part = CifarPart::kTrain);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(labels_.size()); }
  [[nodiscard]] std::int64_t label(std::int64_t index) const {
    return labels_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] const unsigned char* planes(std::int64_t index) const;

 private:
  // The records of one file.
  struct Piece {
    std::unique_ptr<MappedFile> mapped;
    std::string own;  // what was unpacked or decoded
    const unsigned char* planes = nullptr;
    std::size_t stride = 0;
    std::int64_t first = 0;
  };
  void add_file(const std::filesystem::path& file, const CifarSet& set);
  void add_binary(Piece piece, std::span<const unsigned char> bytes, const std::string& file,
                  const CifarSet& set);
  void add_pickled(Piece piece, std::span<const unsigned char> bytes, const std::string& file,
                   const CifarSet& set);

  std::vector<Piece> pieces_;
  std::vector<unsigned char> labels_;
};

// Whether the part is there, judged by file names. An empty path stands for the folder of cached_cifar.
bool has_cifar(const std::filesystem::path& path, const CifarSet& set, CifarPart part);

// Whether a fetch may go there: it is missing or empty, or a fetch has begun in it.
bool awaits_cifar(const std::filesystem::path& path);

// Fetches the set and unpacks it into `folder` unless it is there. Several processes may call this at once.
// Throws Error(kIo) when it cannot be fetched, saying what to put where.
std::filesystem::path cached_cifar(const std::filesystem::path& folder, const CifarSet& set,
                                   const std::vector<FetchTool>& tools = kFetchTools);

}  // namespace paceline::workload
