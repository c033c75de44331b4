// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include "base/file.h"
#include "base/npy.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/throws_with.h"
#include "workload/training/data/augment.h"
#include "workload/training/data/source.h"

namespace paceline::workload {
namespace {

using test::expect_error;
using test::ScratchFolder;

constexpr std::array<double, 3> kMean{0.485, 0.456, 0.406}, kDeviation{0.229, 0.224, 0.225};

double normalised(int value, std::size_t channel) {
  return (value / 255.0 - kMean[channel]) / kDeviation[channel];
}

// One sample read out of a source.
struct Read {
  std::vector<float> image;
  std::int64_t label = -1;
};

Draws draws(std::uint64_t key) {
  return Draws(CounterRng(1, key));
}

SourceSetup setup_of(const std::string& source, const std::filesystem::path& path, const SampleShape& shape) {
  SourceSetup setup;
  setup.data.source = source;
  setup.data.path = path.string();
  setup.data.augment = false;
  setup.shape = shape;
  return setup;
}

SampleShape image_shape(std::int64_t side) {
  return {3, side, side, 0, true};
}

Read read(const Source& source, std::int64_t index, const SampleShape& shape, std::uint64_t key = 0) {
  Read result;
  result.image.resize(static_cast<std::size_t>(3 * shape.height * shape.width));
  source.read(index, draws(key), {result.image.data(), nullptr, &result.label});
  return result;
}

// A PNG whose pixel (x, y) is colour(x, y).
template <typename Colour>
void write_png(const std::filesystem::path& file, int width, int height, Colour colour) {
  std::vector<unsigned char> pixels;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const int value : colour(x, y)) pixels.push_back(static_cast<unsigned char>(value));
  std::filesystem::create_directories(file.parent_path());
  ASSERT_NE(stbi_write_png(file.c_str(), width, height, 3, pixels.data(), width * 3), 0);
}

auto plain(std::array<int, 3> colour) {
  return [colour](int, int) { return colour; };
}

TEST(ImageFolder, ClassesAreFoldersInTheOrderOfNames) {
  const ScratchFolder folder;
  write_png(folder / "zebra/1.png", 9, 9, plain({255, 0, 0}));
  write_png(folder / "ant/2.png", 9, 9, plain({0, 255, 0}));
  write_png(folder / "ant/deep/1.PNG", 9, 9, plain({0, 0, 255}));
  const auto shape = image_shape(4);
  const auto source = make_source(setup_of("image_folder", folder.path(), shape));
  ASSERT_EQ(source->samples(), 3);
  const Read green = read(*source, 0, shape), blue = read(*source, 1, shape), red = read(*source, 2, shape);
  EXPECT_EQ(green.label, 0);
  EXPECT_EQ(blue.label, 0);
  EXPECT_EQ(red.label, 1);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_NEAR(red.image[i], normalised(255, 0), 1e-5);
    EXPECT_NEAR(green.image[16 + i], normalised(255, 1), 1e-5);
    EXPECT_NEAR(blue.image[32 + i], normalised(255, 2), 1e-5);
  }
}

TEST(ImageFolder, ReadsJpeg) {
  const ScratchFolder folder;
  const std::vector<unsigned char> grey(std::size_t{32} * 32 * 3, 128);
  std::filesystem::create_directories(folder / "a");
  ASSERT_NE(stbi_write_jpg((folder / "a/x.jpeg").c_str(), 32, 32, 3, grey.data(), 95), 0);
  const auto shape = image_shape(8);
  const Read sample = read(*make_source(setup_of("image_folder", folder.path(), shape)), 0, shape);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(sample.image[i], normalised(128, 0), 0.02);
}

