// SPDX-License-Identifier: MIT
#include "training_driver.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/serialize.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/random.h"

namespace paceline::torch_test {
namespace {

constexpr const char* kPhases[] = {"input", "forward", "backward", "communication", "optimizer", "end"};

std::int64_t token_of(const TensorSpec& spec, const CounterRng& rng, std::uint64_t index) {
  if (spec.name == "attention_mask") return 1;
  return static_cast<std::int64_t>(rng.below(index, spec.name == "labels" ? 10 : 30000));
}

void fill(Tensor& tensor, std::int64_t first) {
  const auto& spec = tensor.spec();
  const CounterRng rng(5, hash64(spec.name));
  const auto count = static_cast<std::uint64_t>(element_count(spec.shape));
  const auto start = static_cast<std::uint64_t>(first) * (count / static_cast<std::uint64_t>(spec.shape[0]));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (spec.dtype == DType::kFloat32)
      tensor.as<float>()[i] = static_cast<float>(rng.normal(start + i));
    else
      tensor.as<std::int64_t>()[i] = token_of(spec, rng, start + i);
  }
}

std::vector<TensorView> views_of(std::vector<Tensor>& data) {
  std::vector<TensorView> views;
  for (auto& tensor : data) views.push_back(tensor.view());
  return views;
}

double largest(const std::vector<float>& values) {
  double most = 0;
  for (const auto v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!std::isfinite(d)) return INFINITY;  // also where both are NaN
    most = std::max(most, d);
  }
  return most;
}

void run_rank(int rank, int world, const Listener& listener, const RankWork& work, double timeout_s) {
  const auto store = connect(listener, rank == 0, timeout_s);
  plugin::GroupSpec spec;
  spec.rank = rank;
  spec.world = world;
  spec.timeout_s = timeout_s;
  const auto group = torch_plugin().entry<plugin::Role::kBackend>("gloo").join(store, spec);
  group->barrier();  // nobody needs the store any more
  work(*group);
}

}  // namespace

void Diary::enter(plugin::StepPhase phase) {
  const std::lock_guard lock(mutex_);
  lines_.emplace_back(kPhases[static_cast<std::size_t>(phase)]);
}
void Diary::launched(int bucket, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  lines_.push_back("launched " + std::to_string(bucket));
  bytes_.push_back(bytes);
}
void Diary::finished(int bucket) {
  const std::lock_guard lock(mutex_);
  lines_.push_back("finished " + std::to_string(bucket));
}
std::vector<std::string> Diary::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}
std::vector<std::int64_t> Diary::bucket_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::unique_ptr<plugin::Trainer> make_trainer(const Training& what, plugin::RankGroup* group) {
  plugin::ModelSpec model;
  model.name = what.model;
  model.inputs = inputs_of(what.model, what.batch, what.length);
  model.weights_seed = what.weights_seed;
  auto trainer = torch_plugin().make<plugin::Role::kTrainer>("cpu");
  trainer->load(model, what.settings, group);
  return trainer;
}

plugin::TrainSettings separable() {
  plugin::TrainSettings settings;
  settings.options["freeze_batch_norm"] = "true";
  settings.optimizer.momentum = 0;
  settings.optimizer.weight_decay = 0;
  return settings;
}

std::vector<Tensor> samples(const plugin::Trainer& trainer, std::int64_t first) {
  std::vector<Tensor> data;
  for (const auto& spec : trainer.batch_specs()) fill(data.emplace_back(spec), first);
  return data;
}

plugin::StepOutcome train(plugin::Trainer& trainer, std::vector<Tensor> data, double learning_rate,
                          plugin::StepRecorder* recorder) {
  Diary unread;
  trainer.open_step();
  auto outcome = trainer.step(views_of(data), learning_rate, recorder ? *recorder : unread);
  return outcome ? *outcome : trainer.finish().value();
}

plugin::StepOutcome evaluate(plugin::Trainer& trainer, std::vector<Tensor> data) {
  return trainer.evaluate(views_of(data));
}

Weights weights_of(plugin::Trainer& trainer) {
  const TemporaryFolder folder;
  trainer.save(folder.file("state"), true);
  torch::serialize::InputArchive archive;
  archive.load_from(folder.file("state"));
  c10::IValue count;
  archive.read("weight_count", count);
  Weights weights;
  for (std::int64_t i = 0; i < count.toInt(); ++i) {
    at::Tensor tensor;
    archive.read("weight_" + std::to_string(i), tensor, true);
    const auto flat = tensor.contiguous();
    weights.emplace_back(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return weights;
}

std::vector<unsigned char> random_state_in(const std::string& file) {
  torch::serialize::InputArchive archive;
  archive.load_from(file);
  at::Tensor state;
  archive.read("random_0", state, true);
  return {state.data_ptr<unsigned char>(), state.data_ptr<unsigned char>() + state.numel()};
}

double difference(const Weights& a, const Weights& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, largest_difference(a[i], b[i]) / std::max(largest(b[i]), 1e-30));
  return worst;
}

void expect_error(ErrorCode code, const std::function<void()>& call, const std::vector<std::string>& words) {
  const auto [thrown, message] = error_of(call);
  EXPECT_EQ(thrown, code) << message;
  for (const auto& part : words)
    EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
  for (const auto* stack : {"frame #", "Exception raised"})
    EXPECT_EQ(message.find(stack), std::string::npos) << message;
}

Listener::Listener() : descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(descriptor, 64) != 0)
    throw Error(ErrorCode::kIo, "cannot listen on 127.0.0.1");
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&at), &size);
  port = ntohs(at.sin_port);
}

std::shared_ptr<plugin::Store> connect(const Listener& listener, bool serve, double timeout_s) {
  plugin::Rendezvous where;
  where.port = listener.port;
  where.serve = serve;
  if (serve) where.listen_fd = listener.descriptor;
  where.timeout_s = timeout_s;
  return torch_plugin().entry<plugin::Role::kBackend>("gloo").connect(where);
}

void with_ranks(int world, const RankWork& work, double timeout_s) {
  const Listener listener;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      try {
        run_rank(rank, world, listener, work, timeout_s);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank << ": " << e.what();
      }
    });
}

}  // namespace paceline::torch_test
