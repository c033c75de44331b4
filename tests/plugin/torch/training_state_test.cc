// SPDX-License-Identifier: MIT
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/serialize.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>

#include "torch/safetensors.h"
#include "torch/training/fingerprint.h"
#include "training_driver.h"

// Checkpoints: what goes on after one equals what would have gone on without it, to the bit.
namespace paceline::torch_test {
namespace {

std::vector<double> losses(plugin::Trainer& trainer, int first, int count, int rank = 0) {
  std::vector<double> all;
  for (int i = first; i < first + count; ++i) {
    std::vector<Tensor> data = samples(trainer, 100 * rank + 4 * i);
    all.push_back(train(trainer, std::move(data), 0.02).loss);
  }
  return all;
}

void expect_resumes(const Training& what) {
  const TemporaryFolder folder;
  const auto file = folder.file("state");
  const auto through = make_trainer(what);
  losses(*through, 0, 3);
  through->save(file, true);
  const auto wanted = losses(*through, 3, 3);
  auto other = what;
  other.weights_seed = 99;
  const auto resumed = make_trainer(other);
  resumed->restore(file, file);
  EXPECT_EQ(losses(*resumed, 3, 3), wanted);
  EXPECT_EQ(resumed->fingerprint(), through->fingerprint());
  EXPECT_EQ(weights_of(*resumed), weights_of(*through));
}

TEST(State, SgdWithMomentumGoesOnToTheBit) {
  expect_resumes({});
}

TEST(State, AdamWInChannelsLastGoesOnToTheBit) {
  Training what;
  what.settings.optimizer.name = "adamw";
  what.settings.layout = "channels_last";
  expect_resumes(what);
}

TEST(State, TheScalerGoesOnToTheBit) {
  Training what;
  what.settings.precision = "amp";
  what.settings.options = {{"emulate_16bit", "true"}, {"init_scale", "256"}, {"growth_interval", "2"}};
  expect_resumes(what);
}

// torch's state_dict of the same model; what PyTorch itself makes of the file is in tests/cli.
TEST(State, WeightsForOtherProgramsHaveTheNamesOfAStateDict) {
  const TemporaryFolder folder;
  const auto path = folder.file("w.safetensors");
  const auto trainer = make_trainer({});
  losses(*trainer, 0, 3);
  trainer->save(path, true);
  const torch_plugin::SafetensorsFile file(path);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : file.tensors()) names.push_back(name);
  const std::vector<std::string> wanted{"bn1.bias",
                                        "bn1.num_batches_tracked",
                                        "bn1.running_mean",
                                        "bn1.running_var",
                                        "bn1.weight",
                                        "bn2.bias",
                                        "bn2.num_batches_tracked",
                                        "bn2.running_mean",
                                        "bn2.running_var",
                                        "bn2.weight",
                                        "conv1.weight",
                                        "conv2.weight",
                                        "fc.bias",
                                        "fc.weight"};
  EXPECT_EQ(names, wanted);
  EXPECT_EQ(file.tensors().at("fc.weight").shape, (Shape{10, 2048}));
  const auto& counter = file.tensors().at("bn2.num_batches_tracked");
  EXPECT_EQ(counter.dtype, DType::kInt64);
  EXPECT_EQ(counter.shape, Shape{});
  std::int64_t batches = 0;
  std::memcpy(&batches, counter.bytes.data(), sizeof batches);
  EXPECT_EQ(batches, 3);
  EXPECT_EQ(std::filesystem::file_size(path) % 8, 0U);
}

// With buffers that differ from rank to rank, too.
TEST(State, TwoRanksGoOnToTheBit) {
  for (const bool broadcast : {true, false}) {
    const TemporaryFolder folder;
    with_ranks(2, [&](plugin::RankGroup& group) {
      Training what;
      what.settings.ddp.broadcast_buffers = broadcast;
      const auto rank = group.rank();
      const auto own = folder.file("rank" + std::to_string(rank)), first = folder.file("rank0");
      const auto through = make_trainer(what, &group);
      losses(*through, 0, 3, rank);
      through->save(own, rank == 0);
      group.barrier();
      const auto wanted = losses(*through, 3, 3, rank);
      what.weights_seed = 99;
      const auto resumed = make_trainer(what, &group);
      resumed->restore(first, own);
      EXPECT_EQ(losses(*resumed, 3, 3, rank), wanted);
      EXPECT_EQ(resumed->fingerprint(), through->fingerprint());
    });
  }
}

// After a checkpoint of one rank, a second one draws numbers of its own, and the first goes on.
TEST(State, ARankThatWasNotThereDrawsForItself) {
  const TemporaryFolder folder;
  const auto file = folder.file("state");
  make_trainer({})->save(file, true);
  std::vector<unsigned char> states[2];
  std::mutex turn;  // the ranks of this test share one generator
  with_ranks(2, [&](plugin::RankGroup& group) {
    const auto trainer = make_trainer({}, &group);
    group.barrier();
    const std::lock_guard lock(turn);
    const auto own = folder.file("own" + std::to_string(group.rank()));
    trainer->restore(file, file);
    trainer->save(own, false);
    states[group.rank()] = random_state_in(own);
  });
  EXPECT_EQ(states[0], random_state_in(file));
  EXPECT_NE(states[0], states[1]);
}

// Gives the file the random state of a generator on a CUDA device: 16 bytes.
void put_random_state_of_a_device(const std::string& file) {
  torch::serialize::InputArchive in;
  in.load_from(file);
  torch::serialize::OutputArchive out;
  const auto state = at::zeros({16}, at::kByte);
  for (const auto& key : in.keys()) {
    c10::IValue value;
    in.read(key, value);
    if (key == "training") continue;
    if (key == "random_device") value = std::string("cuda");
    if (key == "random_fingerprint") value = torch_plugin::fingerprint_of({state});
    if (value.isTensor())
      out.write(key, key == "random_0" ? state : value.toTensor(), /*is_buffer=*/true);
    else
      out.write(key, value);
  }
  out.save_to(file);
}

TEST(State, ACheckpointOfAnotherKindOfDeviceContinuesWithRandomNumbersOfItsOwn) {
  const TemporaryFolder folder;
  const auto file = folder.file("state");
  const auto trainer = make_trainer({});
  train(*trainer, samples(*trainer, 0), 0.02);
  trainer->save(file, true);
  put_random_state_of_a_device(file);
  const auto other = make_trainer({});
  other->restore(file, file);
  EXPECT_EQ(other->fingerprint(), trainer->fingerprint());
  other->save(folder.file("own"), true);
  const auto first = random_state_in(folder.file("own"));
  other->restore(file, file);
  other->save(folder.file("again"), true);
  EXPECT_EQ(random_state_in(folder.file("again")), first) << "the same file gives the same numbers";
}

class Refusals : public testing::Test {
 protected:
  Refusals() : file_(folder_.file("state")), trainer_(make_trainer({})) {
    train(*trainer_, samples(*trainer_, 0), 0.02);
    trainer_->save(file_, true);
  }
  void expect_refused(plugin::Trainer& trainer, const std::string& file, const std::string& words) {
    const auto before = trainer.fingerprint();
    const auto [code, message] = error_of([&] { trainer.restore(file, file); });
    EXPECT_EQ(code, ErrorCode::kData) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find(file), std::string::npos) << message;
    EXPECT_EQ(message.find("Exception raised"), std::string::npos) << message;
    EXPECT_EQ(trainer.fingerprint(), before);
  }
  void expect_refused(const std::string& file, const std::string& words) {
    expect_refused(*trainer_, file, words);
  }

