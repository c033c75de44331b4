// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver.h"
#include "plugin/rank_group.h"
#include "plugin/trainer.h"

// Drives the plug-in's trainer and groups; the ranks of a test are threads.
namespace paceline::torch_test {

// Writes down what a trainer tells.
class Diary : public plugin::StepRecorder {
 public:
  void enter(plugin::StepPhase phase) override;
  void launched(int bucket, std::int64_t bytes) override;
  void finished(int bucket) override;
  // Everything in its order: "forward", "launched 0", …
  [[nodiscard]] std::vector<std::string> lines() const;
  [[nodiscard]] std::vector<std::int64_t> bucket_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::int64_t> bytes_;
};

struct Training {
  std::string model = "tiny_cnn";
  std::int64_t batch = 4;
  std::int64_t length = 8;  // of sequences
  std::uint64_t weights_seed = 3;
  plugin::TrainSettings settings{};
};

std::unique_ptr<plugin::Trainer> make_trainer(const Training& what, plugin::RankGroup* group = nullptr);

// Without statistics of the batch, momentum or weight decay: what ranks compute apart adds up to what one
// computes.
plugin::TrainSettings separable();

// Samples first, first + 1, … of an endless data set; of images and labels, or tokens.
std::vector<Tensor> samples(const plugin::Trainer& trainer, std::int64_t first);

// One step on them, or on several micro-batches one after the other.
plugin::StepOutcome train(plugin::Trainer& trainer, std::vector<Tensor> data, double learning_rate,
                          plugin::StepRecorder* recorder = nullptr);
plugin::StepOutcome evaluate(plugin::Trainer& trainer, std::vector<Tensor> data);

// Parameters, then buffers.
using Weights = std::vector<std::vector<float>>;
Weights weights_of(plugin::Trainer& trainer);
// The state of the random generator that a checkpoint of one rank holds.
std::vector<unsigned char> random_state_in(const std::string& file);
// The largest |a - b| of a tensor over the largest |b| of it, the worst tensor.
double difference(const Weights& a, const Weights& b);

// The call throws an Error of that code, whose words contain these, and no stack of LibTorch's.
void expect_error(ErrorCode code, const std::function<void()>& call, const std::vector<std::string>& words);

// A socket that listens on a free port of 127.0.0.1.
struct Listener {
  Listener();
  int descriptor = -1, port = 0;
};

// The store of a test; rank 0 serves it on the listener's socket.
std::shared_ptr<plugin::Store> connect(const Listener& listener, bool serve, double timeout_s = 20);

// Runs `work` on as many threads as there are ranks, each in a group with the others. Whatever one throws is
// a failure of the test.
using RankWork = std::function<void(plugin::RankGroup& group)>;
void with_ranks(int world, const RankWork& work, double timeout_s = 20);

}  // namespace paceline::torch_test
