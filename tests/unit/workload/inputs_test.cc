// SPDX-License-Identifier: MIT
#include "workload/inference/inputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/npy.h"
#include "pass/input_layout.h"

namespace paceline::workload {
namespace {
namespace fs = std::filesystem;

TEST(Inputs, AreSeededNormalData) {
  const auto a = make_inputs({{{"input", DType::kFloat32, {4, 3, 32, 32}}}, {}, 1, {}, {}}).at(0);
  const auto b = make_inputs({{{"input", DType::kFloat32, {4, 3, 32, 32}}}, {}, 1, {}, {}}).at(0);
  const auto c = make_inputs({{{"input", DType::kFloat32, {4, 3, 32, 32}}}, {}, 2, {}, {}}).at(0);
  double sum = 0, squares = 0;
  const int n = 4 * 3 * 32 * 32;
  bool differs = false;
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(a.as<float>()[i], b.as<float>()[i]);
    differs = differs || a.as<float>()[i] != c.as<float>()[i];
    sum += a.as<float>()[i];
    squares += a.as<float>()[i] * a.as<float>()[i];
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(sum / n, 0, 0.04);
  EXPECT_NEAR(squares / n, 1, 0.05);
}

TEST(Inputs, ASampleIsTheSameInAnyBatch) {
  const auto small = make_inputs({{{"input", DType::kFloat32, {2, 8}}}, {}, 1, {}, {}}).at(0);
  const auto large = make_inputs({{{"input", DType::kFloat32, {16, 8}}}, {}, 1, {}, {}}).at(0);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(small.as<float>()[i], large.as<float>()[i]);
}

TEST(Inputs, TokenIdsStayBelowTheirLimitAndMasksAreOnes) {
  const auto inputs = make_inputs({{{"ids", DType::kInt64, {2, 500}}, {"mask", DType::kInt64, {2, 500}}},
                                   {{true, 0, 99}, {}},
                                   1,
                                   {},
                                   {}});
  std::int64_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_GE(inputs[0].as<std::int64_t>()[i], 0);
    largest = std::max(largest, inputs[0].as<std::int64_t>()[i]);
    EXPECT_EQ(inputs[1].as<std::int64_t>()[i], 1);
  }
  EXPECT_LT(largest, 100);
  EXPECT_GT(largest, 90);
}

class InputFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("paceline-inputs-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string save(const std::string& name, const Shape& shape) {
    Tensor tensor({name, DType::kFloat32, shape});
    for (std::int64_t i = 0; i < element_count(shape); ++i) tensor.as<float>()[i] = static_cast<float>(i);
    write_npy(folder_ / (name + ".npy"), tensor.view());
    return (folder_ / (name + ".npy")).string();
  }
  // A file of bare numbers: 0, 1, 2, …
  std::string save_raw(const std::string& name, std::size_t count) {
    std::ofstream out(folder_ / name, std::ios::binary);
    for (std::size_t i = 0; i < count; ++i) {
      const auto number = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&number), sizeof number);
    }
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(InputFiles, RawNumbersHaveTypeAndShapeOfTheirInput) {
  const std::vector<TensorSpec> one{{"x", DType::kFloat32, {64, 3}}};
  for (const auto& text : {save_raw("a.bin", 6), "x:" + save_raw("b.raw", 6)}) {
    const pass::InputRequest request{one, {}, 1, {text}, {}, 1};
    const auto inputs = make_inputs(request);
    ASSERT_EQ(inputs.at(0).spec().shape, (Shape{2, 3})) << text;
    EXPECT_EQ(inputs[0].as<float>()[5], 5);
    EXPECT_EQ(samples_given(request), 2);
  }
  // The batch is dimension 1 of the second input, and the third has none.
  pass::InputRequest several{{{"x", DType::kFloat32, {2, 1}},
                              {"state", DType::kFloat32, {2, 2, 3}},
                              {"step", DType::kInt64, {1, 1}}},
                             {},
                             1,
                             {},
                             {},
                             2,
                             {0, 1, pass::kNoBatch}};
  several.load_inputs = {"state:" + save_raw("s.bin", 12), "x:" + save_raw("x.dat", 2),
                         "step:" + save_raw("t.bin", 2)};
  const auto inputs = make_inputs(several);
  EXPECT_EQ(inputs[1].as<float>()[3],
            6);  // sample 0 is the first of each of the two rows of the model's input
}

