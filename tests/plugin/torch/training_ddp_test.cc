// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "training_driver.h"

// Two ranks with half of every batch against one process with the whole. Without statistics of the batch the
// mean of two gradients is the gradient of the mean; what differs is the order of float32 additions.
namespace paceline::torch_test {
namespace {

constexpr double kTolerance = 1e-5;  // of the largest value of a tensor, after ten steps
constexpr double kRate = 0.01;       // with momentum 0.9, five times that diverges

struct Variant {
  std::string name;
  plugin::TrainSettings settings = separable();
};

// Sample ranges: both halves of a step are what the single process sees, micro-batch by micro-batch.
std::vector<Tensor> data_of(const plugin::Trainer& trainer, int step, int rank, int world,
                            int micro_batches) {
  const auto batch = trainer.batch_specs()[0].shape[0];
  std::vector<Tensor> data;
  for (int micro = 0; micro < micro_batches; ++micro) {
    const auto first = ((step * micro_batches + micro) * world + rank) * batch;
    for (auto& tensor : samples(trainer, first)) data.push_back(std::move(tensor));
  }
  return data;
}

Weights alone(const Variant& variant, int steps) {
  const auto trainer = make_trainer({.batch = 8, .settings = variant.settings});
  for (int step = 0; step < steps; ++step)
    train(*trainer, data_of(*trainer, step, 0, 1, variant.settings.accumulation_steps), kRate);
  return weights_of(*trainer);
}

void expect_equal_to_alone(const Variant& variant, double tolerance = kTolerance, int steps = 10) {
  SCOPED_TRACE(variant.name);
  const auto wanted = alone(variant, steps);
  with_ranks(2, [&](plugin::RankGroup& group) {
    const auto trainer = make_trainer({.batch = 4, .settings = variant.settings}, &group);
    for (int step = 0; step < steps; ++step)
      train(*trainer, data_of(*trainer, step, group.rank(), 2, variant.settings.accumulation_steps), kRate);
    EXPECT_LE(difference(weights_of(*trainer), wanted), tolerance) << "rank " << group.rank();
    const auto prints = group.gather(trainer->fingerprint());
    if (group.rank() == 0) {
      EXPECT_EQ(prints[0], prints[1]);
    }
  });
}

Variant structure(int bits) {
  Variant v{fmt::format("view {}, static {}, unused {}", bits & 1, (bits >> 1) & 1, bits >> 2)};
  v.settings.ddp.gradient_as_bucket_view = bits & 1;
  v.settings.ddp.static_graph = bits & 2;
  v.settings.ddp.find_unused_parameters = bits & 4;
  return v;
}

TEST(Ddp, EveryStructureEqualsOneProcess) {
  for (int bits = 0; bits < 8; ++bits) expect_equal_to_alone(structure(bits));
}

TEST(Ddp, EveryStructureAccumulates) {
  for (int bits = 0; bits < 8; ++bits) {
    auto variant = structure(bits);
    variant.settings.accumulation_steps = 2;
    expect_equal_to_alone(variant, kTolerance, 3);
  }
}

// Every pair of values of these six switches occurs in one of the rows.
TEST(Ddp, OptionsInPairsEqualOneProcess) {
  struct Row {
    double cap;
    const char* layout;
    double clip;
    double momentum;
    bool broadcast, view;
  };
  constexpr Row kRows[] = {
      {25, "contiguous", 0, 0, true, true},       {0.01, "channels_last", 0.5, 0.9, true, true},
      {0.01, "contiguous", 0, 0.9, false, false}, {25, "channels_last", 0.5, 0, false, false},
      {0.01, "channels_last", 0, 0, false, true}, {25, "contiguous", 0.5, 0.9, false, true},
      {25, "channels_last", 0, 0.9, true, false}, {0.01, "contiguous", 0.5, 0, true, false},
  };
  for (const auto& row : kRows) {
    Variant v{fmt::format("cap {}, {}, clip {}, momentum {}, broadcast {}, view {}", row.cap, row.layout,
                          row.clip, row.momentum, row.broadcast, row.view)};
    v.settings.ddp.bucket_cap_mb = row.cap;
    v.settings.layout = row.layout;
    v.settings.clip_norm = row.clip;
    v.settings.optimizer.momentum = row.momentum;
    v.settings.ddp.broadcast_buffers = row.broadcast;
    v.settings.ddp.gradient_as_bucket_view = row.view;
    expect_equal_to_alone(v);
  }
}

// 16 bits on the wire: 11 of them carry a float16's value, 8 a bfloat16's; ten steps round ten times.
TEST(Ddp, CommHooksRoundOnlyOnTheWire) {
  Variant half{"fp16_compress"}, brain{"bf16_compress"};
  half.settings.ddp.comm_hook = half.name;
  brain.settings.ddp.comm_hook = brain.name;
  expect_equal_to_alone(half, 10.0 / (1 << 11));
  expect_equal_to_alone(brain, 10.0 / (1 << 8));
}

TEST(Ddp, CommHooksHalveTheBytes) {
  with_ranks(2, [](plugin::RankGroup& group) {
    plugin::TrainSettings settings;
    settings.ddp.comm_hook = "fp16_compress";
    const auto trainer = make_trainer({.settings = settings}, &group);
    Diary diary;
    train(*trainer, samples(*trainer, 0), 0.05, &diary);
    EXPECT_EQ(diary.bucket_bytes(), std::vector<std::int64_t>{trainer->info().parameters * 2});
  });
}

TEST(Ddp, OneRankIsPlainTraining) {
  const Variant variant{"one rank"};
  const auto wanted = alone(variant, 3);
  with_ranks(1, [&](plugin::RankGroup& group) {
    const auto trainer = make_trainer({.batch = 8, .settings = variant.settings}, &group);
    for (int step = 0; step < 3; ++step) train(*trainer, data_of(*trainer, step, 0, 1, 1), kRate);
    EXPECT_LE(difference(weights_of(*trainer), wanted), 1e-6);
    EXPECT_FALSE(trainer->info().bucket_bytes.empty());
  });
}

TEST(Ddp, EverybodyStartsWithRankZerosWeights) {
  with_ranks(2, [](plugin::RankGroup& group) {
    const auto seed = static_cast<std::uint64_t>(group.rank() + 1);
    const auto trainer = make_trainer({.weights_seed = seed, .settings = separable()}, &group);
    EXPECT_EQ(trainer->fingerprint(),
              make_trainer({.weights_seed = 1, .settings = separable()})->fingerprint());
  });
}

TEST(Ddp, TellsEveryBucketAndTheExposedPart) {
  with_ranks(2, [](plugin::RankGroup& group) {
    plugin::TrainSettings settings;
    settings.ddp.bucket_cap_mb = 0.02;
    const auto trainer = make_trainer({.settings = settings}, &group);
    Diary first, second;
    train(*trainer, samples(*trainer, 0), 0.05, &first);
    train(*trainer, samples(*trainer, 0), 0.05, &second);
    EXPECT_EQ(first.bucket_bytes().size(), 1u);  // the order of gradients is not known yet
    const auto bytes = second.bucket_bytes();
    EXPECT_EQ(bytes, trainer->info().bucket_bytes);
    ASSERT_GT(bytes.size(), 1u);
    EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}), trainer->info().parameters * 4);
    const auto lines = second.lines();
    const auto place = [&](const std::string& line) { return std::find(lines.begin(), lines.end(), line); };
    const auto last = "launched " + std::to_string(bytes.size() - 1);
    // The first communication of the step sends the buffers, before forward.
    EXPECT_LT(place("communication"), place("backward"));
    EXPECT_EQ(std::next(std::find(place("backward"), lines.end(), "communication")), place(last));
    EXPECT_LT(place("backward"), place("launched 0"));
    EXPECT_LT(place(last), place("optimizer"));
    EXPECT_EQ(lines.back(), "end");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_LT(place("launched " + std::to_string(i)), place("finished " + std::to_string(i)));
      EXPECT_LT(place("finished " + std::to_string(i)), place("end"));
    }
  });
}