// Left half black, right half white: 40 wide, 20 high. The middle 17.5 x 17.5 pixels remain, from x = 11.25.
TEST(ImageFolder, HiddenFoldersAreNoClassAndUnreadFilesAreNamed) {
  const ScratchFolder folder;
  write_png(folder / "ant/1.png", 9, 9, plain({0, 255, 0}));
  write_png(folder / "bee/1.png", 9, 9, plain({255, 0, 0}));
  write_png(folder / ".cache/1.png", 9, 9, plain({0, 0, 255}));
  write_png(folder / "bee/.thumbs/1.png", 9, 9, plain({0, 0, 255}));
  write_png(folder / "bee/._1.png", 9, 9, plain({0, 0, 255}));
  folder.write("ant/2.webp", "x");
  folder.write("ant/3.WEBP", "x");
  folder.write("bee/README", "x");
  folder.write("top.jpeg", "x");
  const auto source = make_source(setup_of("image_folder", folder.path(), image_shape(4)));
  const std::string rest =
      "1 .jpeg, 2 .webp, 1 hidden file, 1 file without a suffix, 2 hidden folders (.cache, "
      ".thumbs)";
  EXPECT_EQ(source->samples(), 2);
  EXPECT_EQ(source->contents(), "2 classes, 2 pictures; left out: " + rest);
  EXPECT_EQ(source->remark(), "left out of '" + folder.path().string() + "': " + rest);
  folder.write("cat/1.gif", "x");
  expect_error(ErrorCode::kData, {"cat", "no .jpg", "(but 1 .gif)"},
               [&] { make_source(setup_of("image_folder", folder.path(), image_shape(4))); });
}

TEST(ImageFolder, ACutJpegIsNamed) {
  const ScratchFolder folder;
  const std::vector<unsigned char> grey(std::size_t{32} * 32 * 3, 128);
  std::filesystem::create_directories(folder / "a");
  const auto file = folder / "a/x.jpg";
  ASSERT_NE(stbi_write_jpg(file.c_str(), 32, 32, 3, grey.data(), 95), 0);
  const auto whole = read_file(file);
  const auto shape = image_shape(8);
  const auto source = make_source(setup_of("image_folder", folder.path(), shape));
  write_file_atomic(file, whole + "what a camera appends");
  EXPECT_EQ(read(*source, 0, shape).label, 0);
  for (const std::size_t bytes : {whole.size() - 2, whole.size() / 2, std::size_t{40}}) {
    write_file_atomic(file, whole.substr(0, bytes));
    expect_error(ErrorCode::kData, {"x.jpg", "is cut off"}, [&] { read(*source, 0, shape); });
  }
  // A small picture inside a part of the file has an end of its own.
  const std::string part = "\xFF\xE1" + std::string("\x00\x06", 2) + "\xFF\xD8\xFF\xD9";
  const auto cut = whole.substr(0, whole.size() / 2);
  write_file_atomic(file, cut.substr(0, 2) + part + cut.substr(2));
  expect_error(ErrorCode::kData, {"x.jpg", "is cut off"}, [&] { read(*source, 0, shape); });
}

TEST(ImageFolder, WithoutAugmentationTheMiddleIsCutOut) {
  const ScratchFolder folder;
  write_png(folder / "a/x.png", 40, 20, [](int x, int) {
    const int value = x < 20 ? 0 : 255;
    return std::array{value, value, value};
  });
  const auto shape = image_shape(18);
  const Read sample = read(*make_source(setup_of("image_folder", folder.path(), shape)), 0, shape);
  EXPECT_NEAR(sample.image[0], normalised(0, 0), 1e-5);
  EXPECT_NEAR(sample.image[7], normalised(0, 0), 1e-5);
  EXPECT_NEAR(sample.image[10], normalised(255, 0), 1e-5);
  EXPECT_NEAR(sample.image[17], normalised(255, 0), 1e-5);
}

