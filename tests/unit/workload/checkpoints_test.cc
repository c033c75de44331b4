// SPDX-License-Identifier: MIT
#include "workload/training/checkpoints.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "unit/workload/scratch_folder.h"
#include "unit/workload/text_trainer.h"
#include "unit/workload/throws_with.h"
#include "workload/training/checkpoint_writer.h"

namespace paceline::workload {
namespace {
namespace fs = std::filesystem;
using test::expect_error;
using test::ScratchFolder;
using test::TextTrainer;

class Checkpoints : public ::testing::Test {
 protected:
  static CheckpointOwner owner(std::int64_t world = 1) { return {"tiny_cnn", "abc", world}; }
  pass::CheckpointSpec spec(std::int64_t keep = 10, bool asynchronous = false) const {
    pass::CheckpointSpec spec;
    spec.dir = dir().string();
    spec.keep = keep;
    spec.asynchronous = asynchronous;
    return spec;
  }
  [[nodiscard]] fs::path dir() const { return folder_ / "checkpoints"; }
  [[nodiscard]] fs::path part(std::int64_t step, std::int64_t rank = 0) const {
    return checkpoint_folder(dir(), step) / part_name(rank);
  }
  static TrainingState at(std::int64_t step) { return {step, {step / 10, step % 10 * 8}, {}}; }
  // One rank writes these.
  void write(std::initializer_list<std::int64_t> steps, const CheckpointOwner& who = owner()) const {
    CheckpointWriter writer(spec(), who, 0, 5);
    for (const auto step : steps) {
      TextTrainer trainer("state of step " + std::to_string(step));
      writer.save(trainer, at(step));
    }
  }
  // The newest good step, and that the newer one was refused with such a reason.
  void expect_fallback(std::int64_t to, const std::string& reason) const {
    const auto search = newest_good(dir(), owner(), false);
    ASSERT_TRUE(search.found);
    EXPECT_EQ(search.found->state.step, to);
    ASSERT_EQ(search.refused.size(), 1U);
    EXPECT_NE(search.refused[0].find(reason), std::string::npos) << search.refused[0];
    EXPECT_NE(search.refused[0].find("step_"), std::string::npos);
  }
  [[nodiscard]] std::vector<std::string> files(std::int64_t step) const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(checkpoint_folder(dir(), step), ignored))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  ScratchFolder folder_;
};

TEST_F(Checkpoints, HoldWhatWasWritten) {
  CheckpointWriter writer(spec(), owner(), 0, 5);
  TextTrainer trainer("weights");
  TrainingState state = at(25);
  state.schedule = {"cosine", 0.4, 3, 100, 0.1, 0, 0.5};
  const auto cost = writer.save(trainer, state);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->step, 25);
  EXPECT_EQ(cost->bytes, std::ssize(std::string("shared weights")));
  EXPECT_GE(cost->total_ns, cost->write_ns + cost->digest_ns);
  EXPECT_EQ(cost->stalled_ns, cost->total_ns);
  EXPECT_EQ(files(25), (std::vector<std::string>{"meta.json", "rank0.ckpt"}));

  const auto search = newest_good(dir(), owner(), false);
  ASSERT_TRUE(search.found);
  EXPECT_TRUE(search.refused.empty());
  EXPECT_EQ(search.found->state.data.epoch, 2);
  EXPECT_EQ(search.found->state.data.samples, 40);
  EXPECT_EQ(search.found->state.schedule.name, "cosine");
  EXPECT_EQ(search.found->state.schedule.base, 0.4);
  EXPECT_EQ(search.found->owner.model, "tiny_cnn");
  TextTrainer other;
  const auto restored = restore(other, *search.found, 0);
  EXPECT_EQ(other.state, "shared weights | shared weights");
  EXPECT_EQ(restored.bytes, cost->bytes);
}

TEST_F(Checkpoints, ASampleThatNoEpochHasIsRefused) {
  write({10, 20});
  const auto meta = checkpoint_folder(dir(), 20) / "meta.json";
  auto json = nlohmann::json::parse(read_file(meta));
  json["epoch_samples"] = 100'000'000'000'000'000;
  write_file_atomic(meta, json.dump());
  expect_fallback(10, "sample 100000000000000000 of epoch 2");
}

