// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <fstream>

#include "driver.h"
#include "script_files.h"

namespace paceline::torch_test {
namespace {

std::vector<Tensor> images() {
  return data_for({{"input", DType::kFloat32, {2, 3, 8, 8}}});
}

class TorchScriptFile : public testing::TestWithParam<bool> {};

TEST_P(TorchScriptFile, RunsUnderBothEnginesAndPrecisions) {
  const TemporaryFolder folder;
  write_convolution_script(folder.file("m.pt"), GetParam());
  auto data = images();
  const auto plain = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "eager");
  bind(*plain, data);
  const auto expected = run(*plain);
  EXPECT_EQ(plain->synchronize(0)[0].shape, (Shape{2, 4, 6, 6}));
  EXPECT_EQ(setting(*plain, "torchscript_passes"), "none");
  const auto optimised = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "torchscript");
  bind(*optimised, data);
  EXPECT_LE(relative_error(run(*optimised), expected), 1e-5);
  EXPECT_EQ(optimised->read_back(0).flops, plain->read_back(0).flops);
  EXPECT_EQ(plain->read_back(0).flops, 2.0 * 2 * 4 * 36 * 27);
  ASSERT_EQ(plain->read_back(0).layers.size(), 1U);
  EXPECT_NE(plain->read_back(0).layers[0].type.find("convolution"), std::string::npos);
  EXPECT_EQ(plain->read_back(0).layers[0].flops, 2.0 * 2 * 4 * 36 * 27);
  EXPECT_EQ(plain->read_back(0).bytes, 4.0 * (2 * 3 * 64 + 4 * 27 + 2 * 4 * 36)) << "input, weights, output";
  const auto read = optimised->read_back(0);
  EXPECT_TRUE(!read.bytes || read.bytes == plain->read_back(0).bytes)
      << *read.bytes << ": of some convolutions only";
}

TEST_P(TorchScriptFile, RunsInBf16) {
  const TemporaryFolder folder;
  write_convolution_script(folder.file("m.pt"), GetParam());
  auto data = images();
  const auto plain = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "eager");
  bind(*plain, data);
  const auto expected = run(*plain);
  for (const std::string engine : {"eager", "torchscript"})
    for (const std::string precision : {"bf16", "amp_bf16"}) {
      std::unique_ptr<plugin::Engine> low;
      const auto [code, message] = error_of([&] {
        low = load_file(folder.file("m.pt"), {2, 3, 8, 8}, engine, precision);
      });
      if (code == ErrorCode::kUnsupported) GTEST_SKIP() << message;
      ASSERT_FALSE(code) << message;
      bind(*low, data);
      EXPECT_LE(relative_error(run(*low), expected), 0.02) << engine << " " << precision;
      const auto shares = low->read_back(0).precisions;
      ASSERT_EQ(shares.size(), 1u) << engine << " " << precision;
      EXPECT_EQ(shares[0].precision, "bf16") << engine << " " << precision;
    }
}

INSTANTIATE_TEST_SUITE_P(All, TorchScriptFile, testing::Bool(),
                         [](const auto& p) { return p.param ? "frozen" : "as_saved"; });

TEST(ScriptHints, SayWhatAnInputIndexesAndTakes) {
  struct Row {
    std::string body;
    Shape weights;
    std::int64_t id_limit;
    std::optional<Shape> example;
  };
  const Row rows[] = {
      {"torch.embedding(self.weight, x)", {7, 4}, 7, Shape{-1, 128}},
      {"torch.embedding(self.weight, x.reshape(-1, 4).unsqueeze(0))", {1, 4}, 1, Shape{-1, 128}},
      {"torch.index_select(self.weight, 1, x)", {7, 4}, 4, std::nullopt},
      {"torch.embedding(self.weight, x + 1)", {7, 4}, 0, std::nullopt},
      {"torch.conv2d(x, self.weight, groups=2)", {8, 3, 3, 3}, 0, Shape{-1, 6, 224, 224}},
      {"torch.matmul(x, self.weight)", {24, 3}, 0, Shape{-1, 24}},
      {"x * 2", {1, 1}, 0, std::nullopt},
  };
  const TemporaryFolder folder;
  for (const auto& row : rows) {
    write_script_with_weights(folder.file("m.pt"), row.body, row.weights);
    const auto inputs = torch_plugin().make<plugin::Role::kEngine>("eager")->file_inputs(folder.file("m.pt"));
    ASSERT_EQ(inputs.size(), 1u) << row.body;
    EXPECT_EQ(inputs[0].id_limit, row.id_limit) << row.body;
    EXPECT_EQ(inputs[0].example, row.example) << row.body;
    EXPECT_EQ(inputs[0].dtype.has_value(), row.id_limit > 0) << row.body;
  }
}