TEST(ImageFolder, AugmentationDependsOnTheDrawsAlone) {
  const ScratchFolder folder;
  write_png(folder / "a/x.png", 40, 40, [](int x, int y) { return std::array{6 * x, 6 * y, 0}; });
  const auto shape = image_shape(8);
  auto setup = setup_of("image_folder", folder.path(), shape);
  setup.data.augment = true;
  const auto source = make_source(setup);
  EXPECT_EQ(read(*source, 0, shape, 5).image, read(*source, 0, shape, 5).image);
  std::set<std::vector<float>> different;
  int mirrored = 0;
  for (std::uint64_t key = 0; key < 50; ++key) {
    const Read sample = read(*source, 0, shape, key);
    different.insert(sample.image);
    if (sample.image[0] > sample.image[7]) ++mirrored;  // red grows to the right
  }
  EXPECT_GT(different.size(), 45U);
  EXPECT_GT(mirrored, 10);
  EXPECT_LT(mirrored, 40);
}

TEST(ImageFolder, RefusesOtherFolders) {
  const ScratchFolder folder;
  const auto setup = setup_of("image_folder", folder.path(), image_shape(4));
  expect_error(ErrorCode::kConfig, {folder.path().string(), "one folder of pictures per class"},
               [&] { make_source(setup); });
  folder.write("empty/readme.txt", "");
  expect_error(ErrorCode::kData, {"empty", ".png"}, [&] { make_source(setup); });
  expect_error(ErrorCode::kIo, {"nowhere"},
               [&] { make_source(setup_of("image_folder", folder / "nowhere", image_shape(4))); });
  folder.write("empty/a.png", "x");
  folder.write("full/a.png", "x");
  auto small = setup;
  small.classes = 1;
  expect_error(ErrorCode::kConfig, {"2 class folders", "1 classes"}, [&] { make_source(small); });
}

TEST(ImageFolder, LinksThatLeadNowhereAreNamedAndLoopsEnd) {
  const ScratchFolder folder;
  write_png(folder / "a/1.png", 4, 4, plain({1, 2, 3}));
  std::filesystem::create_symlink(folder / "gone.png", folder / "a/2.png");
  std::filesystem::create_directory_symlink(folder / "a", folder / "a/again.png");
  std::filesystem::create_symlink("loop", folder / "loop");
  const auto shape = image_shape(4);
  const auto source = make_source(setup_of("image_folder", folder.path(), shape));
  ASSERT_EQ(source->samples(), 2);
  expect_error(ErrorCode::kIo, {"a/2.png"}, [&] { read(*source, 1, shape); });
}

TEST(ImageFolder, HeldOutPicturesHaveTheClassesOfTraining) {
  const ScratchFolder folder;
  for (const char* file : {"train/ant/1.png", "train/bee/1.png", "train/cat/1.png", "val/bee/1.png"})
    write_png(folder / file, 4, 4, plain({1, 2, 3}));
  const auto shape = image_shape(4);
  auto setup = setup_of("image_folder", folder.path(), shape);
  EXPECT_EQ(make_source(setup)->samples(), 3);
  setup.data.held_out = true;
  const auto held_out = make_source(setup);
  ASSERT_EQ(held_out->samples(), 1);
  EXPECT_EQ(read(*held_out, 0, shape).label, 1);
  write_png(folder / "val/dog/1.png", 4, 4, plain({1, 2, 3}));
  expect_error(ErrorCode::kData, {"val/dog", "ant, bee, cat"}, [&] { make_source(setup); });
}

TEST(Crops, StayInsideAndKeepTheirShape) {
  for (std::uint64_t key = 0; key < 500; ++key) {
    Draws random = draws(key);
    const Crop crop = random_crop(300, 200, random);
    EXPECT_GE(crop.left, 0);
    EXPECT_GE(crop.top, 0);
    EXPECT_LE(crop.left + crop.width, 300);
    EXPECT_LE(crop.top + crop.height, 200);
    EXPECT_GE(crop.width * crop.height, 0.07 * 300 * 200);
    EXPECT_GE(static_cast<double>(crop.width) / crop.height, 0.73);
    EXPECT_LE(static_cast<double>(crop.width) / crop.height, 1.37);
  }
}