TEST_F(Checkpoints, AnEmptyFolderIsNoError) {
  EXPECT_FALSE(newest_good(dir(), owner(), false).found);
  fs::create_directories(dir() / "step_x");
  fs::create_directories(dir() / "step_-3");
  folder_.write("checkpoints/step_4x/meta.json", "{}");
  EXPECT_TRUE(list_checkpoints(dir()).empty());
}

TEST_F(Checkpoints, OfSeveralRanksWaitForAll) {
  CheckpointWriter zero(spec(), owner(2), 0, 20), one(spec(), owner(2), 1, 20);
  for (const std::int64_t step : {10, 20}) {
    TextTrainer first("zero"), second("one");
    std::thread peer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      one.save(second, at(step));
    });
    zero.save(first, at(step));
    peer.join();
    EXPECT_EQ(files(step), (std::vector<std::string>{"meta.json", "rank0.ckpt", "rank1.ckpt"}));
  }
  const auto search = newest_good(dir(), owner(2), false);
  ASSERT_TRUE(search.found);
  TextTrainer trainer;
  restore(trainer, read_checkpoint(dir(), 20), 1);
  EXPECT_EQ(trainer.state, "shared zero | own one");
  restore(trainer, *search.found, 2);  // there was no rank 2
  EXPECT_EQ(trainer.state, "shared zero | shared zero");
}

TEST_F(Checkpoints, AMissingRankIsNamedAndTheOldOnesStay) {
  write({10});
  CheckpointWriter writer(spec(), owner(2), 0, 0.05);
  TextTrainer trainer("x");
  expect_error(ErrorCode::kTimeout, {"step 20", "rank 1", dir().string()},
               [&] { writer.save(trainer, at(20)); });
  EXPECT_FALSE(fs::exists(checkpoint_folder(dir(), 20)));
  EXPECT_EQ(newest_good(dir(), owner(), false).found->state.step, 10);
}

TEST_F(Checkpoints, ATruncatedOneIsRefused) {
  write({10, 20});
  fs::resize_file(part(20), fs::file_size(part(20)) - 1);
  expect_fallback(10, "bytes instead of");
}

TEST_F(Checkpoints, AFlippedByteIsNoticed) {
  write({10, 20});
  std::string content = read_file(part(20));
  content[5] ^= 1;
  write_file_atomic(part(20), content);
  expect_fallback(10, "SHA-256");
}

TEST_F(Checkpoints, AMissingPartIsNoticed) {
  write({10, 20});
  fs::remove(part(20));
  expect_fallback(10, "rank0.ckpt");
}

TEST_F(Checkpoints, WithoutMetaItIsUnfinished) {
  write({10, 20});
  fs::remove(checkpoint_folder(dir(), 20) / "meta.json");
  expect_fallback(10, "unfinished");
}

TEST_F(Checkpoints, MetaThatMakesNoSenseIsRefused) {
  const auto with_meta = [&](const std::string& meta, const std::string& reason) {
    write({10, 20});
    write_file_atomic(checkpoint_folder(dir(), 20) / "meta.json", meta);
    expect_fallback(10, reason);
  };
  with_meta("{\"step\": ", "damaged");
  with_meta("{}", "schema_version");
  with_meta(R"({"schema_version": "2.0", "step": 20})", "'2.0'");
  with_meta(R"({"schema_version": "1.0", "step": "20"})", "'step'");
  with_meta(R"({"schema_version": "1.0", "step": 30})", "step 30");
  with_meta(R"({"schema_version": "1.0", "step": 20})", "0 files");
}

TEST_F(Checkpoints, ForeignOnesAreRefusedWithTheReason) {
  write({10});
  write({20}, {"resnet50", "abc", 1});
  expect_fallback(10, "'resnet50'");
  write({20}, {"tiny_cnn", "other", 1});
  expect_fallback(10, "another plan (other");
}

TEST_F(Checkpoints, OfAnotherNumberOfRanksOnlyWhenAllowed) {
  write({10});
  const auto strict = newest_good(dir(), owner(4), false);
  EXPECT_FALSE(strict.found);
  EXPECT_NE(strict.refused.at(0).find("1 ranks, this training has 4"), std::string::npos);
  EXPECT_TRUE(newest_good(dir(), owner(4), true).found);
}