TEST(TorchScriptFiles, AModelThatWritesToItsInputGetsACopyEachTime) {
  const TemporaryFolder folder;
  const std::pair<const char*, bool> rows[] = {
      {"    y = x[:, 1]\n    y.mul_(3)\n    return x + 0\n", true},
      {"    x.sub_(1)\n    return x * 2\n", true},
      {"    y = x * 2\n    y.add_(1)\n    return torch.relu_(y)\n", false}};
  for (const auto& [lines, writes] : rows)
    for (const std::string engine : {"eager", "torchscript"}) {
      write_forward_script(folder.file("m.pt"), lines);
      const auto loaded = load_file(folder.file("m.pt"), {2, 3}, engine);
      auto data = data_for({{"input", DType::kFloat32, {2, 3}}});
      bind(*loaded, data);
      const auto first = run(*loaded);
      for (int again = 0; again < 3; ++again) EXPECT_EQ(run(*loaded), first) << lines << engine;
      EXPECT_EQ(setting(*loaded, "torchscript_copied_inputs"),
                writes ? std::optional<std::string>("x") : std::nullopt)
          << lines << engine;
    }
}

TEST(ScriptLists, TakeTheSamplesOfABatchAndNameWhatTheyReturn) {
  const TemporaryFolder folder;
  write_list_script(folder.file("m.pt"));
  for (const std::int64_t batch : {1, 2}) {
    plugin::ModelSpec model;
    model.file = folder.file("m.pt");
    model.inputs = {{"images", DType::kFloat32, {batch, 2, 5}}};
    const auto engine = torch_plugin().make<plugin::Role::kEngine>("eager");
    engine->load(model, {});
    auto data = data_for(model.inputs);
    bind(*engine, data);
    engine->enqueue(0);
    std::vector<std::string> names;
    for (const auto& output : engine->synchronize(0)) names.push_back(output.name);
    const std::vector<std::string> one{"boxes", "scores"}, two{"0.boxes", "0.scores", "1.boxes", "1.scores"};
    EXPECT_EQ(names, batch == 1 ? one : two);
    EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{5}));
  }
}

TEST_P(TorchScriptFile, SwitchesThatTracingBakedInAreReadAndSetAsTheCaseAsks) {
  const TemporaryFolder folder;
  auto data = images();
  write_convolution_script(folder.file("plain.pt"), GetParam());
  const auto plain = load_file(folder.file("plain.pt"), {2, 3, 8, 8}, "eager");
  bind(*plain, data);
  const auto expected = run(*plain);
  EXPECT_EQ(setting(*plain, "torchscript_switches_in_file"), std::nullopt);
  EXPECT_EQ(plain->read_back(0).note, "");
  for (const bool nested : {false, true}) {
    write_traced_script(folder.file("m.pt"), GetParam(), nested);
    const auto engine = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "eager");
    EXPECT_EQ(
        setting(*engine, "torchscript_switches_in_file"),
        "allow_tf32 on in 1 of 1 calls, benchmark on in 1 of 1 calls, deterministic on in 1 of 1 calls, "
        "cudnn_enabled on in 0 of 1 calls");
    EXPECT_EQ(
        setting(*engine, "torchscript_switches"),
        "allow_tf32 on in 0 of 1 calls, benchmark on in 0 of 1 calls, deterministic on in 0 of 1 calls, "
        "cudnn_enabled on in 1 of 1 calls");
    bind(*engine, data);
    EXPECT_EQ(run(*engine), expected);
    const auto read = engine->read_back(0);
    ASSERT_EQ(read.precisions.size(), 1u);
    EXPECT_EQ(read.precisions[0].precision, "fp32");
    EXPECT_NE(read.note.find("allows TF32 in 1 of 1 convolutions"), std::string::npos) << read.note;
    const auto compiled = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "torchscript");
    EXPECT_NE(setting(*compiled, "torchscript_switches_in_file"), std::nullopt);
    bind(*compiled, data);
    EXPECT_LE(relative_error(run(*compiled), expected), 1e-5);
    EXPECT_NE(compiled->read_back(0).note, "");
  }
}