TEST_F(InputFiles, RawNumbersOfAnotherSizeAreRefusedWithBothSizes) {
  const auto refusal = [&](const std::vector<TensorSpec>& specs, const std::string& text) -> std::string {
    try {
      make_inputs({specs, {}, 1, {text}, {}, 1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      return error.what();
    }
    return "";
  };
  const std::vector<TensorSpec> one{{"x", DType::kFloat32, {64, 3}}};
  const auto two = std::vector<TensorSpec>{one[0], {"y", DType::kFloat32, {64, 3}}};
  const auto said = refusal(one, save_raw("a.bin", 7));
  for (const char* words :
       {"a.bin' has 28 bytes", "'x' takes 12 per sample, or a multiple of it", "float32 [1, 3]"})
    EXPECT_NE(said.find(words), std::string::npos) << said;
  EXPECT_NE(refusal(one, save_raw("empty.bin", 0)).find("has 0 bytes"), std::string::npos);
  EXPECT_NE(refusal(two, save_raw("a.bin", 6))
                .find("does not say which input it is for; the model's inputs are x, y"),
            std::string::npos);
  EXPECT_NE(refusal(one, "z:" + save_raw("a.bin", 6)).find("names no input of the model"), std::string::npos);
  EXPECT_NE(refusal(one, "x:" + (folder_ / "gone.bin").string()).find("is no file"), std::string::npos);
  EXPECT_NE(refusal(one, folder_.string() + "/f.bin").find("is no file"), std::string::npos);
}

TEST_F(InputFiles, AnArrayIsOneUnderAnyName) {
  fs::rename(save("x", {2, 3}), folder_ / "x.bin");
  const auto inputs =
      make_inputs({{{"x", DType::kFloat32, {64, 3}}}, {}, 1, {(folder_ / "x.bin").string()}, {}, 1});
  EXPECT_EQ(inputs.at(0).spec().shape, (Shape{2, 3}));
}

TEST_F(InputFiles, OneArchiveFeedsEachInputItsOwnArray) {
  Tensor a({"a", DType::kFloat32, {1, 2}}), b({"b", DType::kFloat32, {1, 2}});
  std::fill_n(a.as<float>(), 2, 1.0F);
  std::fill_n(b.as<float>(), 2, 2.0F);
  const std::vector<TensorView> both{a.view(), b.view()};
  const auto file = (folder_ / "s.npz").string();
  write_npz(file, both);
  const std::vector<TensorSpec> specs{{"b", DType::kFloat32, {1, 2}}, {"a", DType::kFloat32, {1, 2}}};
  const auto inputs = make_inputs({specs, {}, 1, {"a:" + file, "b:" + file}, {}});
  ASSERT_EQ(inputs.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(inputs[0].as<float>()[i], 2.0F);
    EXPECT_EQ(inputs[1].as<float>()[i], 1.0F);
  }
}

TEST_F(InputFiles, ASizeThatIsLeftOpenIsThatOfTheArray) {
  const TensorSpec open{"x", DType::kFloat32, {3, -1, 4}};
  const auto made = make_inputs({{open}, {}, 1, {save("x", {3, 5, 4})}, {}});
  EXPECT_EQ(made.at(0).spec().shape, (Shape{3, 5, 4}));
  EXPECT_THROW(make_inputs({{open}, {}, 1, {save("x", {3, 5, 7})}, {}}), Error);
}

TEST_F(InputFiles, NoMoreSamplesThanAreGiven) {
  const auto file = save("x", {2, 3});
  const pass::InputRequest request{{{"input", DType::kFloat32, {64, 3}}}, {}, 1, {file}, {}, 1};
  EXPECT_EQ(make_inputs(request).at(0).spec().shape, (Shape{2, 3}));
  EXPECT_EQ(samples_given(request), 2);
  EXPECT_EQ(samples_given({{{"input", DType::kFloat32, {64, 3}}}, {}, 1, {}, {}, 1}), 0);
}

TEST_F(InputFiles, ABatchIsFilledUpWithRepeatedSamples) {
  const auto file = save("x", {2, 3});
  const auto t = make_inputs({{{"input", DType::kFloat32, {15, 3}}}, {}, 1, {file}, {}, 5}).at(0);
  EXPECT_EQ(t.spec().shape[0], 5);
  EXPECT_EQ(t.as<float>()[3], 3.0F);
  EXPECT_EQ(t.as<float>()[6], 0.0F);  // sample 2 is sample 0 again
}

TEST_F(InputFiles, WrongShapesNameFileHaveAndNeed) {
  const auto file = save("x", {2, 3});
  try {
    make_inputs({{{"input", DType::kFloat32, {5, 4}}}, {}, 1, {file}, {}});
    FAIL();
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("x.npy"), std::string::npos);
    EXPECT_NE(text.find("[2, 3]"), std::string::npos);
    EXPECT_NE(text.find("[2, 4]"), std::string::npos);
  }
}

TEST_F(InputFiles, EveryArrayHasAnInputOfItsOwn) {
  const auto a = save("a", {2, 3}), b = save("b", {2, 3});
  const std::vector<TensorSpec> two{{"x", DType::kFloat32, {2, 3}}, {"y", DType::kFloat32, {2, 3}}};
  const auto refusal = [&](const std::vector<TensorSpec>& specs, const std::vector<std::string>& files) {
    try {
      make_inputs({specs, {}, 1, files, {}});
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(two, {"x:" + a, "y:" + b}), "");
  EXPECT_NE(refusal({two[0]}, {"x:" + a, "x:" + b}).find("both bring the input 'x'"), std::string::npos);
  EXPECT_NE(refusal({two[0]}, {a, b}).find("brings an array 'a', and the model has no such input"),
            std::string::npos);
  EXPECT_NE(
      refusal(two, {"x:" + a, "z:" + b}).find("'z', and the model has no such input; its inputs are x, y"),
      std::string::npos);
  EXPECT_NE(refusal(two, {"x:" + a}).find("no array named 'y'"), std::string::npos);
}

TEST_F(InputFiles, AnInputMayHaveNoElements) {
  const auto axes = save("axes", {0});
  const auto inputs =
      make_inputs({{{"axes", DType::kFloat32, {1, 0}}}, {}, 1, {"axes:" + axes}, {}, 1, {pass::kNoBatch}});
  EXPECT_EQ(inputs.at(0).spec().shape, (Shape{1, 0}));
}

TEST_F(InputFiles, ANameMayHoldColons) {
  const auto file = save("x", {2, 3});
  const std::vector<TensorSpec> specs{{"in:0", DType::kFloat32, {2, 3}}};
  EXPECT_EQ(make_inputs({specs, {}, 1, {"in:0:" + file}, {}}).size(), 1U);
}

TEST_F(InputFiles, AreInTheModelsLayout) {
  const auto state = save("state", {2, 4, 1}), table = save("table", {5}), x = save("x", {4, 1});
  pass::InputRequest request{{{"x", DType::kFloat32, {4, 1}},
                              {"state", DType::kFloat32, {4, 2, 1}},
                              {"table", DType::kFloat32, {1, 5}}},
                             {},
                             1,
                             {"x:" + x, "state:" + state, "table:" + table},
                             {},
                             1,
                             {0, 1, -1}};
  const auto inputs = make_inputs(request);
  EXPECT_EQ(inputs[1].spec().shape, (Shape{4, 2, 1}));
  EXPECT_EQ(inputs[1].as<float>()[1], 4.0F);  // the second layer of the first sample
  EXPECT_EQ(inputs[2].spec().shape, (Shape{1, 5}));
  EXPECT_EQ(samples_given(request), 4);
}

TEST_F(InputFiles, OtherNumbersOfSamplesAreAnError) {
  const auto x = save("x", {4, 1}), y = save("y", {3, 1});
  const std::vector<TensorSpec> specs{{"x", DType::kFloat32, {4, 1}}, {"y", DType::kFloat32, {4, 1}}};
  EXPECT_THROW(make_inputs({specs, {}, 1, {x, y}, {}}), Error);
}

TEST_F(InputFiles, ATruncatedFileIsRefused) {
  const auto file = save("x", {2, 3});
  fs::resize_file(file, fs::file_size(file) - 4);
  EXPECT_THROW(make_inputs({{{"input", DType::kFloat32, {2, 3}}}, {}, 1, {file}, {}}), Error);
}

TEST_F(InputFiles, AFolderWithoutImagesIsNamed) {
  try {
    load_images(folder_, {"input", DType::kFloat32, {1, 3, 8, 8}}, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(folder_.string()), std::string::npos);
  }
  std::ofstream(folder_ / "broken.png") << "not a picture";
  EXPECT_THROW(load_images(folder_, {"input", DType::kFloat32, {1, 3, 8, 8}}, {}), Error);
}

// One red pixel.
void write_red_picture(const fs::path& file) {
  static const unsigned char kRedPng[] = {
      0x89, 'P',  'N',  'G',  0x0d, 0x0a, 0x1a, 0x0a, 0,    0,    0,    0x0d, 'I',  'H',
      'D',  'R',  0,    0,    0,    1,    0,    0,    0,    1,    8,    2,    0,    0,
      0,    0x90, 0x77, 0x53, 0xde, 0,    0,    0,    0x0c, 'I',  'D',  'A',  'T',  0x08,
      0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00, 0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d,
      0xb0, 0,    0,    0,    0,    'I',  'E',  'N',  'D',  0xae, 0x42, 0x60, 0x82};
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(kRedPng), sizeof kRedPng);
}

TEST_F(InputFiles, PicturesMayHaveTheirChannelsLastAndBytes) {
  write_red_picture(folder_ / "red.png");
  const auto bytes = load_images(folder_, {"input", DType::kUInt8, {1, 8, 8, 3}}, {});
  EXPECT_EQ(bytes.spec().shape, (Shape{1, 8, 8, 3}));
  EXPECT_EQ((std::vector<int>{bytes.as<std::uint8_t>()[0], bytes.as<std::uint8_t>()[1],
                              bytes.as<std::uint8_t>()[3]}),
            (std::vector<int>{255, 0, 255}));
  const auto floats = load_images(folder_, {"input", DType::kFloat32, {1, 8, 8, 3}}, {{127.5}, {127.5}});
  EXPECT_FLOAT_EQ(floats.as<float>()[0], 1);
  EXPECT_FLOAT_EQ(floats.as<float>()[1], -1);
  for (const auto& spec :
       {TensorSpec{"input", DType::kFloat32, {1, 1, 8, 8}}, TensorSpec{"input", DType::kInt64, {1, 3, 8, 8}}})
    EXPECT_THROW(load_images(folder_, spec, {}), Error);
}

TEST_F(InputFiles, EachPictureIsTimedOnceInEachPart) {
  write_red_picture(folder_ / "a.png");
  write_red_picture(folder_ / "b.png");
  result::PictureTimes times;
  const auto made =
      make_inputs({{{"input", DType::kFloat32, {4, 3, 64, 64}}}, {}, 1, {}, folder_, 4}, &times);
  EXPECT_EQ(made.at(0).spec().shape[0], 4);  // filled up with repeated ones
  for (const auto& part : {times.decode_ns, times.resize_ns, times.normalise_ns}) {
    ASSERT_EQ(part.size(), 2U);
    EXPECT_GT(part[0] + part[1], 0);
  }
}

TEST_F(InputFiles, ChannelsMayBeReversedAfterMeanAndScale) {
  write_red_picture(folder_ / "red.png");
  const auto t =
      load_images(folder_, {"input", DType::kFloat32, {1, 3, 8, 8}}, {{5, 10, 20}, {2, 5, 4}, true});
  EXPECT_FLOAT_EQ(t.as<float>()[0], (0 - 20) / 4.0F);        // blue
  EXPECT_FLOAT_EQ(t.as<float>()[2 * 64], (255 - 5) / 2.0F);  // red
  const auto mean_alone = load_images(folder_, {"input", DType::kFloat32, {1, 3, 8, 8}}, {{55}, {}});
  EXPECT_FLOAT_EQ(mean_alone.as<float>()[0], 200);
}

TEST_F(InputFiles, PicturesAreNormalisedPlanes) {
  write_red_picture(folder_ / "red.png");
  const auto t = load_images(folder_, {"input", DType::kFloat32, {4, 3, 8, 8}}, {});
  EXPECT_EQ(t.spec().shape, (Shape{1, 3, 8, 8}));
  EXPECT_NEAR(t.as<float>()[0], (1 - 0.485) / 0.229, 1e-3);   // red plane
  EXPECT_NEAR(t.as<float>()[64], (0 - 0.456) / 0.224, 1e-3);  // green plane
}

}  // namespace
}  // namespace paceline::workload
