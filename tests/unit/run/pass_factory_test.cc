// SPDX-License-Identifier: MIT
#include "run/inference/pass_factory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "pass/pass.h"
#include "run/artefacts/input_requests.h"
#include "run/case/case_identity.h"
#include "run/inference/reference_factory.h"
#include "support/declared_options.h"
#include "workload/inference/gate/accuracy_gate.h"

namespace paceline::run {
namespace {

const auto* const kThisBuild = ::testing::AddGlobalTestEnvironment(new ::paceline::test::OptionsOfThisBuild);

std::vector<config::Case> inference_cases(const std::string& extra) {
  return config::expand(config::load_plan_text("kind: inference\nmodels: [resnet50]\n" + extra, "test.yaml"));
}

TEST(PassFactory, SettingsReachTheLoop) {
  const auto c = inference_cases("warmup_iterations: 7\niterations: 11\nbatch_sizes: [3]\n").at(0);
  const auto pass = base_pass(c, 2);
  EXPECT_EQ(pass.loop.warmup.mode, stats::WarmupMode::kFixed);
  EXPECT_EQ(pass.loop.warmup.fixed_iterations, 7);
  EXPECT_EQ(pass.loop.iterations, 11);
  EXPECT_EQ(pass.settings.threads, 2);
  EXPECT_EQ(pass.batch, 3);
  EXPECT_EQ(pass.inference.samples, 66);  // at least 64, a multiple of the batch
  EXPECT_EQ(pass.model.inputs.at(0).shape, (Shape{3, 3, 224, 224}));
}

TEST(PassFactory, OptionsOfItsOwnEngineReachTheEngine) {
  const auto all =
      inference_cases("engines: [onnxruntime, openvino]\nopenvino: {num_streams: 2, cpu_pinning: false}\n");
  EXPECT_TRUE(base_pass(all.at(0), 1).settings.options.empty());
  EXPECT_EQ(base_pass(all.at(1), 1).settings.options,
            (std::map<std::string, std::string>{{"num_streams", "2"}, {"cpu_pinning", "false"}}));
}

TEST(PassFactory, TheDeviceAndItsOptionsReachTheEngine) {
  const auto pass = base_pass(inference_cases("device: cuda\ncuda: {cudnn_benchmark: true}\n").at(0), 1);
  EXPECT_EQ(pass.settings.options,
            (std::map<std::string, std::string>{{"device", "cuda:0"}, {"cudnn_benchmark", "true"}}));
  EXPECT_TRUE(reference_pass(pass, "eager").settings.options.empty());  // made on the CPU
  const auto graphs = inference_cases("device: cuda\ncuda_graphs: [false, true]\n");
  EXPECT_FALSE(base_pass(graphs.at(0), 1).settings.options.contains("cuda_graph"));
  EXPECT_EQ(base_pass(graphs.at(1), 1).settings.options.at("cuda_graph"), "true");
  EXPECT_EQ(new_case_result(graphs.at(1), "run").benchmark.params.at("cuda_graph"), "true");
  const auto cold = inference_cases("device: cuda\ncache_mode: cold\n");
  EXPECT_EQ(base_pass(cold.at(0), 1).inference.cache_mode, "cold");
  EXPECT_EQ(base_pass(cold.at(0), 1).loop.batch, 1);
  EXPECT_EQ(new_case_result(cold.at(0), "run").benchmark.cache_mode, "cold");
  const auto gaps = inference_cases("gap: [0, 10ms]\n");
  EXPECT_EQ(base_pass(gaps.at(0), 1).inference.gap_ns, 0);
  EXPECT_EQ(base_pass(gaps.at(1), 1).inference.gap_ns, 10'000'000);
  EXPECT_EQ(base_pass(gaps.at(0), 1).loop.batch, 1);
  EXPECT_EQ(new_case_result(gaps.at(1), "run").benchmark.params.at("gap"), "10ms");
  EXPECT_LT(base_pass(cold.at(0), 1).inference.gap_ns, 0);
  const auto pinned = inference_cases("device: cuda\nio: pinned\n").at(0);
  EXPECT_EQ(base_pass(pinned, 1).settings.options.at("io"), "pinned");
  EXPECT_EQ(new_case_result(pinned, "run").benchmark.params.at("io"), "pinned");
  EXPECT_TRUE(base_pass(inference_cases("device: cpu\n").at(0), 1).settings.options.empty());
  const auto second = inference_cases("device: cuda:1\n").at(0);
  EXPECT_EQ(base_pass(second, 1).settings.options.at("device"), "cuda:1");
  EXPECT_EQ(new_case_result(second, "run").benchmark.device, "cuda:1");
}

TEST(PassFactory, InstancesHaveDevicesOfTheirOwnUnlessOneIsNamed) {
  const auto per_device = [](const std::string& extra) {
    return base_pass(inference_cases("scenario: closed_loop\n" + extra).at(0), 1)
        .inference.load.instances_per_device;
  };
  EXPECT_EQ(per_device("device: cuda\ninstances: [2]\n"), 1);
  EXPECT_EQ(per_device("device: cuda\ninstances: [4]\ninstances_per_device: 2\n"), 2);
  EXPECT_EQ(per_device("device: cuda:1\ninstances: [2]\n"), 0);
  EXPECT_EQ(per_device("instances: [2]\n"), 0);
  EXPECT_EQ(per_device("device: cuda\n"), 0);
  const auto device = [](const std::string& extra) {
    return new_case_result(inference_cases("scenario: closed_loop\ninstances: [2]\n" + extra).at(0), "run")
        .benchmark.device;
  };
  EXPECT_EQ(device("device: cuda\n"), "cuda");  // several
  EXPECT_EQ(device("device: cuda:1\n"), "cuda:1");
}

TEST(PassFactory, GpusAreProcessesOnTheirDevices) {
  const auto cases = inference_cases("gpus: [1, 2]\ndevices: [3, 1]\ninstances_per_device: 2\n");
  const auto one = base_pass(cases.at(0), 4), two = base_pass(cases.at(1), 4);
  EXPECT_EQ(one.inference.load.instances, 2);
  EXPECT_EQ(one.inference.load.devices, std::vector<int>{3});
  EXPECT_EQ(one.settings.options.at("device"), "cuda:3");
  EXPECT_EQ(two.inference.load.instances, 4);
  EXPECT_EQ(two.inference.load.instances_per_device, 2);
  EXPECT_EQ(two.inference.load.devices, (std::vector<int>{3, 1}));
  const auto benchmark = new_case_result(cases.at(1), "run").benchmark;
  EXPECT_EQ(benchmark.device, "cuda");
  EXPECT_EQ(benchmark.gpus, 2);
  EXPECT_EQ(benchmark.params.at("devices"), "3,1");
  EXPECT_FALSE(benchmark.params.contains("gpus"));
  EXPECT_TRUE(base_pass(inference_cases("gpus: 2\n").at(0), 4).inference.load.devices.empty());
}

TEST(PassFactory, FilesThatEagerDoesNotReadHaveAnotherReference) {
  const plugin::Manifest ort{"onnxruntime", "a.so", {{plugin::Role::kEngine, "onnxruntime"}}, {}, "", ""};
  const plugin::Manifest vino{"openvino", "b.so", {{plugin::Role::kEngine, "openvino"}}, {}, "", ""};
  const plugin::Manifest absent{"onnxruntime", "",          {{plugin::Role::kEngine, "onnxruntime"}}, {},
                                "no library",  "install it"};
  const EngineDirectory both({ort, vino}), one({absent, vino}), none({absent});
  EXPECT_EQ(file_reference_engine(both, "m.onnx"), "onnxruntime");
  EXPECT_EQ(file_reference_engine(one, "m.onnx"), "openvino");
  EXPECT_EQ(file_reference_engine(none, "m.onnx"), "eager");
  EXPECT_EQ(file_reference_engine(both, "m.xml"), "openvino");
  EXPECT_EQ(file_reference_engine(both, "m.pt2"), "eager");
  pass::PassSpec pass;
  pass.model.file = "m.onnx";
  pass.use(plugin::Role::kEngine, "onnxruntime");
  EXPECT_EQ(reference_name(pass, "onnxruntime"), "the file's own unoptimised run in onnxruntime");
  EXPECT_EQ(reference_name(pass, "openvino"), "the file's own fp32 run in openvino");
  EXPECT_EQ(reference_pass(pass, "onnxruntime").settings.options.at("graph_optimization"), "disabled");
}

TEST(PassFactory, TheCpuIsAnotherImplementationThanTheGpu) {
  pass::PassSpec pass;
  pass.use(plugin::Role::kEngine, "eager");
  EXPECT_TRUE(runs_same_code(pass, reference_pass(pass)));
  EXPECT_EQ(reference_name(pass, "eager"), "eager fp32, same weights and inputs");
  pass.settings.options["device"] = "cuda:0";
  EXPECT_FALSE(runs_same_code(pass, reference_pass(pass)));
  EXPECT_EQ(reference_name(pass, "eager"), "eager fp32 on the CPU, same weights and inputs");
}

TEST(PassFactory, AnotherLibraryIsTheWitness) {
  const plugin::Manifest ort{"onnxruntime", "a.so", {{plugin::Role::kEngine, "onnxruntime"}}, {}, "", ""};
  const plugin::Manifest vino{"openvino", "b.so", {{plugin::Role::kEngine, "openvino"}}, {}, "", ""};
  const plugin::Manifest torch{
      "torch", "c.so", {{plugin::Role::kEngine, "eager"}, {plugin::Role::kEngine, "torchscript"}},
      {},      "",     ""};
  EXPECT_EQ(other_reader(EngineDirectory({ort, vino}), "m.onnx", "onnxruntime"), "openvino");
  EXPECT_EQ(other_reader(EngineDirectory({ort}), "m.onnx", "onnxruntime"), "");
  EXPECT_EQ(other_reader(EngineDirectory({torch}), "m.pt", "eager"), "") << "both are LibTorch";
}

TEST(PassFactory, DefaultsAreTheMethodologys) {
  const auto pass = base_pass(inference_cases("").at(0), 1);
  EXPECT_EQ(pass.loop.warmup.mode, stats::WarmupMode::kAuto);
  EXPECT_EQ(pass.loop.warmup.floor_ns, 500'000'000);
  EXPECT_EQ(pass.loop.stop.n_min, 30);
  EXPECT_EQ(pass.loop.stop.t_max_ns, 60'000'000'000);
  EXPECT_FALSE(pass.loop.iterations);
  EXPECT_DOUBLE_EQ(pass.inference.tolerance.max_rel_err, 1e-5);
  EXPECT_DOUBLE_EQ(pass.inference.tolerance.centred_cosine, 0.99999);
}

TEST(PassFactory, TwoBatchesAreComparedUnlessTheirNumberIsWritten) {
  const auto samples = [](const std::string& plan) {
    return base_pass(inference_cases(plan).at(0), 1).inference.samples;
  };
  EXPECT_EQ(samples(""), 64);
  EXPECT_EQ(samples("batch_sizes: [32]\n"), 64);
  EXPECT_EQ(samples("batch_sizes: [33]\n"), 66);
  EXPECT_EQ(samples("batch_sizes: [64]\n"), 128);
  EXPECT_EQ(samples("batch_sizes: [64]\naccuracy: {samples: 64}\n"), 64);
  EXPECT_EQ(samples("batch_sizes: [64]\naccuracy: {samples: 65}\n"), 128);
  EXPECT_EQ(samples("batch_sizes: [2048]\n"), 2048) << "two batches of pictures take 2.3 GiB";
  EXPECT_EQ(samples("batch_sizes: [64]\naccuracy: {reference: 'y:out.npz'}\n"), 64) << "it has 64 rows";
  EXPECT_EQ(samples("scenario: server\nserver: {load: 0.5, max_batch: 64}\n"), 64);
}

TEST(PassFactory, OnlyTheChecksOwnNumberOfGeneratedInputsMayShrink) {
  const auto least = [](const std::string& plan) {
    return base_pass(inference_cases(plan).at(0), 1).inference.accuracy.least_samples;
  };
  EXPECT_EQ(least(""), 8);
  EXPECT_EQ(least("batch_sizes: [6]\n"), 12);
  EXPECT_EQ(least("batch_sizes: [24]\n"), 48) << "two batches";
  EXPECT_EQ(least("accuracy: {samples: 64}\n"), 0);
  EXPECT_EQ(least("image_dir: pictures\n"), 0);
  EXPECT_EQ(least("accuracy: {reference: expected.npy}\n"), 0);
}

TEST(PassFactory, AGpuWarmsUpForLonger) {
  const auto floor_ns = [](const std::string& lines) {
    return base_pass(inference_cases(lines).at(0), 1).loop.warmup.floor_ns;
  };
  EXPECT_EQ(floor_ns("device: cuda\n"), 1'000'000'000);
  EXPECT_EQ(floor_ns("device: cuda\nwarmup: {min_time_s: 0.2}\n"), 200'000'000);
  EXPECT_EQ(floor_ns("warmup: {max_time_s: 0.1}\n"), 100'000'000);
}

TEST(PassFactory, LanesShareTheCoresUnlessThreadsAreGiven) {
  const auto swept = inference_cases("scenario: closed_loop\nconcurrency: [1, 2, 16]\n");
  EXPECT_EQ(base_pass(swept.at(0), 8).settings.threads, 8);
  EXPECT_EQ(base_pass(swept.at(1), 8).settings.threads, 4);
  EXPECT_EQ(base_pass(swept.at(2), 8).settings.threads, 1);
  const auto given = inference_cases("scenario: closed_loop\nconcurrency: 4\nthreads: [8]\n");
  EXPECT_EQ(base_pass(given.at(0), 8).settings.threads, 8);
}

TEST(PassFactory, AServersSettingsReachItsPass) {
  const auto c =
      inference_cases(
          "scenario: server\nserver: {load: 0.5, arrival: constant, timeout_s: 2}\nslo: p99=50ms\n")
          .at(0);
  const auto pass = base_pass(c, 2);
  const auto back = pass::pass_from_json(pass::to_json(pass)).inference.load;
  EXPECT_EQ(back.scenario, Scenario::kServer);
  EXPECT_DOUBLE_EQ(back.share, 0.5);
  EXPECT_EQ(back.arrival, "constant");
  EXPECT_DOUBLE_EQ(back.timeout_s, 2);
  EXPECT_DOUBLE_EQ(back.slo_p, 0.99);
  EXPECT_DOUBLE_EQ(back.slo_bound_s, 0.05);
  EXPECT_DOUBLE_EQ(timeout_of(c), 600 + 600);  // the schedule has a length of its own
  EXPECT_EQ(new_case_result(c, "").benchmark.params.at("server.load"), "0.5");
}

TEST(PassFactory, SleepsBetweenInferencesAreNoPartOfTheTimeout) {
  const auto timeout_s = [](const std::string& lines) {
    return timeout_of(inference_cases("timeout_s: 20\n" + lines).at(0));
  };
  EXPECT_DOUBLE_EQ(timeout_s("gap: 0\n"), 20);
  const std::string fixed = "iterations: 200\nwarmup_iterations: 10\n";
  EXPECT_GE(timeout_s(fixed + "gap: 1s\n"), 20 + 210);
  EXPECT_LE(timeout_s(fixed + "gap: 1s\n"), 20 + 220);
  EXPECT_GE(timeout_s("gap: 2s\n"), 20 + 60 + 60);         // the longest warm-up and the longest measurement
  EXPECT_GE(timeout_s("gap: 60s\n"), 20 + 60 * (5 + 30));  // the fewest inferences of both
  EXPECT_LE(timeout_s("gap: 1ms\n"), 20 + 60 + 60 + 1);
}

TEST(PassFactory, AWindowOfWarmUpWithSleepsIsTheSmallest) {
  const auto cases = inference_cases("gap: [0, 2s]\n");
  EXPECT_EQ(base_pass(cases.at(0), 1).loop.warmup.window_max, 30);
  EXPECT_EQ(base_pass(cases.at(1), 1).loop.warmup.window_max,
            base_pass(cases.at(1), 1).loop.warmup.window_min);
}

TEST(PassFactory, APassSurvivesTheTripToTheWorker) {
  auto pass = base_pass(inference_cases("warmup_iterations: 7\nstop: {quantiles: [0.5, 0.99]}\n").at(0), 4);
  pass.inference.input_files = {"a.npy"};
  pass.pin_cpus = {1, 3};
  const auto json = pass::to_json(pass);
  EXPECT_EQ(pass::to_json(pass::pass_from_json(json)), json);
  EXPECT_EQ(pass::pass_from_json(json).loop.stop.quantiles_ppm,
            (std::vector<std::uint32_t>{500'000, 990'000}));
}

TEST(PassFactory, AModelOfAPluginIsANameAndNoFile) {
  const auto plan = config::load_plan_text(
      "{kind: inference, plugin: [naive.so], models: [affine], engines: [naive], shapes: 'x:4x16'}",
      "test.yaml");
  const auto model = base_pass(config::expand(plan).at(0), 1).model;
  EXPECT_EQ(model.name, "affine");
  EXPECT_EQ(model.file, "");
}

TEST(PassFactory, TheReferenceIsFp32EagerOnTheSameInputs) {
  const auto c =
      inference_cases("engines: [torchscript]\nprecisions: [bf16]\nlayouts: [channels_last]\n").at(0);
  const auto reference = reference_pass(base_pass(c, 2));
  EXPECT_EQ(reference.engine(), "eager");
  EXPECT_EQ(reference.settings.precision, "fp32");
  EXPECT_EQ(reference.settings.layout, "contiguous");
  EXPECT_EQ(reference.model.inputs.at(0).shape, base_pass(c, 2).model.inputs.at(0).shape);
}

// A file's own precision leaves products with integer weights to the engine; fp32 and references do not.
TEST(PassFactory, OnlyAFilesOwnPrecisionLeavesRoundingToTheEngine) {
  const auto of_file = base_pass(inference_cases("precisions: [auto]\n").at(0), 1);
  EXPECT_EQ(of_file.settings.precision, "fp32");
  EXPECT_TRUE(of_file.settings.precision_of_file);
  EXPECT_FALSE(reference_pass(of_file, "onnxruntime").settings.precision_of_file);
  EXPECT_FALSE(base_pass(inference_cases("precisions: [fp32]\n").at(0), 1).settings.precision_of_file);
}

TEST(PassFactory, TheReferenceIsAnEngineOrAFile) {
  EXPECT_EQ(reference_choice(inference_cases("").at(0)).engine, "eager");
  EXPECT_EQ(reference_choice(inference_cases("accuracy: {reference: onnxruntime}\n").at(0)).engine,
            "onnxruntime");
  const auto file = reference_choice(inference_cases("accuracy: {reference: 'logits:out.npz'}\n").at(0));
  EXPECT_EQ(file.engine, "");
  EXPECT_EQ(file.file, "logits:out.npz");
  EXPECT_EQ(file.model, "");
  const auto base = base_pass(inference_cases("").at(0), 1);
  EXPECT_NE(reference_key(reference_pass(base, "eager")), reference_key(reference_pass(base, "onnxruntime")));
  auto patient = base;
  patient.inference.accuracy.least_samples = 48;
  EXPECT_NE(reference_key(reference_pass(base, "eager")), reference_key(reference_pass(patient, "eager")))
      << "it may stop earlier than this case can do with";
}

TEST(PassFactory, ABuiltInModelIsAReferenceOfAFile) {
  const auto c = inference_cases("accuracy: {reference: tiny_cnn}\n").at(0);
  EXPECT_EQ(reference_choice(c).model, "tiny_cnn");
  auto base = base_pass(c, 1);
  base.model.name.clear();
  base.model.file = "m.pt2";
  const auto pass = model_reference_pass(base, "tiny_cnn", reader_of(EngineDirectory({}), "tiny_cnn"));
  EXPECT_EQ(pass.engine(), "eager");
  EXPECT_EQ(pass.model.name, "tiny_cnn");
  EXPECT_EQ(pass.model.file, "");
  EXPECT_EQ(pass.model.weights_seed, base.model.weights_seed);
}

TEST(PassFactory, AnotherModelFileIsAReference) {
  const auto name = std::filesystem::temp_directory_path() / "paceline_float.onnx";
  write_file_atomic(name, "");
  const auto c =
      inference_cases(fmt::format("accuracy: {{reference: '{}'}}\nprecisions: [bf16]\n", name.string()))
          .at(0);
  std::filesystem::remove(name);
  const auto choice = reference_choice(c);
  EXPECT_EQ(choice.engine + choice.file, "");
  EXPECT_EQ(choice.model, name.string());
  const auto base = base_pass(c, 1);
  const auto pass = model_reference_pass(base, choice.model, "openvino");
  EXPECT_EQ(pass.engine(), "openvino");
  EXPECT_EQ(pass.model.name, "");
  EXPECT_EQ(pass.model.file, choice.model);
  EXPECT_EQ(pass.settings.precision, "fp32");
  EXPECT_EQ(pass.model.inputs.at(0).shape, base.model.inputs.at(0).shape);
  EXPECT_NE(reference_key(pass), reference_key(reference_pass(base, "openvino")));
  const plugin::Manifest vino{"openvino", "b.so", {{plugin::Role::kEngine, "openvino"}}, {}, "", ""};
  const plugin::Manifest torch{"torch",
                               "a.so",
                               {{plugin::Role::kEngine, "eager"},
                                {plugin::Role::kEngine, "torchscript"},
                                {plugin::Role::kEngine, "aotinductor"}},
                               {},
                               "",
                               ""};
  const EngineDirectory engines({vino, torch});
  EXPECT_EQ(reader_of(engines, "f.onnx"), "openvino");
  EXPECT_EQ(reader_of(engines, "f.pt"), "eager");
  EXPECT_EQ(reader_of(engines, "f.pt2"), "aotinductor");
  EXPECT_EQ(reader_of(EngineDirectory({}), "f.onnx"), "onnxruntime");
  EXPECT_THROW(inference_cases("accuracy: {reference: gone.onnx}\n"), Error);
}

TEST(PassFactory, ServersGetTheirBatches) {
  const auto c =
      inference_cases("scenario: server\nserver: {load: 0.5, max_batch: 8, batch_timeout_ms: 2.5}\n").at(0);
  const auto load = pass::pass_from_json(pass::to_json(base_pass(c, 1))).inference.load;
  EXPECT_EQ(load.max_batch, 8);
  EXPECT_DOUBLE_EQ(load.batch_timeout_s, 0.0025);
  EXPECT_EQ(new_case_result(c, "r").benchmark.params.at("server.max_batch"), "8");
  const auto base = base_pass(c, 1);
  const auto check = check_pass(base);
  EXPECT_EQ(base.batch, 1);
  EXPECT_EQ(check.batch, 8);
  EXPECT_EQ(check.model.inputs.at(0).shape, (Shape{8, 3, 224, 224}));
  EXPECT_EQ(check.kind, pass::PassKind::kCheck);
}

TEST(PassFactory, TakesQuestionsAboutAccuracy) {
  const auto question = base_pass(inference_cases("precisions: [bf16]\n").at(0), 1).inference.accuracy;
  EXPECT_FALSE(question.trained);
  EXPECT_FALSE(question.outputs_decide_too);
  EXPECT_EQ(question.answers, "classes");
  EXPECT_EQ(question.claim, 0);
  EXPECT_DOUBLE_EQ(question.max_changed, 0.05);
  EXPECT_EQ(question.inputs, "random, seed 1");
  const auto written = base_pass(
      inference_cases("accuracy: {max_top1_change: 0.005, max_changed: 0.01, max_rel_err: 0.1}\n").at(0), 1);
  EXPECT_DOUBLE_EQ(written.inference.accuracy.claim, 0.005);
  EXPECT_DOUBLE_EQ(written.inference.accuracy.max_changed, 0.01);
  EXPECT_TRUE(written.inference.accuracy.outputs_decide_too);
}

result::OutputAgreement checked_output(const std::string& judged_by) {
  result::OutputAgreement output;
  output.judged_by = judged_by;
  output.max_abs_err = 0.5;
  output.scale = 3.0;
  output.quantile_err_worst = 0.4;
  return output;
}

TEST(PassFactory, AfterTheLoopErrorsMayBeTwiceThoseOfTheCheck) {
  const pass::Tolerance asked{0.1, 0.9, 0, 0.5, false};
  result::Correctness checked;
  for (const auto* judge : {"max_error", "answers", "quantile_error", "equal_values"})
    checked.outputs.push_back(checked_output(judge));
  const auto timed = timed_tolerances(asked, checked);
  ASSERT_EQ(timed.size(), 4U);
  EXPECT_DOUBLE_EQ(timed[0].max_abs_err, 1);
  EXPECT_DOUBLE_EQ(timed[0].centred_cosine, -1);
  EXPECT_DOUBLE_EQ(timed[0].max_rel_err, 0) << "the scale of one batch is not that of all inputs";
  EXPECT_TRUE(timed[0].max_decides);
  EXPECT_DOUBLE_EQ(timed[1].max_abs_err, 1);
  EXPECT_DOUBLE_EQ(timed[1].max_rel_err, 0.1);
  EXPECT_TRUE(timed[1].max_decides);
  EXPECT_FALSE(timed[2].max_decides);
  EXPECT_DOUBLE_EQ(timed[2].quantile_err, 0.8) << "twice the worst input's";
  EXPECT_DOUBLE_EQ(timed[2].scale, 3);
  EXPECT_DOUBLE_EQ(timed[3].max_rel_err, 0) << "integers are equal or not";
}

TEST(PassFactory, AfterTheLoopTheScaleIsThatOfTheCheck) {
  result::Correctness checked;
  checked.outputs.push_back(checked_output("max_error"));
  checked.outputs[0].max_abs_err = 0.01;
  checked.outputs[0].max_rel_err = 0.001;  // the largest value is 10
  EXPECT_DOUBLE_EQ(timed_tolerances({0.1, 0.9}, checked).at(0).max_abs_err, 1);
  checked.outputs[0].judged_by = "ulps";
  checked.outputs[0].limit_ulps = 5.0;
  checked.outputs[0].ulp_change = 0.1;
  const auto timed = timed_tolerances({0.1, 0.9}, checked).at(0);
  EXPECT_DOUBLE_EQ(timed.max_abs_err, 0.5);
  EXPECT_DOUBLE_EQ(timed.ulps, 0);
}

TEST(PassFactory, RulesForMapsFollowFromPrecisionAndOptions) {
  const auto decides = [](const std::string& plan) {
    return base_pass(inference_cases(plan).at(0), 1).inference.tolerance.max_decides;
  };
  EXPECT_TRUE(decides("precisions: [fp32]\n"));
  EXPECT_TRUE(decides("precisions: [fp32]\naccuracy: {quantile_err: 0.01}\n"));
  EXPECT_FALSE(decides("precisions: [bf16]\n"));
  EXPECT_TRUE(decides("precisions: [bf16]\naccuracy: {max_rel_err: 0.1}\n"));
  EXPECT_DOUBLE_EQ(
      base_pass(inference_cases("precisions: [bf16]\n").at(0), 1).inference.tolerance.quantile_err, 0.4);
}

// Judges an output of twice the reference's values.
result::Correctness doubled(const std::string& name, const Shape& sample_shape, const std::string& plan) {
  workload::ComparedRows rows{2, 8, 4, {}, true, 0, 8, DType::kFloat32};
  rows.name = name;
  rows.sample_shape = sample_shape;
  for (int i = 0; i < 64; ++i) rows.values.push_back(static_cast<float>((i * 37) % 61));
  auto outputs = rows;
  for (auto& v : outputs.values) v *= 2;
  pass::AccuracyQuestion question;
  question.answers = "auto";
  const workload::ComparedOutputs reference{{rows, ""}};
  const auto tolerance =
      pass::pass_from_json(pass::to_json(base_pass(inference_cases(plan).at(0), 1))).inference.tolerance;
  return workload::judge_all({{outputs, ""}}, &reference, tolerance, question);
}

TEST(PassFactory, AWrittenQuantileDecidesForMapsAloneInFp32) {
  const std::string plan = "precisions: [fp32]\naccuracy: {quantile_err: 0.0001}\n";
  for (const auto* name : {"embedding", "boxes"}) {
    const auto c = doubled(name, {8, 4}, plan);
    EXPECT_FALSE(c.passed) << name;
    EXPECT_EQ(c.outputs.front().judged_by, "max_error") << name;
  }
  EXPECT_EQ(doubled("map", {8, 4}, plan).outputs.front().judged_by, "quantile_error");
  EXPECT_EQ(doubled("map", {8, 4}, "precisions: [fp32]\n").outputs.front().judged_by, "max_error");
  EXPECT_TRUE(doubled("embedding", {8, 4}, "precisions: [bf16]\n").passed) << "their direction is the same";
}

TEST(PassFactory, CasesShareInputsWhenTheySayTheSame) {
  const auto all = inference_cases("engines: [eager, torchscript]\nbatch_sizes: [1, 8, 24]\n");
  const auto key = [](const config::Case& c) { return input_key(c, base_pass(c, 1)); };
  EXPECT_EQ(key(all[0]), key(all[3]));  // other engine
  EXPECT_EQ(key(all[0]), key(all[1]));  // 64 samples either way
  EXPECT_NE(key(all[0]), key(all[2]));  // 72
}

}  // namespace
}  // namespace paceline::run