TEST(TorchScriptFiles, AnExportedFileKeepsFp32OnEveryDevice) {
  const TemporaryFolder folder;
  plugin::ModelSpec spec;
  spec.name = "tiny_cnn";
  spec.inputs = {{"input", DType::kFloat32, {2, 3, 32, 32}}};
  torch_plugin().make<plugin::Role::kExporter>("torchscript")->write(spec, {}, folder.file("m.pt"));
  const auto engine = load_file(folder.file("m.pt"), {2, 3, 32, 32}, "eager");
  const auto found = setting(*engine, "torchscript_switches_in_file").value_or("");
  EXPECT_TRUE(found.starts_with("allow_tf32 on in 0 of ")) << found;
}

TEST(TorchScriptFiles, TransposedConvolutionsCountByTheirInput) {
  const TemporaryFolder folder;
  write_transposed_script(folder.file("m.pt"));
  const auto engine = load_file(folder.file("m.pt"), {2, 3, 8, 8}, "eager");
  auto data = images();
  bind(*engine, data);
  EXPECT_EQ(engine->read_back(0).flops, 2.0 * 2 * 3 * 64 * (4 * 2 * 2));
}

TEST(TorchScriptFiles, SeveralOutputsBecomeSeveralViews) {
  const TemporaryFolder folder;
  write_two_output_script(folder.file("two.pt"));
  const auto engine = load_file(folder.file("two.pt"), {1, 2}, "eager");
  auto data = data_for({{"input", DType::kFloat32, {1, 2}}});
  bind(*engine, data);
  engine->enqueue(0);
  const auto outputs = engine->synchronize(0);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].name, "output0");
  EXPECT_EQ(outputs[1].name, "output1");
  const float x = data[0].as<float>()[1];
  EXPECT_FLOAT_EQ(as_floats(outputs[0])[1], 2 * x);
  EXPECT_FLOAT_EQ(as_floats(outputs[1])[1], x + 1);
}

void expect_refused(const std::string& file, ErrorCode code, const std::string& part) {
  const auto [found, message] = error_of([&] { load_file(file, {2, 3, 8, 8}, "torchscript"); });
  EXPECT_EQ(found, code) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(message.find(file), std::string::npos) << message;
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400u) << message;
}

TEST(TorchScriptFiles, DamagedOnesAreRefusedInWords) {
  const TemporaryFolder folder;
  const auto whole = folder.file("whole.pt"), cut = folder.file("cut.pt");
  write_convolution_script(whole, false);
  std::filesystem::copy(whole, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(whole) / 2);
  expect_refused(cut, ErrorCode::kData, "cannot be read as TorchScript");
  std::ofstream(folder.file("text.pt")) << "not a model";
  expect_refused(folder.file("text.pt"), ErrorCode::kData, "cannot be read as TorchScript");
  std::ofstream(folder.file("empty.pt")).flush();
  expect_refused(folder.file("empty.pt"), ErrorCode::kData, "cannot be read as TorchScript");
  write_tensor_archive(folder.file("tensor.pt"));
  expect_refused(folder.file("tensor.pt"), ErrorCode::kData, "torch.jit.save");
  expect_refused(folder.file("absent.pt"), ErrorCode::kData, "does not exist");
  std::filesystem::create_directory(folder.file("folder.pt"));
  expect_refused(folder.file("folder.pt"), ErrorCode::kData, "is a folder");
}

TEST(TorchScriptFiles, WrongShapesAndCountsAreRefusedInWords) {
  const TemporaryFolder folder;
  write_convolution_script(folder.file("m.pt"), false);
  const auto engine = load_file(folder.file("m.pt"), {2, 5, 8, 8}, "eager");
  auto data = data_for({{"input", DType::kFloat32, {2, 5, 8, 8}}});
  bind(*engine, data);
  auto [code, message] = error_of([&] { engine->enqueue(0); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_NE(message.find("channels"), std::string::npos) << message;
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
  plugin::ModelSpec spec;
  spec.file = folder.file("m.pt");
  std::tie(code, message) =
      error_of([&] { torch_plugin().make<plugin::Role::kEngine>("eager")->load(spec, {}); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_NE(message.find("takes 1 inputs (x), 0 given"), std::string::npos) << message;
}

}  // namespace
}  // namespace paceline::torch_test
