// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/json.h"
#include "base/random.h"
#include "training_driver.h"

// ResNet-50 with batch statistics on two ranks, against what PyTorch's own DistributedDataParallel gave from
// the same weights and batches: data/ddp_resnet50.json, written by tools/ddp_reference.py.
namespace paceline::torch_test {
namespace {

constexpr double kTolerance = 1e-5;
// Tolerance of a single value: vector instructions and caches decide the order of sums. Python itself differs
// by 7e-5 between AVX2 and AVX512, its losses by 3e-6; two makes of AVX512 differ by 3e-5.
constexpr double kOfValues = 2e-4;

// PACELINE_DDP_REFERENCE: what tools/ddp_reference.py gave on this very machine, where nothing may differ.
const char* own_reference() {
  return std::getenv("PACELINE_DDP_REFERENCE");
}

nlohmann::json read_reference() {
  std::ifstream file(own_reference() ? own_reference() : DDP_REFERENCE);
  return nlohmann::json::parse(file);
}

// As batch_of() in the script: uniform, because a logarithm may end in another digit elsewhere.
std::vector<Tensor> batch_of(const plugin::Trainer& trainer, std::uint64_t seed, std::uint64_t first) {
  std::vector<Tensor> data;
  for (const auto& spec : trainer.batch_specs()) data.emplace_back(spec);
  const CounterRng pixels(seed, hash64("input")), labels(seed, hash64("labels"));
  const auto batch = static_cast<std::uint64_t>(data[0].spec().shape[0]);
  const std::uint64_t size = 3 * 224 * 224;
  for (std::uint64_t i = 0; i < batch * size; ++i)
    data[0].as<float>()[i] = static_cast<float>(2.0 * pixels.uniform(first * size + i) - 1.0);
  for (std::uint64_t i = 0; i < batch; ++i)
    data[1].as<std::int64_t>()[i] = static_cast<std::int64_t>(labels.below(first + i, 1000));
  return data;
}

Training training_of(const nlohmann::json& reference) {
  Training what;
  what.model = "resnet50";
  what.batch = reference.at("batch");
  what.weights_seed = reference.at("weights_seed");
  what.settings.optimizer.momentum = reference.at("momentum");
  what.settings.optimizer.weight_decay = reference.at("weight_decay");
  what.settings.ddp.gradient_as_bucket_view = false;  // PyTorch's default
  return what;
}

double norm_of(const std::vector<float>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

void expect_same_tensors(const nlohmann::json& wanted, const Weights& weights) {
  ASSERT_EQ(wanted.size(), weights.size());
  const double of_values = own_reference() ? kTolerance : kOfValues;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string name = wanted[i].at("name");
    const double norm = wanted[i].at("norm"), largest = wanted[i].at("largest");
    EXPECT_NEAR(norm_of(weights[i]), norm, kTolerance * norm) << name;
    for (const auto& [place, value] :
         wanted[i].at("values").get<std::vector<std::pair<std::size_t, double>>>())
      EXPECT_NEAR(weights[i].at(place), value, of_values * largest) << name << "[" << place << "]";
  }
}

TEST(DdpReference, ResNet50TrainsAsInPython) {
  const auto reference = read_reference();
  const auto& losses = reference.at("losses");
  with_ranks(
      2,
      [&](plugin::RankGroup& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        const auto trainer = make_trainer(training_of(reference), &group);
        const auto batch = reference.at("batch").get<std::uint64_t>();
        for (std::size_t step = 0; step < losses[rank].size(); ++step) {
          auto data = batch_of(*trainer, reference.at("data_seed"), (2 * step + rank) * batch);
          const auto loss = train(*trainer, std::move(data), reference.at("learning_rate")).loss;
          const double wanted = losses[rank][step];
          EXPECT_NEAR(loss, wanted, kTolerance * wanted) << "rank " << rank << ", step " << step;
        }
        if (rank != 0) return;
        EXPECT_EQ(trainer->info().bucket_bytes,
                  reference.at("bucket_bytes").get<std::vector<std::int64_t>>());
        expect_same_tensors(reference.at("tensors"), weights_of(*trainer));
      },
      60);
}

}  // namespace
}  // namespace paceline::torch_test
