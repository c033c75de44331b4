// SPDX-License-Identifier: MIT
#include "onnx/model_file.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "onnx/declared_inputs.h"
#include "onnx/graph.h"
#include "support/words.h"

namespace paceline::onnx {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ModelFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  // y = x + w with 1024 weights.
  static proto::ModelProto small_model() {
    proto::ModelProto model;
    auto& graph = *model.mutable_graph();
    std::vector<float> weights(1024);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    *graph.add_initializer() = make_tensor("w", Shape{1024}, weights);
    add_node(graph, "Add", "add", Names{"x", "w"}, Names{"y"});
    *graph.add_output() = make_value_info({"y", DType::kFloat32, {1024}});
    return model;
  }
  std::string reason(const fs::path& path) {
    try {
      (void)read_model(path);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  fs::path folder_;
};

TEST_F(ModelFile, WithoutOutputsThereIsNothingToCompute) {
  auto model = small_model();
  model.mutable_graph()->clear_output();
  write_model(model, folder_ / "m.onnx");
  EXPECT_NE(reason(folder_ / "m.onnx").find("names no outputs"), std::string::npos);
}

TEST_F(ModelFile, ComesBackAsWritten) {
  auto model = small_model();
  write_model(model, folder_ / "m.onnx");
  EXPECT_EQ(read_model(folder_ / "m.onnx").SerializeAsString(), model.SerializeAsString());
}

TEST_F(ModelFile, LargeWeightsMoveIntoAFileBesideItAndBack) {
  auto model = small_model();
  const auto before = model.SerializeAsString();
  write_model(model, folder_ / "m.onnx", {.external_data_above_bytes = 1000});
  EXPECT_EQ(model.SerializeAsString(), before);
  EXPECT_EQ(fs::file_size(folder_ / "m.onnx.data"), 4096U);
  EXPECT_LT(fs::file_size(folder_ / "m.onnx"), 1000U);
  EXPECT_EQ(read_model(folder_ / "m.onnx").SerializeAsString(), before);
  EXPECT_EQ(size_on_disk(folder_ / "m.onnx"),
            static_cast<std::int64_t>(fs::file_size(folder_ / "m.onnx") + 4096));
}

TEST_F(ModelFile, SaysWhatIsWrong) {
  EXPECT_NE(reason(folder_ / "none.onnx").find("no such file"), std::string::npos);
  std::ofstream(folder_ / "text.onnx") << "this is not a model";
  EXPECT_NE(reason(folder_ / "text.onnx").find("cannot be read as ONNX"), std::string::npos);
  std::ofstream(folder_ / "empty.onnx");
  EXPECT_NE(reason(folder_ / "empty.onnx").find("is empty"), std::string::npos);
  auto model = small_model();
  write_model(model, folder_ / "m.onnx");
  fs::resize_file(folder_ / "m.onnx", fs::file_size(folder_ / "m.onnx") / 2);
  EXPECT_NE(reason(folder_ / "m.onnx").find("cut short"), std::string::npos);
}

TEST_F(ModelFile, ATensorHasAsManyNumbersAsItsShapeSays) {
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{std::int64_t{1} << 62},
                                                {1'000'000, 1'000'000},
                                                {-4},
                                                {1'000'000'000, 1'000'000'000, 1000},
                                                {1023}}) {
    auto model = small_model();
    auto& tensor = *model.mutable_graph()->mutable_initializer(0);
    tensor.clear_dims();
    for (const auto size : dims) tensor.add_dims(size);
    write_model(model, folder_ / "m.onnx");
    EXPECT_NE(reason(folder_ / "m.onnx").find("tensor 'w'"), std::string::npos) << reason(folder_ / "m.onnx");
  }
}

TEST_F(ModelFile, TensorsInsideNodesAndGraphsInsideNodesCount) {
  for (const bool inner : {false, true}) {
    auto model = small_model();
    auto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
    auto& tensor = inner ? *attribute.mutable_g()->add_initializer() : *attribute.mutable_t();
    tensor = make_tensor("inside", Shape{2}, std::vector<float>{1, 2});
    write_model(model, folder_ / "m.onnx");
    EXPECT_EQ(reason(folder_ / "m.onnx"), "no error");
    tensor.set_dims(0, std::int64_t{1} << 40);
    write_model(model, folder_ / "m.onnx");
    EXPECT_NE(reason(folder_ / "m.onnx").find("tensor 'inside'"), std::string::npos);
  }
}

TEST_F(ModelFile, NodesThatNeedTheirOwnResultAreNamedInAnyOrder) {
  auto model = small_model();
  auto& graph = *model.mutable_graph();
  add_node(graph, "Relu", "late", Names{"sum"}, Names{"z"});
  add_node(graph, "Add", "early", Names{"y", "y"}, Names{"sum"});
  write_model(model, folder_ / "m.onnx");
  EXPECT_EQ(reason(folder_ / "m.onnx"), "no error");  // in another order, but each can run
  graph.mutable_node(0)->set_input(0, "z");
  write_model(model, folder_ / "m.onnx");
  EXPECT_NE(reason(folder_ / "m.onnx").find("has a cycle: node 'add' (Add)"), std::string::npos);
}

