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

CifarSet as_published(const std::string& file, const std::string& digest) {
  CifarSet set = kCifar100;
  set.published.bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
  set.published.sha256 = digest;
  return set;
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
    EXPECT_EQ(records.label(0), 3);
    EXPECT_EQ(records.label(1), 99);
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

// The file has whole records and is sparse: reading it to its end would take minutes.
TEST(Cifar, AFileBeyondTheLimitIsNotRead) {
  const ScratchFolder folder;
  const auto path = folder.write("train.bin", "");
  std::filesystem::resize_file(path, 3074ULL * 100'000'000);
  expect_error(ErrorCode::kData, {"train.bin", "307 GB", "at most 1.07 GB"},
               [&] { CifarRecords(path, kCifar100); });
}

TEST(Cifar, TheArchiveIsReadWhenItIsThePublishedOne) {
  const ScratchFolder folder;
  const auto path = write_tar_gz(folder, archive_of(record(3, 1, 2, 3) + record(4, 9, 9, 9)));
  const std::string digest = sha256_file(path);
  const CifarRecords records(folder.path(), as_published(path, digest));
  ASSERT_EQ(records.size(), 2);
  EXPECT_EQ(records.label(1), 4);
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
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cached_cifar(cache, published, tools), cache);
  EXPECT_EQ(CifarRecords(cache, published).label(0), 3);
  EXPECT_TRUE(std::filesystem::exists(cache / "cifar-100-binary/train.bin"));
  EXPECT_EQ(read_file(folder / "calls"), "run\n");
}

TEST(CifarCache, AsksForFilesThatCannotBeFetched) {
  const ScratchFolder folder;
  const auto file = write_tar_gz(folder, archive_of(record(3, 1, 2, 3)));
  const auto cache = folder / "cache";
  const auto refused = [&](const std::vector<FetchTool>& tools, const std::string& why) {
    expect_error(ErrorCode::kIo, {cache.string(), kCifar100.published.name.data(), "data.path", why},
                 [&] { cached_cifar(cache, kCifar100, tools); });
    EXPECT_FALSE(std::filesystem::exists(cache / kCifar100.published.name));
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

std::string text_of_pickle(const std::string& text) {
  return std::string("U") + static_cast<char>(text.size()) + text;
}

// A file of the Python version as Python 2 wrote it: protocol 2, texts as bytes, a numpy array. Picture i has
// the value i + 1 everywhere.
std::string pickled(const std::string& label_key, const std::vector<int>& labels,
                    const std::string& type = "u1", const std::string& callee = "numpy.core.multiarray") {
  std::string out("\x80\x02}q\x01(", 6);
  out += text_of_pickle("batch_label") + "q\x02" + text_of_pickle("training batch 1 of 5") + "q\x03";
  out += text_of_pickle(label_key) + "q\x04]q\x05(";
  for (const int label : labels) out += std::string("K") + static_cast<char>(label);
  out += "e" + text_of_pickle("data") + "c" + callee + "\n_reconstruct\nq\x06" + "cnumpy\nndarray\n";
  out += std::string("K\0\x85", 3) + text_of_pickle("b") + "\x87R(K\x01K" + static_cast<char>(labels.size());
  out += std::string("M\0\x0c\x86", 4) + "cnumpy\ndtype\n" + text_of_pickle(type);
  out +=
      std::string("K\0K\x01\x87R(K\x03", 9) + text_of_pickle("|") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff";
  const auto bytes = static_cast<std::uint32_t>(labels.size() * 3 * kPlane);
  out += std::string("K\0tb\x89T", 6);
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(bytes >> shift & 255);
  for (std::size_t i = 0; i < labels.size(); ++i) out.append(3 * kPlane, static_cast<char>(i + 1));
  return out + "tb" + text_of_pickle("filenames") + "](" + text_of_pickle("a.png") + "eu.";
}

TEST(CifarOfTorchvision, CifarHundredIsReadFromItsPickles) {
  const ScratchFolder folder;
  folder.write("data/cifar-100-python/train", pickled("fine_labels", {42, 99, 0}));
  folder.write("data/cifar-100-python/test", pickled("fine_labels", {7}));
  for (const auto& path :
       {folder / "data", folder / "data/cifar-100-python", folder / "data/cifar-100-python/train"}) {
    const CifarRecords records(path, kCifar100);
    ASSERT_EQ(records.size(), 3);
    EXPECT_EQ(records.label(1), 99);
    EXPECT_EQ(records.planes(2)[3 * kPlane - 1], 3);
    EXPECT_TRUE(has_cifar(path, kCifar100, CifarPart::kTest));
    EXPECT_EQ(CifarRecords(path, kCifar100, CifarPart::kTest).label(0), 7);
  }
}

TEST(CifarOfTorchvision, CifarTenIsFiveFilesInTheirOrder) {
  const ScratchFolder folder;
  for (int i = 1; i <= 5; ++i)
    folder.write("cifar-10-batches-py/data_batch_" + std::to_string(i), pickled("labels", {i, i + 1}));
  const CifarRecords records(folder.path(), kCifar10);
  ASSERT_EQ(records.size(), 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(records.label(i), 1 + i / 2 + i % 2);
    EXPECT_EQ(records.planes(i)[0], 1 + i % 2);
  }
  EXPECT_FALSE(has_cifar(folder.path(), kCifar10, CifarPart::kTest));
  std::filesystem::remove(folder / "cifar-10-batches-py/data_batch_3");
  expect_error(ErrorCode::kIo, {"CIFAR-10 is not whole", "data_batch_3' is missing"},
               [&] { CifarRecords(folder.path(), kCifar10); });
}

TEST(CifarOfTorchvision, TheBinaryVersionOfCifarTenHasOneLabelByte) {
  const ScratchFolder folder;
  for (int i = 1; i <= 5; ++i)
    folder.write("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin",
                 record(i, i, 8, 9).substr(1));
  const CifarRecords records(folder.path(), kCifar10);
  ASSERT_EQ(records.size(), 5);
  EXPECT_EQ(records.label(4), 5);
  EXPECT_EQ(records.planes(2)[0], 3);
  EXPECT_EQ(records.planes(2)[kPlane], 8);
}

TEST(CifarOfTorchvision, NothingOfAPickleIsCalled) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& content, const std::string& why) {
    expect_error(ErrorCode::kData, {"train' is no batch of CIFAR's Python version", why},
                 [&] { CifarRecords(folder.write("train", content), kCifar100); });
  };
  refused(
      "\x80\x02"
      "cos\nsystem\n"
      "U\x04true\x85R.",
      "it asks for 'os.system', which is never loaded");
  refused(pickled("fine_labels", {1}, "u1", "builtins"), "'builtins._reconstruct'");
  refused(pickled("fine_labels", {1}, "i4"), "type 'i4', not uint8");
  refused(pickled("labels", {1}), "no 'fine_labels'");
  const auto whole = pickled("fine_labels", {1, 2});
  refused(whole.substr(0, whole.size() / 2), "it ends within a value");
  refused(whole.substr(0, whole.size() - 1), "it ends within a value");
  refused("\x80\x02\x8c", "it ends within a value");
  refused("\x80\x02P.", "instruction 0x50 at byte 2");
  refused(
      "\x80\x02"
      "r\xff\xff\xff\x7f.",
      "a remembered value is missing");
  expect_error(ErrorCode::kData, {"picture 1 has the class 100, there are 100"}, [&] {
    CifarRecords(folder.write("train", pickled("fine_labels", {1, 100})), kCifar100);
  });
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
