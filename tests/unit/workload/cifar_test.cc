// SPDX-License-Identifier: MIT
#include "workload/training/data/cifar.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/file.h"
#include "base/sha256.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/throws_with.h"
#include "workload/training/data/source.h"
#include "workload/training/data/tar_gz.h"

namespace paceline::workload {
namespace {

using test::expect_error;
using test::ScratchFolder;

constexpr std::size_t kPlane = std::size_t{32} * 32;

// A record whose planes have one value each.
std::string record(int fine_label, int red, int green, int blue) {
  std::string bytes{'\x07', static_cast<char>(fine_label)};
  for (const int value : {red, green, blue}) bytes.append(kPlane, static_cast<char>(value));
  return bytes;
}

std::string tar_entry(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  header.replace(124, 11, size);
  header[156] = type;
  header.replace(148, 8, std::string(8, ' '));  // the checksum is made as if its own field were blank
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(size, sizeof size, "%06o", sum);
  header.replace(148, 7, size, 7);
  return header + content + std::string((512 - content.size() % 512) % 512, '\0');
}

std::string write_tar_gz(const ScratchFolder& folder, const std::string& content) {
  const auto path = (folder / "cifar-100-binary.tar.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

std::string archive_of(const std::string& train) {
  return tar_entry("cifar-100-binary/", "", '5') + tar_entry("cifar-100-binary/test.bin", "other") +
         tar_entry("cifar-100-binary/train.bin", train) + std::string(1024, '\0');
}

PublishedFile as_published(const std::string& file, const std::string& digest) {
  PublishedFile published = kCifar100;
  published.bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
  published.sha256 = digest;
  return published;
}

SourceSetup source_setup(const std::filesystem::path& path, std::int64_t side, bool augment) {
  SourceSetup setup;
  setup.data.source = "cifar100";
  setup.data.path = path.string();
  setup.data.augment = augment;
  setup.shape = {3, side, side, 0, true};
  return setup;
}

std::vector<float> read_image(const SourceSetup& setup, std::int64_t index, std::uint64_t key,
                              std::int64_t* label = nullptr) {
  std::vector<float> image(static_cast<std::size_t>(3 * setup.shape.height * setup.shape.width));
  std::int64_t unused = 0;
  make_source(setup)->read(index, Draws(CounterRng(1, key)),
                           {image.data(), nullptr, label ? label : &unused});
  return image;
}

TEST(Cifar, FoundAsFileInAFolderOrBelowIt) {
  const ScratchFolder folder;
  const std::string train = record(3, 1, 2, 3) + record(99, 4, 5, 6);
  folder.write("a/train.bin", train);
  folder.write("b/cifar-100-binary/train.bin", train);
  for (const auto& path : {folder / "a/train.bin", folder / "a", folder / "b"}) {
    const CifarRecords records(path, kCifar100);
    ASSERT_EQ(records.size(), 2);
    EXPECT_EQ(records.fine_label(0), 3);
    EXPECT_EQ(records.fine_label(1), 99);
    EXPECT_EQ(records.planes(1)[0], 4);
    EXPECT_EQ(records.planes(1)[2 * kPlane], 6);
  }
}

TEST(Cifar, NothingThereSaysWhatToPutWhere) {
  const ScratchFolder folder;
  expect_error(
      ErrorCode::kIo,
      {folder.path().string(), "cifar-100-binary.tar.gz", "https://www.cs.toronto.edu/", "data.path"},
      [&] { CifarRecords(folder.path(), kCifar100); });
}

TEST(Cifar, CutOffOrForeignFilesAreRefused) {
  const ScratchFolder folder;
  const auto whole = record(3, 1, 2, 3);
  expect_error(ErrorCode::kData, {"train.bin", "3073 bytes", "CIFAR-10"}, [&] {
    CifarRecords(folder.write("train.bin", whole.substr(0, whole.size() - 1)), kCifar100);
  });
  expect_error(ErrorCode::kData, {"0 bytes"},
               [&] { CifarRecords(folder.write("train.bin", ""), kCifar100); });
  expect_error(ErrorCode::kData, {"record 1", "label 100"},
               [&] { CifarRecords(folder.write("train.bin", whole + record(100, 0, 0, 0)), kCifar100); });
}

TEST(Cifar, TheArchiveIsReadWhenItIsThePublishedOne) {
  const ScratchFolder folder;
  const auto path = write_tar_gz(folder, archive_of(record(3, 1, 2, 3) + record(4, 9, 9, 9)));
  const std::string digest = sha256_file(path);
  const CifarRecords records(folder.path(), as_published(path, digest));
  ASSERT_EQ(records.size(), 2);
  EXPECT_EQ(records.fine_label(1), 4);
  EXPECT_EQ(records.planes(1)[5], 9);
  expect_error(ErrorCode::kData, {path, "bytes instead of 168513733"},
               [&] { CifarRecords(path, kCifar100); });
  expect_error(ErrorCode::kData, {digest, "fetch it again"},
               [&] { CifarRecords(path, as_published(path, std::string(64, '0'))); });
}

// Stands in for curl: copies a file to where it is told; the address is ignored.
FetchTool copier(const ScratchFolder& folder, const std::string& file) {
  return {"sh", folder.write("copier.sh",
                             "echo run >> '" + (folder / "calls").string() + "'; cp '" + file + "' \"$1\"")};
}

TEST(CifarCache, IsFilledOnceAndThenUsed) {
  const ScratchFolder folder;
  const auto file = write_tar_gz(folder, archive_of(record(3, 1, 2, 3)));
  const std::string digest = sha256_file(file);
  const auto published = as_published(file, digest);
  const std::vector<FetchTool> tools{{"paceline-no-such-program"}, copier(folder, file)};
  const auto cache = folder / "cache/data";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cached_cifar100(cache, published, tools), cache);
  EXPECT_EQ(CifarRecords(cache, published).fine_label(0), 3);
  EXPECT_TRUE(std::filesystem::exists(cache / "cifar-100-binary/train.bin"));
  EXPECT_EQ(read_file(folder / "calls"), "run\n");
}

TEST(CifarCache, WhatCannotBeFetchedIsAskedFor) {
  const ScratchFolder folder;
  const auto file = write_tar_gz(folder, archive_of(record(3, 1, 2, 3)));
  const auto cache = folder / "cache";
  const auto refused = [&](const std::vector<FetchTool>& tools, const std::string& why) {
    expect_error(ErrorCode::kIo, {cache.string(), kCifar100.name.data(), "data.path", why},
                 [&] { cached_cifar100(cache, kCifar100, tools); });
    EXPECT_FALSE(std::filesystem::exists(cache / kCifar100.name));
  };
  refused({{"paceline-no-such-program"}}, "no curl, no wget");
  refused({{"false"}}, "false ended with 1");
  refused({copier(folder, file)}, "bytes instead of 168513733");
}

TEST(TarGz, SaysWhatIsWrongWithAnArchive) {
  const ScratchFolder folder;
  const std::string incompressible = [] {
    std::string bytes;
    for (std::uint64_t i = 0; i < 20'000; ++i) bytes.push_back(static_cast<char>(CounterRng(1, 2).bits(i)));
    return bytes;
  }();
  const auto path = write_tar_gz(folder, archive_of(incompressible));
  EXPECT_EQ(read_tar_gz_member(path, "train.bin"), incompressible);
  expect_error(ErrorCode::kData, {path, "'none.bin'"}, [&] { read_tar_gz_member(path, "none.bin"); });
  expect_error(ErrorCode::kIo, {"nowhere"}, [&] { read_tar_gz_member(folder / "nowhere", "a"); });
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  expect_error(ErrorCode::kData, {path}, [&] { read_tar_gz_member(path, "train.bin"); });
  const auto text = folder.write("text.tar.gz", std::string(2'000, 'z'));
  expect_error(ErrorCode::kData, {"text.tar.gz"}, [&] { read_tar_gz_member(text, "train.bin"); });
}

TEST(CifarSource, PicturesAreNormalisedAndResized) {
  const ScratchFolder folder;
  folder.write("train.bin", record(42, 255, 0, 128));
  for (const std::int64_t side : {32, 64, 20}) {
    const auto setup = source_setup(folder.path(), side, false);
    std::int64_t label = 0;
    const auto image = read_image(setup, 0, 1, &label);
    const auto plane = static_cast<std::size_t>(side * side);
    EXPECT_EQ(label, 42);
    for (std::size_t i = 0; i < plane; ++i) {
      EXPECT_NEAR(image[i], (1 - 0.485) / 0.229, 1e-4);
      EXPECT_NEAR(image[plane + i], (0 - 0.456) / 0.224, 1e-4);
      EXPECT_NEAR(image[2 * plane + i], (128 / 255.0 - 0.406) / 0.225, 1e-4);
    }
  }
}

// White pictures, moved by up to 4 pixels: black comes in from at most two sides, as far as they were moved.
TEST(CifarSource, AugmentationMovesByUpToFourPixels) {
  const ScratchFolder folder;
  folder.write("train.bin", record(1, 255, 255, 255));
  const auto setup = source_setup(folder.path(), 32, true);
  std::set<std::size_t> white_counts;
  for (std::uint64_t key = 0; key < 200; ++key) {
    const auto image = read_image(setup, 0, key);
    const auto white = std::count_if(image.begin(), image.begin() + kPlane, [](float v) { return v > 0; });
    EXPECT_GE(white, 28 * 28);
    EXPECT_GT(image[16 * 32 + 16], 0);
    white_counts.insert(static_cast<std::size_t>(white));
    EXPECT_EQ(image, read_image(setup, 0, key));
  }
  EXPECT_TRUE(white_counts.count(28 * 28));
  EXPECT_GE(white_counts.size(), 10U);
}

TEST(CifarSource, NeedsAModelOfAHundredClasses) {
  const ScratchFolder folder;
  auto setup = source_setup(folder.path(), 32, true);
  setup.classes = 10;
  expect_error(ErrorCode::kConfig, {"100 classes", "10"}, [&] { make_source(setup); });
}

}  // namespace
}  // namespace paceline::workload
