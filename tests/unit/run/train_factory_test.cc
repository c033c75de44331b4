// SPDX-License-Identifier: MIT
#include "run/training/train_factory.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "process/record_reader.h"
#include "result/stored/benchmark_params.h"
#include "run/case/case_identity.h"
#include "run/case/case_run.h"
#include "run/inference/pass_factory.h"
#include "run/ranks/rank_settings.h"
#include "unit/run/training_cases.h"

namespace paceline::run {
namespace {

TEST(TrainFactory, SettingsReachTheRanks) {
  const auto pass = train_pass(training_case(R"(model: resnet50
ranks: 2
batch: 4
precision: bf16
layout: channels_last
training: {optimizer: adamw, lr: 0.01, betas: [0.8, 0.99], seed: 7, clip_norm: 1, accumulation_steps: 3,
           schedule: step, lr_step_size: 5, lr_gamma: 0.5, lr_warmup_steps: 2, epochs: 4, dropout: false}
data: {source: synthetic, fresh: true, workers: 1, prefetch: 3, synthetic_samples: 640}
ddp: {bucket_cap_mb: 10, comm_hook: fp16_compress, gradient_as_bucket_view: false}
checkpoint: {dir: ck, every_steps: 9, keep: 3, async: true}
rdzv_timeout_s: 5
group_timeout_s: 11
inject: kill:rank=1,step=50
benchmark: {warmup_steps: 3, measure_steps: 12}
)"),
                               {2, "cpu"});
  EXPECT_EQ(pass.kind, pass::PassKind::kTrain);
  EXPECT_EQ(pass.world_size, 2);
  EXPECT_EQ(pass.batch, 4);
  EXPECT_EQ(pass.model.name, "resnet50");
  EXPECT_EQ(pass.model.weights_seed, 7U);
  EXPECT_EQ(pass.model.inputs.at(0).shape, (Shape{4, 3, 224, 224}));
  EXPECT_EQ(pass.loop.warmup.fixed_iterations, 3);
  EXPECT_EQ(pass.loop.iterations, 12);
  const auto& t = std::get<pass::TrainSpec>(pass.task);
  EXPECT_EQ(t.settings.precision, "bf16");
  EXPECT_EQ(t.settings.layout, "channels_last");
  EXPECT_EQ(t.settings.threads, 2);
  EXPECT_EQ(t.settings.accumulation_steps, 3);
  EXPECT_DOUBLE_EQ(t.settings.clip_norm, 1);
  EXPECT_FALSE(t.settings.dropout);
  EXPECT_EQ(t.settings.optimizer.name, "adamw");
  EXPECT_DOUBLE_EQ(t.settings.optimizer.beta1, 0.8);
  EXPECT_DOUBLE_EQ(t.settings.optimizer.weight_decay, 0.01);
  EXPECT_TRUE(t.settings.ddp.enabled);
  EXPECT_DOUBLE_EQ(t.settings.ddp.bucket_cap_mb, 10);
  EXPECT_EQ(t.settings.ddp.comm_hook, "fp16_compress");
  EXPECT_FALSE(t.settings.ddp.gradient_as_bucket_view);
  EXPECT_EQ(pass.ranks.backend, "gloo");
  EXPECT_EQ(t.schedule.name, "step");
  EXPECT_EQ(t.schedule.step_every, 5);
  EXPECT_EQ(t.schedule.warmup_steps, 2);
  EXPECT_DOUBLE_EQ(t.schedule.base, 0.01);
  EXPECT_TRUE(t.data.synthetic_fresh);
  EXPECT_EQ(t.data.synthetic_samples, 640);
  EXPECT_EQ(t.checkpoint.dir, "ck");
  EXPECT_TRUE(t.checkpoint.asynchronous);
  EXPECT_EQ(t.epochs, 4);
  EXPECT_EQ(t.inject, "kill:rank=1,step=50");
  EXPECT_DOUBLE_EQ(pass.ranks.rendezvous.timeout_s, 5);
  EXPECT_DOUBLE_EQ(pass.ranks.group_timeout_s, 11);
  EXPECT_EQ(samples_per_step(
                training_case("model: resnet50\nranks: 2\nbatch: 4\ntraining: {accumulation_steps: 3}\n")),
            24);
}

TEST(TrainFactory, ASpecTravelsAsJson) {
  auto pass = train_pass(training_case("model: gpt2\nranks: 2\nsequence_length: 32\n"), {1, "cpu"});
  pass.ranks.rendezvous.port = 1234;
  const auto json = pass::to_json(pass);
  EXPECT_EQ(pass::to_json(pass::pass_from_json(json)), json);
  EXPECT_EQ(json.at("kind"), "train");
}

TEST(TrainFactory, DefaultsSuitOptimizerAndWorld) {
  const auto sgd = std::get<pass::TrainSpec>(train_pass(training_case("model: resnet50\n"), {1, "cpu"}).task);
  EXPECT_FALSE(sgd.settings.ddp.enabled);
  EXPECT_DOUBLE_EQ(sgd.schedule.base, 0.1);
  EXPECT_DOUBLE_EQ(sgd.settings.optimizer.weight_decay, 1e-4);
  const auto adamw =
      std::get<pass::TrainSpec>(train_pass(training_case("model: bert-large\n"), {1, "cpu"}).task);
  EXPECT_DOUBLE_EQ(adamw.schedule.base, 1e-3);
  EXPECT_TRUE(adamw.settings.options.empty());
  const auto cuda = train_pass(training_case("model: resnet50\nranks: 2\n"), {1, "cuda"});
  EXPECT_EQ(cuda.ranks.backend, "nccl");
  EXPECT_EQ(std::get<pass::TrainSpec>(cuda.task).settings.options.at("cudnn_benchmark"), "true");
  EXPECT_EQ(std::get<pass::TrainSpec>(cuda.task).settings.options.at("sync_cuda"), "false");
}

TEST(TrainFactory, MeasuresStepsSecondsOrByTheRule) {
  const auto loop = [](const std::string& lines) {
    return train_pass(training_case("model: tiny_cnn\nbenchmark: " + lines + "\n"), {1, "cpu"}).loop;
  };
  EXPECT_EQ(loop("{measure_steps: 9}").iterations, 9);
  const auto seconds = loop("{measure_seconds: 2.5}");
  EXPECT_FALSE(seconds.iterations);
  EXPECT_EQ(seconds.stop.t_min_ns, 2'500'000'000);
  EXPECT_EQ(seconds.stop.t_max_ns, seconds.stop.t_min_ns);
  EXPECT_TRUE(seconds.stop.quantiles_ppm.empty());
  const auto rule = loop("{warmup_steps: 0}");
  EXPECT_FALSE(rule.iterations);
  EXPECT_EQ(rule.stop.t_max_ns, 300'000'000'000);
  EXPECT_EQ(rule.warmup.mode, stats::WarmupMode::kNone);
}

TEST(TrainFactory, CoresOfARankStayTheSameOverASweep) {
  const auto all = training_cases("model: tiny_cnn\ngpu_counts: [1, 2, 4]\n");
  EXPECT_EQ(threads_per_rank(all, 8), 2);
  EXPECT_EQ(threads_per_rank(all, 8, [](std::int64_t ranks) { return (ranks + 1) / 2; }), 4);  // two hosts
  EXPECT_EQ(threads_per_rank(all, 2, [](std::int64_t) { return 1; }), 2);  // each bound to CPUs of its own
  EXPECT_EQ(threads_per_rank(all, 2), 1);
  EXPECT_EQ(threads_per_rank({all[0]}, 8), 8);
}

TEST(TrainFactory, NamesOptionsWithoutAnEffect) {
  const auto c =
      training_case("model: tiny_cnn\nranks: 2\nbenchmark: {sync_cuda: true}\nprofiling: {enabled: true}\n");
  const auto notes = training_notes(c, "cpu");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[0].find("no effect here: benchmark.sync_cuda ("), std::string::npos);
  EXPECT_NE(notes[1].find("do not speak for GPUs"), std::string::npos);
  EXPECT_TRUE(training_notes(c, "cuda").empty());
  EXPECT_TRUE(training_notes(training_case("model: tiny_cnn\n"), "cpu").empty());
}

TEST(TrainFactory, MoreThreadsThanCoresAreSaid) {
  result::Training training;
  training.ranks.resize(3);
  for (auto& rank : training.ranks) rank.host = "a", rank.threads = 2, rank.cpus = "0-1";
  training.ranks[1].cpus = "2-3";
  training.ranks[2].host = "b";
  EXPECT_EQ(crowding_note(training), "");
  training.ranks[1].cpus = "1-2";
  EXPECT_EQ(crowding_note(training), "2 ranks with 4 threads share 3 cores of one host: they take turns");
  for (auto& rank : training.ranks) rank.cpus.clear();  // the kernel does not tell
  EXPECT_EQ(crowding_note(training), "");
}

TEST(TrainFactory, EqualCasesHaveEqualHashes) {
  EXPECT_EQ(plan_hash(training_case("model: tiny_cnn\n")), plan_hash(training_case("model: tiny_cnn\n")));
  EXPECT_NE(plan_hash(training_case("model: tiny_cnn\n")),
            plan_hash(training_case("model: tiny_cnn\ntraining: {lr: 0.2}\n")));
  EXPECT_NE(plan_hash(training_case("model: tiny_cnn\n")),
            plan_hash(training_case("model: tiny_cnn\nenv: {A: b}\n")));
}

TEST(TrainFactory, ResultsSayWhatWasTrained) {
  const auto r = new_case_result(
      training_case(
          "model: gpt2\nranks: 2\nddp: {comm_hook: bf16_compress}\ntraining: {accumulation_steps: 2}\n"),
      "run");
  EXPECT_EQ(r.benchmark.kind, WorkloadKind::kTraining);
  EXPECT_EQ(r.benchmark.world_size, 2);
  EXPECT_EQ(r.benchmark.params.at("ddp.comm_hook"), "bf16_compress");
  EXPECT_EQ(r.benchmark.params.at("training.accumulation_steps"), "2");
  EXPECT_EQ(r.benchmark.params.at("sequence_length"), "128");
  EXPECT_FALSE(r.benchmark.params.contains("data.source"));
  EXPECT_DOUBLE_EQ(*new_case_result(training_case("model: resnet50\n"), "run").flops.model_flops_per_item,
                   6 * 4'089'184'256.0);
  EXPECT_EQ(r.flops.convolution_share, Number(0.0));
  EXPECT_GT(*new_case_result(training_case("model: resnet50\n"), "run").flops.convolution_share, 0.999);
}

result::RankSteps steps_of(std::int64_t rank, std::int64_t step_ns) {
  result::RankSteps table;
  table.rank.rank = rank;
  for (std::int64_t i = 0; i < 12; ++i) {
    result::StepRow row;
    row.step = i;
    row.phase = i < 2 ? result::StepPhase::kWarmup : result::StepPhase::kTimed;
    row.start_ns = i * 1'000'000'000;
    row.step_ns = step_ns;
    row.loss = 1.0;
    table.rows.push_back(row);
  }
  return table;
}

CaseRun training_run(const std::filesystem::path& dir) {
  CaseRun run;
  run.definition = training_case("model: tiny_cnn\nranks: 2\nbatch: 8\nbenchmark: {measure_steps: 10}\n");
  run.base = train_pass(run.definition, {1, "cpu"});
  run.dir = dir;
  run.result = new_case_result(run.definition, "run");
  return run;
}

TEST(TrainingCase, StepsOfRanksBecomeFiguresAndFiles) {
  const auto dir = std::filesystem::path(::testing::TempDir()) / "paceline_training_case";
  std::filesystem::create_directories(dir);
  CaseRun run = training_run(dir);
  pass::PassReport report;
  report.fill<pass::TrainingReport>().rank_steps = {steps_of(0, 100'000'000), steps_of(1, 110'000'000)};
  report.repetition.payload.emplace<result::Training>().ddp = true;
  report.versions = {{"LibTorch", "2.15.0"}};
  result::SampledWindow window;
  window.sampler = "nvml", window.window_s = 1.1;
  window.series = {{"cuda:0", "energy", "J", {0, 1.1}, {5000, 5320}, {}}};
  report.sampled = {window};
  apply_repetition(run, report);
  ASSERT_EQ(run.result.devices.size(), 1U);
  EXPECT_EQ(run.result.devices[0].energy_per_item_j, Number(320.0 / (10 * 16)));
  EXPECT_TRUE(run.result.complete);
  EXPECT_EQ(run.result.effective_settings["version.LibTorch"], "2.15.0");
  EXPECT_EQ(run.result.outcome, result::Outcome::kOk);
  ASSERT_EQ(run.samples.size(), 10U);
  EXPECT_EQ(run.samples[0].rank, 1);
  EXPECT_NEAR(*run.result.stats.median_ns, 110e6, 1);
  EXPECT_NEAR(*run.result.throughput.per_s.value, 16 / 0.11, 0.01);
  EXPECT_EQ(run.result.throughput.item, "images");
  EXPECT_NEAR(*run.result.flops.achieved_flops_per_s, *run.result.flops.model_flops_per_item * 16 / 0.11,
              1e6);
  ASSERT_TRUE(run.result.training());
  EXPECT_EQ(run.result.training()->ranks.size(), 2U);
  EXPECT_EQ(run.result.training()->epochs[0].samples, 192);
  for (const char* file : {"rank0.jsonl", "rank1.jsonl", "metrics_epoch.jsonl"})
    EXPECT_TRUE(std::filesystem::exists(dir / file)) << file;
  std::filesystem::remove_all(dir);
}

TEST(TrainingCase, AnEarlierResultStandsWhereNothingIsLeftToTrain) {
  const auto dir = std::filesystem::path(::testing::TempDir()) / "paceline_trained_case";
  std::filesystem::create_directories(dir);
  CaseRun run = training_run(dir);
  pass::PassReport measured;
  measured.fill<pass::TrainingReport>().rank_steps = {steps_of(0, 100'000'000), steps_of(1, 110'000'000)};
  apply_repetition(run, measured);
  run.ended = false, run.again = {0};
  pass::PassReport trained;
  trained.fill<pass::TrainingReport>().trained = "nothing is left to do";
  apply_repetition(run, trained);
  EXPECT_TRUE(run.ended);
  EXPECT_TRUE(run.result.complete);
  EXPECT_EQ(run.result.outcome, result::Outcome::kOk);
  EXPECT_EQ(run.samples.size(), 10U);
  std::filesystem::remove_all(dir);
}

TEST(RecordReader, EarlierTrainingReplacesNoMeasurement) {
  const auto dir = std::filesystem::path(::testing::TempDir()) / "paceline_trained_records";
  std::filesystem::create_directories(dir);
  const auto file = dir / "timed-0.jsonl";
  const auto keep = [&](const std::vector<nlohmann::json>& records) {
    process::RecordReader reader(file, {}, "case");
    for (const auto& record : records) reader.add(record.dump() + "\n");
    reader.commit();
    return read_file(file);
  };
  const auto trained = pass::trained_record("nothing is left to do"), done = pass::done_record();
  const auto alone = keep({trained, done});
  EXPECT_NE(alone.find("nothing is left"), std::string::npos);
  std::filesystem::remove(file);
  const auto measured = keep({done});
  EXPECT_EQ(keep({trained, done}), measured);
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".1"));
  std::filesystem::remove_all(dir);
}

TEST(TrainingCase, TablesThatDoNotFitTogetherEndIt) {
  CaseRun run = training_run(::testing::TempDir());
  pass::PassReport report;
  report.fill<pass::TrainingReport>().rank_steps = {steps_of(0, 1), steps_of(1, 1)};
  report.fill<pass::TrainingReport>().rank_steps[1].rows.pop_back();
  apply_repetition(run, report);
  EXPECT_EQ(run.result.outcome, result::Outcome::kFailed);
  EXPECT_EQ(run.result.reason_code, "data");
  EXPECT_NE(run.result.reason.find("rank 1 lacks step 11"), std::string::npos);
}

TEST(TooFewDevices, AreReportedBeforeRanksAreStarted) {
  auto pass = train_pass(training_case("model: resnet50\nranks: 2\ndevice: cuda\n"), {1, "cuda"});
  EXPECT_EQ(pass.ranks.backend, "nccl");
  EXPECT_EQ(too_few_devices(pass, 1),
            "2 ranks over nccl need a device each, and 1 is visible here; start fewer ranks, or use backend: "
            "gloo, with which ranks may share a device");
  EXPECT_EQ(too_few_devices(pass, 2), "");
  EXPECT_EQ(too_few_devices(pass, 0), "");  // the ranks find out
  pass.ranks.backend = "gloo";
  EXPECT_EQ(too_few_devices(pass, 1), "");
}

result::Benchmark identity_on(const std::string& asked, const std::string& found) {
  auto benchmark =
      new_case_result(training_case("model: resnet50\nranks: 2\ndevice: " + asked + "\n"), "run").benchmark;
  result::set_device(benchmark, found);
  return benchmark;
}

TEST(Identity, HasTheDeviceThatAutoStandsFor) {
  const auto on_cpu = identity_on("auto", "cpu"), on_cuda = identity_on("auto", "cuda");
  EXPECT_EQ(on_cpu.params, on_cuda.params);
  EXPECT_EQ(on_cpu.device, "");
  EXPECT_EQ(on_cuda.device, "cuda");
  EXPECT_EQ(identity_on("cpu", "cpu").device, "");
  EXPECT_EQ(identity_on("cuda", "cuda").device, "cuda");
}

}  // namespace
}  // namespace paceline::run