TEST(Ddp, RefusesWhatMakesNoSense) {
  with_ranks(2, [](plugin::RankGroup& group) {
    const auto refused = [&](auto change, const std::string& words) {
      plugin::TrainSettings settings;
      change(settings.ddp);
      expect_error(ErrorCode::kUsage, [&] { make_trainer({.settings = settings}, &group); }, {words});
    };
    refused([](auto& ddp) { ddp.comm_hook = "zip"; }, "none, fp16_compress, bf16_compress");
    refused([](auto& ddp) { ddp.bucket_cap_mb = 0; }, "bucket_cap_mb is 0");
  });
}

TEST(Ddp, RanksWithoutItTrainAModelEach) {
  with_ranks(2, [](plugin::RankGroup& group) {
    plugin::TrainSettings settings;
    settings.ddp.enabled = false;
    auto trainer = make_trainer({.settings = settings}, &group);
    train(*trainer, samples(*trainer, group.rank()), 0.05);
    const auto prints = group.gather(trainer->fingerprint());
    if (group.rank() == 0) {
      EXPECT_NE(prints.at(0), prints.at(1));
    }
  });
}

TEST(Ddp, SaysThatAPeerHasGoneInTheMiddleOfAStep) {
  with_ranks(2, [](plugin::RankGroup& group) {
    auto trainer = make_trainer({.settings = separable()}, &group);
    train(*trainer, samples(*trainer, 0), 0.05);
    if (group.rank() == 1) return;
    expect_error(ErrorCode::kUnavailable, [&] { train(*trainer, samples(*trainer, 0), 0.05); },
                 {"step 1 failed: another rank's process has ended"});
  });
}

TEST(Ddp, SaysThatAPeerIsSilentInTheMiddleOfAStep) {
  std::atomic<bool> over = false;
  with_ranks(
      2,
      [&](plugin::RankGroup& group) {
        const auto trainer = make_trainer({.settings = separable()}, &group);
        if (group.rank() == 1) {
          while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(10));
          return;
        }
        expect_error(ErrorCode::kUnavailable, [&] { train(*trainer, samples(*trainer, 0), 0.05); },
                     {"step 0 failed: another rank did not answer within the group's timeout"});
        over = true;
      },
      1);
}

}  // namespace
}  // namespace paceline::torch_test
