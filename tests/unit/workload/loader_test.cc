// SPDX-License-Identifier: MIT
#include "workload/training/data/loader.h"

#include <gtest/gtest.h>

#include <cstring>

#include "unit/workload/scratch_folder.h"
#include "unit/workload/throws_with.h"

namespace paceline::workload {
namespace {

LoaderSetup image_setup() {
  LoaderSetup setup;
  setup.data.synthetic_fresh = true;
  setup.data.synthetic_samples = 60;
  setup.specs = {{"input", DType::kFloat32, {4, 3, 6, 6}}, {"labels", DType::kInt64, {4}}};
  setup.micro_batches = 2;
  setup.classes = 7;
  return setup;
}

// All data of one step, as bytes.
std::string step_bytes(Loader& loader) {
  std::string bytes;
  for (const auto& view : loader.next()) bytes.append(static_cast<const char*>(view.data), view.size_bytes());
  return bytes;
}

std::vector<std::string> steps(Loader& loader, int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(step_bytes(loader));
  return all;
}

TEST(Loader, GivesTheMicroBatchesOfAStepInTheOrderOfTheSpecs) {
  Loader loader(image_setup());
  const auto views = loader.next();
  ASSERT_EQ(views.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(views[i].name, i % 2 == 0 ? "input" : "labels");
  EXPECT_EQ(views[2].shape, (Shape{4, 3, 6, 6}));
  EXPECT_NE(std::memcmp(views[0].data, views[2].data, views[0].size_bytes()), 0);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GE(static_cast<const std::int64_t*>(views[1].data)[i], 0);
    EXPECT_LT(static_cast<const std::int64_t*>(views[1].data)[i], 7);
  }
  EXPECT_EQ(loader.samples_per_step(), 8);
  EXPECT_EQ(loader.steps_per_epoch(), 7);
}

TEST(Loader, TheNumberOfWorkersDoesNotShow) {
  std::vector<std::vector<std::string>> results;
  for (const std::int64_t workers : {0, 1, 3}) {
    auto setup = image_setup();
    setup.data.workers = workers;
    Loader loader(setup);
    results.push_back(steps(loader, 17));  // over two epochs
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_NE(results[0][0], results[0][7]);  // the next epoch has another order
}

TEST(Loader, RanksSeeDifferentData) {
  auto setup = image_setup();
  setup.world = 2;
  Loader zero(setup);
  setup.rank = 1;
  Loader one(setup);
  EXPECT_EQ(zero.steps_per_epoch(), 3);
  EXPECT_NE(step_bytes(zero), step_bytes(one));
}

TEST(Loader, SeekingIsReadingOn) {
  for (const std::int64_t workers : {0, 2}) {
    auto setup = image_setup();
    setup.data.workers = workers;
    Loader loader(setup);
    const auto all = steps(loader, 12);
    Loader other(setup);
    for (const int step : {9, 0, 11, 6}) {
      other.seek(step);
      EXPECT_EQ(other.step(), step);
      EXPECT_EQ(step_bytes(other), all[static_cast<std::size_t>(step)]) << step;
    }
    EXPECT_EQ(step_bytes(other), all[7]);
  }
}

TEST(Loader, APositionIsInSamplesOfAllRanks) {
  auto setup = image_setup();
  Loader loader(setup);
  steps(loader, 9);
  EXPECT_EQ(loader.epoch(), 1);
  const DataPosition position = loader.position();
  EXPECT_EQ(position.epoch, 1);
  EXPECT_EQ(position.samples, 16);
  setup.world = 2;  // 16 samples a step of all ranks
  Loader wider(setup);
  wider.seek(position);
  EXPECT_EQ(wider.step(), wider.steps_per_epoch() + 1);
  EXPECT_EQ(wider.position().samples, 16);
  loader.seek(DataPosition{});
  EXPECT_EQ(loader.step(), 0);
}

TEST(Loader, OneBatchThatIsAlwaysTheSame) {
  auto setup = image_setup();
  setup.data.synthetic_fresh = false;
  Loader loader(setup);
  const void* first = loader.next()[0].data;
  const auto bytes = step_bytes(loader);
  EXPECT_EQ(loader.next()[0].data, first);
  EXPECT_EQ(step_bytes(loader), bytes);
  EXPECT_FALSE(loader.deliverable_samples_per_s());
  EXPECT_EQ(loader.step(), 4);
  auto fresh = image_setup();
  fresh.data.workers = 0;
  Loader direct(fresh);
  EXPECT_EQ(step_bytes(direct), bytes);  // the same numbers as the first step of fresh ones
}

TEST(Loader, SaysWhatItCouldHaveDelivered) {
  for (const std::int64_t workers : {0, 2}) {
    auto setup = image_setup();
    setup.data.workers = workers;
    Loader loader(setup);
    loader.next();
    ASSERT_TRUE(loader.deliverable_samples_per_s());
    EXPECT_GT(*loader.deliverable_samples_per_s(), 0);
  }
}

TEST(Loader, LanguageModelsGetTokensAndMasksOfOnes) {
  LoaderSetup setup;
  setup.data.synthetic_fresh = true;
  setup.specs = {{"input_ids", DType::kInt64, {2, 50}}, {"attention_mask", DType::kInt64, {2, 50}}};
  setup.vocabulary = 30;
  Loader loader(setup);
  const auto views = loader.next();
  std::int64_t largest = 0;
  for (int i = 0; i < 100; ++i) {
    largest = std::max(largest, static_cast<const std::int64_t*>(views[0].data)[i]);
    EXPECT_EQ(static_cast<const std::int64_t*>(views[1].data)[i], 1);
  }
  EXPECT_LT(largest, 30);
  EXPECT_GT(largest, 20);
}

TEST(Loader, AnUnreadableFileIsNamedByNext) {
  const test::ScratchFolder folder;
  folder.write("cat/a.png", "not a picture");
  folder.write("dog/b.jpg", "neither");
  for (const std::int64_t workers : {0, 2}) {
    auto setup = image_setup();
    setup.data.source = "image_folder";
    setup.data.path = folder.path().string();
    setup.data.workers = workers;
    setup.data.shuffle = false;
    setup.specs = {{"input", DType::kFloat32, {1, 3, 6, 6}}, {"labels", DType::kInt64, {1}}};
    setup.micro_batches = 1;
    Loader loader(setup);
    for (int i = 0; i < 2; ++i) test::expect_error(ErrorCode::kData, {"cat/a.png"}, [&] { loader.next(); });
    EXPECT_EQ(loader.step(), 0);
    loader.seek(1);
    test::expect_error(ErrorCode::kData, {"dog/b.jpg"}, [&] { loader.next(); });
  }
}

TEST(Loader, RefusesWhatCannotBe) {
  const auto refused = [](ErrorCode code, std::initializer_list<std::string> parts, auto change) {
    auto setup = image_setup();
    change(setup);
    test::expect_error(code, parts, [&] { Loader loader(setup); });
  };
  refused(ErrorCode::kConfig, {"'cifar1000'", "did you mean 'cifar100'", "token_file", "npz"},
          [](auto& s) { s.data.source = "cifar1000"; });
  refused(ErrorCode::kConfig, {"token_file", "sequences"}, [](auto& s) { s.data.source = "token_file"; });
  refused(ErrorCode::kConfig, {"data.workers is -1"}, [](auto& s) { s.data.workers = -1; });
  refused(ErrorCode::kConfig, {"data.prefetch is 0"}, [](auto& s) { s.data.prefetch = 0; });
  refused(ErrorCode::kConfig, {"5 samples", "takes 8"}, [](auto& s) { s.data.synthetic_samples = 5; });
  refused(ErrorCode::kConfig, {"input_ids [N, S]", "a float32 [4, 9]"}, [](auto& s) {
    s.specs = {{"a", DType::kFloat32, {4, 9}}};
  });
  refused(ErrorCode::kConfig, {"3 channels", "takes 1"}, [](auto& s) {
    s.data.source = "npz";
    s.specs[0].shape[1] = 1;
  });
  for (const char* source : {"image_folder", "npz"})
    refused(ErrorCode::kConfig, {source, "data.path"}, [&](auto& s) { s.data.source = source; });
}

}  // namespace
}  // namespace paceline::workload