TEST(Crops, OfPicturesThatAreTooFlatAreTheirMiddle) {
  Draws random = draws(1);
  const Crop crop = random_crop(1000, 3, random);
  EXPECT_EQ(crop.height, 3);
  EXPECT_EQ(crop.width, 4);
  EXPECT_EQ(crop.left, 498);
  Draws other = draws(1);
  EXPECT_EQ(random_crop(1, 1, other).width, 1);
}

std::string tokens16(std::initializer_list<std::uint16_t> tokens) {
  return {reinterpret_cast<const char*>(tokens.begin()), tokens.size() * 2};
}

std::string tokens32(std::initializer_list<std::uint32_t> tokens) {
  return {reinterpret_cast<const char*>(tokens.begin()), tokens.size() * 4};
}

std::vector<std::int64_t> read_tokens(const Source& source, std::int64_t index, std::size_t length) {
  std::vector<std::int64_t> tokens(length);
  source.read(index, draws(0), {nullptr, tokens.data(), nullptr});
  return tokens;
}

SourceSetup token_setup(const std::string& path, std::int64_t length) {
  SampleShape shape;
  shape.tokens = length;
  return setup_of("token_file", path, shape);
}

TEST(TokenFile, SamplesAreWindowsThatDoNotOverlap) {
  const ScratchFolder folder;
  const auto path = folder.write("a.bin", tokens16({1, 2, 3, 4, 5, 60'000, 7}));
  const auto source = make_source(token_setup(path, 3));
  EXPECT_EQ(source->samples(), 2);
  EXPECT_EQ(read_tokens(*source, 0, 3), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(read_tokens(*source, 1, 3), (std::vector<std::int64_t>{4, 5, 60'000}));
}

TEST(TokenFile, TheNameSaysHowWideTokensAre) {
  const ScratchFolder folder;
  const auto wide = make_source(token_setup(folder.write("a.u32", tokens32({5, 70'000})), 2));
  EXPECT_EQ(read_tokens(*wide, 0, 2), (std::vector<std::int64_t>{5, 70'000}));
  EXPECT_EQ(make_source(token_setup(folder.write("a.u16", tokens16({5, 6})), 2))->samples(), 1);
  expect_error(ErrorCode::kConfig, {"a.txt", ".u32"},
               [&] { make_source(token_setup(folder.write("a.txt", "ab"), 1)); });
}

template <typename T>
Tensor array(const std::string& name, DType dtype, Shape shape, const std::vector<T>& values) {
  Tensor tensor({name, dtype, std::move(shape)});
  std::memcpy(tensor.data(), values.data(), tensor.size_bytes());
  return tensor;
}

template <typename T>
std::string ids_as(std::int64_t count, std::int64_t step) {
  std::vector<T> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(static_cast<T>(i * step % 120'000));
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(T)};
}

TEST(TokenFile, WiderNumbersUnderANarrowNameAreRefused) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& bytes, const char* type) {
    const auto path = folder.write(name, bytes);
    expect_error(ErrorCode::kData, {name, "looks like", type}, [&] { make_source(token_setup(path, 4)); });
  };
  refused("a.bin", ids_as<std::uint32_t>(100, 7), "uint32");
  refused("b.u16", ids_as<std::uint32_t>(900, 1171), "uint32");
  refused("c.bin", ids_as<std::int64_t>(64, 7), "int64");
  refused("d.u32", ids_as<std::int64_t>(900, 1171), "int64");
  EXPECT_EQ(make_source(token_setup(folder.write("e.u32", ids_as<std::uint32_t>(900, 1171)), 4))->samples(),
            225);
  EXPECT_EQ(make_source(token_setup(folder.write("f.bin", ids_as<std::uint16_t>(900, 77)), 4))->samples(),
            225);
  EXPECT_EQ(make_source(token_setup(folder.write("g.bin", std::string(800, '\0')), 4))->samples(), 100);
}

TEST(TokenFile, AnArrayOfNumPySaysItsType) {
  const ScratchFolder folder;
  const auto saved = [&](const std::string& name, Tensor ids) {
    write_npy(folder / name, ids.view());
    return make_source(token_setup((folder / name).string(), 2));
  };
  EXPECT_EQ(
      read_tokens(*saved("a.npy", array<std::int64_t>("x", DType::kInt64, {5}, {1, 2, 70'000, 4, 5})), 1, 2),
      (std::vector<std::int64_t>{70'000, 4}));
  const auto narrow = saved("b.bin", array<std::uint16_t>("x", DType::kUInt16, {2, 2}, {9, 8, 7, 60'000}));
  EXPECT_EQ(read_tokens(*narrow, 1, 2), (std::vector<std::int64_t>{7, 60'000}));
  EXPECT_EQ(narrow->contents(), "4 tokens of 2 bytes; left out: 0 tokens");
  const auto negative = saved("c.npy", array<std::int32_t>("x", DType::kInt32, {2}, {1, -100}));
  expect_error(ErrorCode::kData, {"token 1", "-100"}, [&] { read_tokens(*negative, 0, 2); });
  expect_error(ErrorCode::kData, {"d.npy", "float32"}, [&] {
    saved("d.npy", array<float>("x", DType::kFloat32, {2}, {1, 2}));
  });
}

TEST(TokenFile, RefusesIdsBeyondTheVocabulary) {
  const ScratchFolder folder;
  auto setup = token_setup(folder.write("a.bin", tokens16({1, 2, 3, 99})), 2);
  setup.vocabulary = 50;
  const auto source = make_source(setup);
  EXPECT_EQ(read_tokens(*source, 0, 2)[1], 2);
  expect_error(ErrorCode::kData, {"token 3", "a.bin", "is 99", "below 50"},
               [&] { read_tokens(*source, 1, 2); });
}

TEST(TokenFile, RefusesFilesThatCannotBeOne) {
  const ScratchFolder folder;
  expect_error(ErrorCode::kIo, {"none.bin"},
               [&] { make_source(token_setup((folder / "none.bin").string(), 2)); });
  expect_error(ErrorCode::kData, {"3 bytes"},
               [&] { make_source(token_setup(folder.write("odd.bin", "abc"), 1)); });
  expect_error(ErrorCode::kData, {"2 tokens", "takes 3"},
               [&] { make_source(token_setup(folder.write("short.bin", "abcd"), 3)); });
  expect_error(ErrorCode::kData, {"0 tokens"},
               [&] { make_source(token_setup(folder.write("empty.bin", ""), 3)); });
  expect_error(ErrorCode::kConfig, {"data.path"}, [&] { make_source(token_setup("", 3)); });
}

std::string write_npz(const ScratchFolder& folder, const std::string& name, std::vector<Tensor> arrays) {
  std::vector<TensorView> views;
  for (auto& tensor : arrays) views.push_back(tensor.view());
  paceline::write_npz(folder / name, views);
  return (folder / name).string();
}

TEST(Npz, GreyImagesAreStandardisedAndRepeatedForEveryChannel) {
  const ScratchFolder folder;
  const auto labels = array<std::int64_t>("y", DType::kInt64, {2}, {3, 4});
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7};  // mean 3.5, deviation sqrt(5.25)
  const auto shape = image_shape(2);
  for (const Shape& stored : {Shape{2, 2, 2}, Shape{2, 4}, Shape{2, 1, 2, 2}}) {
    const auto path = write_npz(folder, "a.npz", {array("x", DType::kFloat64, stored, values), labels});
    const auto source = make_source(setup_of("npz", path, shape));
    ASSERT_EQ(source->samples(), 2);
    const Read sample = read(*source, 1, shape);
    EXPECT_EQ(sample.label, 4);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(sample.image[c * 4 + i], (static_cast<double>(i) + 4 - 3.5) / std::sqrt(5.25), 1e-5);
  }
}

TEST(Npz, ColoursAndBytesAreTakenAndResized) {
  const ScratchFolder folder;
  const std::vector<std::uint8_t> pixels{0, 0, 0, 0, 10, 10, 10, 10, 20, 20, 20, 20};
  const auto path = write_npz(
      folder, "a.npz",
      {array("x", DType::kUInt8, {1, 3, 2, 2}, pixels), array<std::uint8_t>("y", DType::kUInt8, {1}, {9})});
  const auto shape = image_shape(6);
  const Read sample = read(*make_source(setup_of("npz", path, shape)), 0, shape);
  const double deviation = std::sqrt(200.0 / 3);
  for (std::size_t i = 0; i < 36; ++i) {
    EXPECT_NEAR(sample.image[i], -10 / deviation, 1e-5);
    EXPECT_NEAR(sample.image[36 + i], 0, 1e-5);
    EXPECT_NEAR(sample.image[72 + i], 10 / deviation, 1e-5);
  }
}

TEST(Npz, SaysWhatIsWrongWithAnArchive) {
  const ScratchFolder folder;
  const auto x = array<float>("x", DType::kFloat32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto y = [](const std::vector<std::int64_t>& labels) {
    return array("y", DType::kInt64, {static_cast<std::int64_t>(labels.size())}, labels);
  };
  const auto refused = [&](ErrorCode code, std::initializer_list<std::string> parts,
                           std::vector<Tensor> arrays) {
    auto setup = setup_of("npz", write_npz(folder, "a.npz", std::move(arrays)), image_shape(2));
    setup.classes = 5;
    expect_error(code, parts, [&] { make_source(setup); });
  };
  refused(ErrorCode::kData, {"no array 'y'", "only: x"}, {x});
  refused(ErrorCode::kData, {"2 images and 3 labels"}, {x, y({0, 1, 2})});
  refused(ErrorCode::kData, {"label 5", "5 classes"}, {x, y({0, 5})});
  refused(ErrorCode::kData, {"label -1"}, {x, y({0, -1})});
  refused(ErrorCode::kData, {"[2, 3]", "square"},
          {array<float>("x", DType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5}), y({0, 1})});
  refused(ErrorCode::kData, {"'y'", "float32", "int64"},
          {x, array<float>("y", DType::kFloat32, {2}, {0, 1})});
  refused(ErrorCode::kData, {"row 1 ", "a.npz", "NaN"},
          {array<float>("x", DType::kFloat32, {2, 4}, {0, 1, 2, 3, 4, 5, NAN, 7}), y({0, 1})});
  refused(ErrorCode::kData, {"row 0 ", "an infinity"},
          {array<double>("x", DType::kFloat64, {2, 4}, {1e300, 1, 2, 3, 4, 5, 6, 7}), y({0, 1})});
  refused(ErrorCode::kData, {"empty", "[2, 0]"}, {array<float>("x", DType::kFloat32, {2, 0}, {}), y({0, 1})});
  const auto broken = setup_of("npz", folder.write("b.npz", "no archive"), image_shape(2));
  expect_error(ErrorCode::kData, {"b.npz"}, [&] { make_source(broken); });
}

TEST(DataRemarks, OneClassTeachesNothing) {
  const ScratchFolder folder;
  folder.write("only/a.png", "x");
  folder.write("only/b.png", "x");
  const auto setup = setup_of("image_folder", folder.path(), image_shape(4));
  EXPECT_NE(make_source(setup)->remark().find("one class folder"), std::string::npos);
  folder.write("second/a.png", "x");
  EXPECT_EQ(make_source(setup)->remark(), "");
  const auto of_labels = [&](const std::vector<std::int64_t>& labels) {
    std::vector<Tensor> arrays;
    arrays.push_back(array<float>("x", DType::kFloat32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}));
    arrays.push_back(array("y", DType::kInt64, {2}, labels));
    return make_source(setup_of("npz", write_npz(folder, "a.npz", std::move(arrays)), image_shape(2)))
        ->remark();
  };
  EXPECT_NE(of_labels({3, 3}).find("every label in"), std::string::npos);
  EXPECT_EQ(of_labels({3, 4}), "");
}

}  // namespace
}  // namespace paceline::workload