TEST_F(Checkpoints, RefusesCheckpointsThatCannotBeRestored) {
  write({10, 20});
  const auto search = newest_good(dir(), owner(), false, [](const Checkpoint& one) {
    if (one.state.step == 20) throw Error(ErrorCode::kData, "its numbers are not finite");
  });
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->state.step, 10);
  EXPECT_NE(search.refused.at(0).find("not finite"), std::string::npos) << search.refused[0];
}

TEST_F(Checkpoints, OnlyTheNewestOfTheSameOwnerAreKept) {
  write({5}, {"resnet50", "abc", 1});
  CheckpointWriter writer(spec(2), owner(), 0, 5);
  TextTrainer trainer("x");
  for (const std::int64_t step : {10, 20, 30, 40}) writer.save(trainer, at(step));
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{40, 30, 5}));
  writer.save(trainer, at(15));  // after a fall back to an older one
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{40, 30, 15, 5}));
}

TEST_F(Checkpoints, ARefusedOneIsWrittenAgain) {
  write({10, 20});
  fs::resize_file(part(20), 1);
  write({20});
  EXPECT_EQ(newest_good(dir(), owner(), false).found->state.step, 20);
}

TEST_F(Checkpoints, RemovesFilesOfADeadProcessAtTheStart) {
  write({10});
  folder_.write("checkpoints/step_10/rank1.json", "{}");
  folder_.write("checkpoints/step_10/rank0.ckpt.part", "half");
  folder_.write("checkpoints/step_20/rank0.ckpt", "no meta");
  folder_.write("checkpoints/step_30/notes.txt", "not ours");
  const CheckpointWriter writer(spec(), owner(), 0, 5);
  EXPECT_EQ(files(10), (std::vector<std::string>{"meta.json", "rank0.ckpt"}));
  EXPECT_FALSE(fs::exists(checkpoint_folder(dir(), 20)));
  EXPECT_EQ(files(30), (std::vector<std::string>{"notes.txt"}));
  EXPECT_EQ(newest_good(dir(), owner(), false).found->state.step, 10);
}

TEST_F(Checkpoints, AsynchronousOnesFollowOneByOne) {
  CheckpointWriter writer(spec(10, true), owner(), 0, 5);
  TextTrainer trainer("first");
  EXPECT_FALSE(writer.save(trainer, at(10)));
  trainer.state = "changed while it is being written";
  const auto first = writer.save(trainer, at(20));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 10);
  EXPECT_LE(first->stalled_ns, first->total_ns);
  EXPECT_EQ(read_file(part(10)), "shared first");
  const auto last = writer.finish();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->step, 20);
  EXPECT_FALSE(writer.finish());
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{20, 10}));
}

TEST_F(Checkpoints, AnAsynchronousFailureSurfacesAtTheNextCall) {
  CheckpointWriter writer(spec(10, true), owner(2), 0, 0.02);  // rank 1 never writes
  TextTrainer trainer("x");
  EXPECT_FALSE(writer.save(trainer, at(10)));
  expect_error(ErrorCode::kTimeout, {"step 10", "rank 1"}, [&] { writer.save(trainer, at(20)); });
  EXPECT_FALSE(writer.finish());
  EXPECT_TRUE(list_checkpoints(dir()).empty());
}

TEST_F(Checkpoints, EndingWaitsForTheOneInFlight) {
  {
    CheckpointWriter writer(spec(10, true), owner(), 0, 5);
    TextTrainer trainer("x");
    writer.save(trainer, at(10));
  }
  EXPECT_TRUE(newest_good(dir(), owner(), false).found);
}

// No file of this process may grow beyond `bytes`, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(Checkpoints, AFullDiskLeavesTheOldOnesAlone) {
  write({10, 20});
  CheckpointWriter writer(spec(1), owner(), 0, 5);
  TextTrainer large(std::string(100'000, 'x')), small("x");
  {
    const FileSizeLimit limit(4'096);
    expect_error(ErrorCode::kIo, {"rank0.ckpt"}, [&] { writer.save(large, at(30)); });
  }
  {
    const FileSizeLimit limit(20);  // room for the part, not for what is said of it
    expect_error(ErrorCode::kIo, {"rank0.json"}, [&] { writer.save(small, at(30)); });
  }
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{20, 10}));
  EXPECT_EQ(newest_good(dir(), owner(), false).found->state.step, 20);
  writer.save(small, at(30));
  EXPECT_EQ(list_checkpoints(dir()), (std::vector<std::int64_t>{30}));
}

}  // namespace
}  // namespace paceline::workload