  TemporaryFolder folder_;
  std::string file_;
  std::unique_ptr<plugin::Trainer> trainer_;
};

TEST_F(Refusals, NoFile) {
  expect_refused(folder_.file("nothing"), "does not exist");
}

TEST_F(Refusals, Truncated) {
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) / 2);
  expect_refused(file_, "cannot be read");
}

TEST_F(Refusals, NotAnArchive) {
  std::ofstream(file_, std::ios::trunc) << "loss,accuracy\n";
  expect_refused(file_, "cannot be read");
}

TEST_F(Refusals, Damaged) {
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(file_) / 2);
  file.seekg(middle);
  const auto byte = static_cast<char>(file.get());
  file.seekp(middle);
  file.put(static_cast<char>(byte ^ 0x10));
  file.close();
  expect_refused(file_, "damaged");
}

TEST_F(Refusals, AnotherModel) {
  expect_refused(*make_trainer({.model = "vit_b_16", .batch = 1}), file_, "model 'tiny_cnn'");
}

TEST_F(Refusals, AnotherOptimizer) {
  plugin::TrainSettings settings;
  settings.optimizer.name = "adamw";
  expect_refused(*make_trainer({.settings = settings}), file_, "optimizer 'sgd'");
  settings.optimizer.name = "sgd";
  settings.optimizer.momentum = 0;
  expect_refused(*make_trainer({.settings = settings}), file_,
                 "are model, optimizer and precision the same?");
}

TEST_F(Refusals, OneRanksPartOnly) {
  trainer_->save(file_, false);
  expect_refused(file_, "one rank's random state only");
}

// Makes one weight of the file infinite, with a fingerprint that fits.
void spoil_a_weight(const std::string& file) {
  torch::serialize::InputArchive in;
  in.load_from(file);
  torch::serialize::OutputArchive out;
  std::map<std::string, at::Tensor> weights;
  for (const auto& key : in.keys()) {
    c10::IValue value;
    in.read(key, value);
    if (key == "weight_fingerprint" || key == "training") continue;
    if (!value.isTensor()) {
      out.write(key, value);
      continue;
    }
    auto tensor = value.toTensor().clone();
    if (key == "weight_0") tensor.view({-1}).select(0, 0).fill_(std::numeric_limits<float>::infinity());
    if (key.starts_with("weight_")) weights[key] = tensor;
    out.write(key, tensor, /*is_buffer=*/true);
  }
  std::vector<at::Tensor> in_order;
  for (std::size_t i = 0; i < weights.size(); ++i)
    in_order.push_back(weights.at(fmt::format("weight_{}", i)));
  out.write("weight_fingerprint", c10::IValue(torch_plugin::fingerprint_of(in_order)));
  out.save_to(file);
}

TEST_F(Refusals, NumbersThatAreNotFinite) {
  spoil_a_weight(file_);
  expect_refused(file_, "not finite");
}

TEST_F(Refusals, NumbersThatAreNotFiniteAreNotWritten) {
  train(*trainer_, samples(*trainer_, 1), std::numeric_limits<double>::quiet_NaN());
  const auto other = folder_.file("other");
  const auto [code, message] = error_of([&] { trainer_->save(other, true); });
  EXPECT_EQ(code, ErrorCode::kInternal) << message;
  EXPECT_NE(message.find("not finite"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(other));
  trainer_->save(other, false);  // the other ranks' parts hold no weights
}

TEST_F(Refusals, NowhereToWrite) {
  const auto [code, message] = error_of([&] { trainer_->save(folder_.file("no/such/folder"), true); });
  EXPECT_EQ(code, ErrorCode::kIo) << message;
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  const auto [full, words] = error_of([&] { trainer_->save("/dev/full", true); });
  EXPECT_EQ(full, ErrorCode::kIo) << words;
  EXPECT_NE(words.find("No space left on device"), std::string::npos) << words;
}

}  // namespace
}  // namespace paceline::torch_test