TEST_F(ModelFile, AFileThatNoMessageFillsIsRefusedBeforeItIsRead) {
  auto model = small_model();
  write_model(model, folder_ / "m.onnx");
  fs::resize_file(folder_ / "m.onnx", std::uintmax_t{300} << 30);
  for (const auto& read : std::vector<std::function<void(const fs::path&)>>{
           [](const auto& file) { (void)read_model(file); },
           [](const auto& file) { (void)files_on_disk(file); },
           [](const auto& file) { (void)read_declared_inputs(file.string()); }}) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      read(folder_ / "m.onnx");
      FAIL() << "a file of 300 GiB was read";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("an ONNX file ends at 2 GiB"), std::string::npos) << e.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
}

TEST_F(ModelFile, FilesOfExternalDataAreFoundInNodesToo) {
  auto model = small_model();
  const auto point_to = [](proto::TensorProto& tensor, const char* file) {
    tensor.clear_raw_data();
    tensor.set_data_location(proto::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(file);
  };
  auto& graph = *model.mutable_graph();
  point_to(*graph.mutable_initializer(0), "a.data");
  auto& attribute = *graph.mutable_node(0)->add_attribute();
  point_to(*attribute.mutable_t(), "b.data");
  point_to(*attribute.mutable_g()->add_initializer(), "c.data");
  point_to(*graph.add_initializer(), "../outside");
  write_model(model, folder_ / "m.onnx");
  EXPECT_EQ(files_on_disk(folder_ / "m.onnx"), (std::set<fs::path>{folder_ / "a.data", folder_ / "b.data",
                                                                   folder_ / "c.data", folder_ / "m.onnx"}));
}

TEST_F(ModelFile, ALinkUnderTheNameOfUnfinishedDataIsNotFollowed) {
  auto model = small_model();
  std::ofstream(folder_ / "other") << "kept";
  fs::create_symlink(folder_ / "other", folder_ / "m.onnx.data.partial");
  EXPECT_THROW(write_model(model, folder_ / "m.onnx", {.external_data_above_bytes = 0}), Error);
  EXPECT_EQ(read_file(folder_ / "other"), "kept");
}

TEST_F(ModelFile, MissingOrShortExternalDataIsNamed) {
  auto model = small_model();
  write_model(model, folder_ / "m.onnx", {.external_data_above_bytes = 0});
  fs::resize_file(folder_ / "m.onnx.data", 100);
  EXPECT_NE(reason(folder_ / "m.onnx").find("is cut short: tensor 'w'"), std::string::npos);
  const auto checked = [&] { return test::reason([&] { check_data_files(folder_ / "m.onnx"); }); };
  EXPECT_NE(checked().find("is cut short: tensor 'w'"), std::string::npos);
  std::ofstream(folder_ / "m.onnx.data") << "version https://git-lfs.github.com/spec/v1\n";
  EXPECT_NE(reason(folder_ / "m.onnx").find("git lfs pull"), std::string::npos);
  EXPECT_NE(checked().find("git lfs pull"), std::string::npos);
  fs::remove(folder_ / "m.onnx.data");
  EXPECT_NE(reason(folder_ / "m.onnx").find("keeps tensor 'w'"), std::string::npos);
  EXPECT_EQ(checked(), "no error") << "its reader says so";
}

TEST_F(ModelFile, ExternalDataStaysInTheModelsFolder) {
  auto model = small_model();
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("../../etc/passwd");
  std::ofstream(folder_ / "m.onnx", std::ios::binary) << model.SerializeAsString();
  EXPECT_NE(reason(folder_ / "m.onnx").find("not a place beside the model"), std::string::npos);
}

// models--me--net/snapshots/REV/m.onnx and its data are links into blobs/.
TEST_F(ModelFile, LinksOfACacheAreFollowedAndOthersThatLeaveAreNot) {
  const auto root = folder_ / "models--me--net", snapshot = root / "snapshots" / "0f1e";
  fs::create_directories(snapshot);
  fs::create_directories(root / "blobs");
  auto model = small_model();
  write_model(model, root / "blobs" / "m.onnx", {0});
  fs::rename(root / "blobs" / "m.onnx", root / "blobs" / "1111");
  fs::rename(root / "blobs" / "m.onnx.data", root / "blobs" / "2222");
  fs::create_symlink("../../blobs/1111", snapshot / "m.onnx");
  fs::create_symlink("../../blobs/2222", snapshot / "m.onnx.data");
  EXPECT_EQ(reason(snapshot / "m.onnx"), "no error");
  EXPECT_NO_THROW(check_data_files(snapshot / "m.onnx"));
  fs::create_directory_symlink(snapshot, folder_ / "net");
  EXPECT_EQ(reason(folder_ / "net" / "m.onnx"), "no error") << "a link to the folder";

  fs::rename(root / "blobs" / "2222", folder_ / "elsewhere");
  fs::remove(snapshot / "m.onnx.data");
  fs::create_symlink(folder_ / "elsewhere", snapshot / "m.onnx.data");
  EXPECT_NE(reason(snapshot / "m.onnx").find("outside the model's folder, which is not followed"),
            std::string::npos);
  EXPECT_THROW(check_data_files(snapshot / "m.onnx"), Error);
  fs::create_symlink(folder_ / "elsewhere", root / "blobs" / "3333");
  fs::remove(snapshot / "m.onnx.data");
  fs::create_symlink("../../blobs/3333", snapshot / "m.onnx.data");
  EXPECT_THROW(check_data_files(snapshot / "m.onnx"), Error) << "a second link leaves it";
}

}  // namespace
}  // namespace paceline::onnx
