// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/collective.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

std::vector<std::string> ids_of(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const auto& item : cases) ids.push_back(item.id);
  return ids;
}
std::vector<std::string> labels_of(const std::vector<Case>& cases) {
  std::vector<std::string> labels;
  for (const auto& item : cases) labels.push_back(item.label);
  return labels;
}
std::vector<Case> cases_of(const std::string& lines) {
  return expand(plan_of("kind: inference\n" + lines));
}

TEST(Expand, MakesTheProductOfTheAxesInTableOrder) {
  const auto cases =
      cases_of("batch_sizes: [8, 1]\nmodels: [resnet50, vit_b_16]\nengines: [eager, torchscript]\n");
  EXPECT_EQ(ids_of(cases),
            (std::vector<std::string>{"resnet50-eager-fp32-b8", "resnet50-eager-fp32-b1",
                                      "resnet50-torchscript-fp32-b8", "resnet50-torchscript-fp32-b1",
                                      "vit_b_16-eager-fp32-b8", "vit_b_16-eager-fp32-b1",
                                      "vit_b_16-torchscript-fp32-b8", "vit_b_16-torchscript-fp32-b1"}));
  EXPECT_EQ(cases[1].label, "resnet50 eager fp32 b1");
  EXPECT_EQ(cases[1].settings.text("engine"), "eager");
  EXPECT_EQ(cases[1].settings.integer("batch"), 1);
  EXPECT_EQ(cases[1].settings.integer("threads"), 0);
  EXPECT_EQ(cases[1].settings.text("layout"), "contiguous");
  EXPECT_DOUBLE_EQ(cases[1].settings.number("stop.t_max_s"), 60);
  EXPECT_FALSE(cases[1].settings.has("engines"));
}

TEST(Expand, NamesOnlyWhatTellsCasesApart) {
  const auto cases = cases_of(
      "model: resnet50\nthreads: [1, 2]\nlayouts: [contiguous, channels_last]\nenv: {X: [a b, c], Y: 1}\n");
  ASSERT_EQ(cases.size(), 8U);
  EXPECT_EQ(cases[0].id, "resnet50-eager-fp32-b1-t1-X_a_b");
  EXPECT_EQ(cases[0].label, "resnet50 eager fp32 b1 t1 X=a b");
  EXPECT_EQ(cases[7].id, "resnet50-eager-fp32-b1-t2-channels_last-X_c");
  EXPECT_EQ(cases[7].env, (std::map<std::string, std::string>{{"X", "c"}, {"Y", "1"}}));
}

TEST(Expand, SequencesAreForLanguageModelsOnly) {
  const auto cases = cases_of("models: [resnet50, gpt2, bert-large]\nsequence_lengths: [64, 1024]\n");
  EXPECT_EQ(ids_of(cases), (std::vector<std::string>{
                               "resnet50-eager-fp32-b1", "gpt2-eager-fp32-b1-s64", "gpt2-eager-fp32-b1-s1024",
                               "bert-large-eager-fp32-b1-s64", "bert-large-eager-fp32-b1-s1024"}));
  EXPECT_FALSE(cases[0].settings.has("sequence_length"));
  EXPECT_EQ(cases[2].settings.integer("sequence_length"), 1024);
  EXPECT_EQ(cases[4].not_available, "bert-large takes at most 512 tokens, and sequence_length is 1024");
  EXPECT_EQ(case_inputs(cases[1]).at(0).shape, (Shape{1, 64}));
  EXPECT_EQ(cases_of("model: gpt2\n").at(0).settings.integer("sequence_length"), 128);
  EXPECT_EQ(cases_of("model: gpt2\n").at(0).id, "gpt2-eager-fp32-b1");
}

TEST(Expand, IdsAreUniqueAndSafe) {
  const Plan plan = plan_of(
      "workloads:\n  - {kind: inference, model: gpt2}\n  - {kind: inference, model: gpt2, iterations: 9}\n  "
      "- {kind: inference, "
      "model: gpt2, env: {A: ['x/y', 'x:y']}}\n");
  const auto cases = expand(plan);
  EXPECT_EQ(ids_of(cases),
            (std::vector<std::string>{"gpt2-eager-fp32-b1", "gpt2-eager-fp32-b1-iterations_9",
                                      "gpt2-eager-fp32-b1-A_x_y", "gpt2-eager-fp32-b1-A_x_y-2"}));
  EXPECT_EQ(labels_of(cases),
            (std::vector<std::string>{"gpt2 eager fp32 b1", "gpt2 eager fp32 b1 iterations=9",
                                      "gpt2 eager fp32 b1 A=x/y", "gpt2 eager fp32 b1 A=x:y"}));
  EXPECT_EQ(cases[1].workload, 1U);
}

TEST(Expand, CasesOfOneNameAreNamedByWhatTheyDifferIn) {
  const auto labels = [](const std::string& one, const std::string& other) {
    const std::string start = "  - {kind: inference, model: gpt2, ";
    return labels_of(expand(plan_of("workloads:\n" + start + one + "}\n" + start + other + "}\n")));
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels("threads: 1", "threads: 2"), (Labels{"gpt2 eager fp32 b1 t1", "gpt2 eager fp32 b1 t2"}));
  EXPECT_EQ(labels("sequence_length: 64", "sequence_length: 128"),
            (Labels{"gpt2 eager fp32 b1 s64", "gpt2 eager fp32 b1 s128"}));
  EXPECT_EQ(labels("device: cpu", "device: cuda:1"),
            (Labels{"gpt2 eager fp32 b1", "gpt2 eager fp32 b1 cuda:1"}));
  EXPECT_EQ(labels("device: auto", "device: cuda"),
            (Labels{"gpt2 eager fp32 b1", "gpt2 eager fp32 b1 cuda"}));
  EXPECT_EQ(labels("device: cuda, io: pinned", "device: cuda"),
            (Labels{"gpt2 eager fp32 b1 cuda pinned", "gpt2 eager fp32 b1 cuda"}));
  EXPECT_EQ(labels("env: {X: a}", "env: {X: b}"),
            (Labels{"gpt2 eager fp32 b1 X=a", "gpt2 eager fp32 b1 X=b"}));
  EXPECT_EQ(labels("env: {X: a}", "pin: true"), (Labels{"gpt2 eager fp32 b1 X=a", "gpt2 eager fp32 b1"}));
  EXPECT_EQ(labels("threads: 1, pin: true", "threads: 2"),
            (Labels{"gpt2 eager fp32 b1 t1", "gpt2 eager fp32 b1 t2"}));
  EXPECT_EQ(labels("pin: true", "pin: false"),
            (Labels{"gpt2 eager fp32 b1 pin=true", "gpt2 eager fp32 b1 pin=false"}));
  EXPECT_EQ(labels("threads: 1", "threads: 1"), (Labels{"gpt2 eager fp32 b1", "gpt2 eager fp32 b1 (2)"}));
}

TEST(Baseline, IsEqualInEveryOtherAxis) {
  const auto cases = cases_of(
      "models: [resnet50, vit_b_16]\nengines: [torchscript, eager]\nprecisions: [bf16, fp32]\nbatch_sizes: "
      "[1, 8]\n"
      "baseline: {engine: eager, precision: fp32}\n");
  ASSERT_EQ(cases.size(), 16U);
  for (const auto& item : cases)
    EXPECT_EQ(item.baseline_id,
              item.settings.text("model") + "-eager-fp32-b" + std::to_string(item.settings.integer("batch")));
}

TEST(Baseline, DefaultsToTheFirstEngineAndPrecision) {
  const auto cases = cases_of(
      "models: [resnet50]\nengines: [torchscript, eager]\nprecisions: [bf16, fp32]\nthreads: [1, 2]\n");
  for (const auto& item : cases)
    EXPECT_EQ(item.baseline_id,
              "resnet50-torchscript-bf16-b1-t" + std::to_string(item.settings.integer("threads")));
}

TEST(Baseline, MayNameAnyAxis) {
  for (const auto& item : cases_of("model: resnet50\nbatch_sizes: [1, 8]\nbaseline: {batch_sizes: 8}\n"))
    EXPECT_EQ(item.baseline_id, "resnet50-eager-fp32-b8");
  for (const auto& item : cases_of("model: resnet50\nenv: {X: [a, b]}\nbaseline: {env.X: b}\n"))
    EXPECT_EQ(item.baseline_id, "resnet50-eager-fp32-b1-X_b");
}

TEST(Baseline, IsAbsentWhereNothingIsCompared) {
  for (const auto& item : cases_of("model: resnet50\nbatch_sizes: [1, 8]\n")) EXPECT_FALSE(item.baseline_id);
}

TEST(Expand, CudaGraphsAreAnAxisThatNamesShow) {
  const auto cases =
      cases_of("model: gpt2\ndevice: cuda\ncuda_graphs: [false, true]\nbaseline: {cuda_graph: false}\n");
  EXPECT_EQ(labels_of(cases),
            (std::vector<std::string>{"gpt2 eager fp32 b1 cuda", "gpt2 eager fp32 b1 cuda cuda_graph=true"}));
  EXPECT_EQ(cases.at(1).baseline_id, cases.at(0).id);
}

TEST(Load, ConcurrencyAndRatesAreAxesThatNamesShow) {
  const auto closed = cases_of("model: resnet50\nscenario: closed_loop\nconcurrency: [1, 2]\n");
  ASSERT_EQ(closed.size(), 2U);
  EXPECT_EQ(closed[1].id, "resnet50-eager-fp32-b1-closed_loop-c2");
  const auto server = cases_of("model: resnet50\nscenario: server\nserver: {load: [0.3, 0.5]}\n");
  ASSERT_EQ(server.size(), 2U);
  EXPECT_EQ(server[0].label, "resnet50 eager fp32 b1 server load0.3");
  const auto batches = cases_of(
      "model: resnet50\nscenario: server\nserver: {load: 0.5, max_batch: [1, 8], batch_timeout_ms: 2.5}\n");
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].label, "resnet50 eager fp32 b1 server load0.5 mb8 bt2.5");
  const auto rates = cases_of("model: resnet50\nscenario: server\narrival_rate_per_s: [10, 20.5]\n");
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[1].id, "resnet50-eager-fp32-b1-server-rate20.5");
}

TEST(Gpus, AreAnAxisOfProcessesOnOneQueue) {
  const auto cases = cases_of("model: resnet50\ngpus: [1, 4]\n");
  EXPECT_EQ(labels_of(cases), (std::vector<std::string>{"resnet50 eager fp32 b1 cuda closed_loop g1",
                                                        "resnet50 eager fp32 b1 cuda closed_loop g4"}));
  const auto named = cases_of("model: resnet50\ndevices: [0, 2]\ndevice: auto\nscenario: offline\n");
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named[0].label, "resnet50 eager fp32 b1 cuda offline g2");
  EXPECT_EQ(named[0].settings.texts("devices"), (std::vector<std::string>{"0", "2"}));
}

TEST(Gpus, AStoredPlanIsTheSamePlan) {
  for (const auto* lines : {"gpus: [1, 4]\n", "devices: [0, 2]\n", "gpus: [1, 2]\ndevices: [3, 1]\n"}) {
    const auto plan = plan_of(std::string("kind: inference\nmodel: resnet50\n") + lines);
    EXPECT_TRUE(same_plan(plan, plan_of(effective_yaml(plan)))) << effective_yaml(plan);
  }
}

TEST(NotAvailable, SaysWhatIsMissing) {
  const auto reason = [](const std::string& lines) {
    const std::string device = ("\n" + lines).find("\ndevice: ") == lines.npos ? "device: cpu\n" : "";
    return cases_of("model: resnet50\n" + device + lines).at(0).not_available;
  };
  EXPECT_EQ(reason(""), "");
  EXPECT_EQ(reason("device: auto\nprecision: tf32\nio: pinned\n"), "");  // known once auto is settled
  EXPECT_EQ(reason("engine: tensorrt\n"), "");  // whether it is here is known when its plug-in is looked for
  EXPECT_EQ(reason("precision: tf32\n"),
            "precision 'tf32' is a mode of NVIDIA GPUs; add device: cuda, or use fp32 or bf16");
  EXPECT_EQ(reason("cuda: {cudnn_benchmark: true}\n"), "'cuda.cudnn_benchmark' is for device: cuda");
  const std::string instances = "scenario: closed_loop\ninstances: [2]\ninstances_per_device: 2\n";
  EXPECT_EQ(reason(instances), "'instances_per_device' is for device: cuda");
  EXPECT_EQ(reason(instances + "device: cuda:1\n"),
            "'device: cuda:1' is one device for all instances, so there are no instances_per_device; write "
            "device: cuda");
  EXPECT_EQ(reason(instances + "device: cuda\n"), "");
  EXPECT_EQ(reason("scenario: server\nserver: {load: 0.5}\n"), "");
  EXPECT_EQ(reason("io: pinned\noverlap: true\ntiming: pipelined\n"),
            "'io: pinned' is for device: cuda; 'overlap: true' is for device: cuda");
  const std::string overlap = "device: cuda\noverlap: true\n";
  EXPECT_EQ(reason(overlap + "timing: [sync, pipelined]\n"), "'overlap: true' is for timing: pipelined");
  EXPECT_EQ(reason(overlap + "timing: pipelined\n"), "");
  EXPECT_EQ(reason(overlap + "timing: pipelined\nio: none\n"),
            "'io: none' copies nothing that could overlap; use io: pinned");
  EXPECT_EQ(reason(overlap + "timing: pipelined\nio: pageable\n"),
            "'io: pageable' keeps the host waiting for copies, so that none overlaps; use io: pinned");
  EXPECT_EQ(reason("io: pageable\ndevice: cuda\n"), "");
  EXPECT_EQ(reason("io: none\n"), "'io: none' is for device: cuda");
  EXPECT_EQ(reason("io: none\ndevice: cuda\nscenario: closed_loop\n"), "");
  EXPECT_EQ(
      reason("io: none\ndevice: cuda\nscenario: server\nserver: {load: 0.5}\n"),
      "'io: none' leaves the outputs on the device, and the requests of a server wait for theirs; use io: "
      "pinned");
  EXPECT_EQ(reason("cache_mode: cold\n"), "'cache_mode: cold' is for device: cuda");
  EXPECT_EQ(reason("cache_mode: cold\ndevice: cuda\n"), "");
  EXPECT_EQ(reason("cache_mode: cold\ndevice: cuda\nscenario: offline\n"),
            "'cache_mode: cold' is for scenario: sync");
  EXPECT_EQ(reason("timing: pipelined\n"), "");
  const std::string both = "timing: [pipelined, sync]\n";
  EXPECT_EQ(reason(both + "device: cuda\ncache_mode: cold\n"), "'cache_mode: cold' is for timing: sync");
  EXPECT_EQ(reason(both + "feedback: [y:x]\n"), "'feedback' is for timing: sync");
  EXPECT_EQ(reason("cuda_graph: true\n"), "'cuda_graph: true' is for device: cuda");
  EXPECT_EQ(reason("cuda_graph: true\ndevice: cuda\n"), "");
  EXPECT_EQ(reason("overlap: false\nprofiling: {enabled: false}\n"), "");
  EXPECT_EQ(
      reason("profiling: {enabled: true}\n"),
      "'profiling.enabled: true' is not available yet; layer_profile: true times the layers of an inference");
  EXPECT_EQ(reason("scenario: closed_loop\nconcurrency: 4\n"), "");
  EXPECT_EQ(reason("device: cuda:1\nprecision: tf32\n"), "");
}

TEST(NotAvailable, PlansAreForTheirEngineOnly) {
  const TemporaryFile file("paceline_config_reader.plan");
  const auto cases = cases_of("model: " + file.path() + "\nengines: [tensorrt, eager]\nshapes: 'x:1x3'\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].not_available, "");
  EXPECT_EQ(cases[1].not_available, "engine 'eager' reads no .plan files; those that do: tensorrt");
}

TEST(NotAvailable, EnginesThatDoNotReadTheFile) {
  const TemporaryFile file("paceline_config_reader.onnx");
  const auto cases = cases_of("model: " + file.path() + "\nengines: [openvino, eager]\nshapes: 'x:1x3'\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].not_available, "");
  EXPECT_EQ(cases[1].not_available,
            "engine 'eager' reads no .onnx files; those that do: onnxruntime, openvino");
}

TEST(ModelFiles, ImplyTheirEngineWhereNoneIsWritten) {
  const TemporaryFile onnx("paceline_config_implied.onnx"), script("paceline_config_implied.pt");
  const auto engine_of = [](const std::string& lines) {
    return cases_of(lines + "shapes: 'x:1x3'\n").at(0).settings.text("engine");
  };
  EXPECT_EQ(engine_of("model: " + onnx.path() + "\n"), "onnxruntime");
  EXPECT_EQ(engine_of("model: " + onnx.path() + "\nengine: openvino\n"), "openvino");
  EXPECT_EQ(engine_of("model: " + script.path() + "\n"), "eager");
}

TEST(ModelFiles, OfSeveralKindsHaveEachTheirEngine) {
  const TemporaryFile onnx("paceline_config_mixed.onnx"), ir("paceline_config_mixed.xml");
  const auto cases = cases_of("models: [" + onnx.path() + ", " + ir.path() + "]\nshapes: 'x:1x3'\n");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].settings.text("engine"), "onnxruntime");
  EXPECT_EQ(cases[1].settings.text("engine"), "openvino");
  for (const auto& item : cases) EXPECT_EQ(item.not_available, "");
}

TEST(EveryEngine, IsThoseThatTakeAModelOfTheList) {
  const auto engines_of = [](const std::string& lines) {
    std::vector<std::string> engines;
    for (const auto& item : cases_of(lines)) engines.push_back(item.settings.text("engine"));
    return engines;
  };
  EXPECT_THAT(
      engines_of("model: tiny_cnn\nengine: all\n"),
      testing::ElementsAre("eager", "torchscript", "aotinductor", "openvino", "onnxruntime", "tensorrt"));
  const TemporaryFile onnx("paceline_config_every.onnx");
  EXPECT_THAT(engines_of("model: " + onnx.path() + "\nengine: all\nshapes: 'x:1x3'\n"),
              testing::ElementsAre("openvino", "onnxruntime"));
  EXPECT_THAT(mistake_of("kind: inference\nmodel: tiny_cnn\nengines: [all, eager]\n"),
              testing::HasSubstr(
                  "'all' cannot be combined with other engines; it is every engine that takes the model"));
  EXPECT_THAT(mistake_of("kind: inference\nmodel: tiny_cnn\naccuracy: {reference: all}\n"),
              testing::HasSubstr("accuracy.reference 'all' is no reference"));
}

TEST(ModelFiles, AsTheEngineAreModelAndEngine) {
  const TemporaryFile file("paceline_config_engine.xml");
  const auto cases = cases_of("engine: " + file.path() + "\nshapes: 'x:4x3'\n");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].settings.text("engine"), "openvino");
  EXPECT_EQ(cases[0].settings.text("model"), file.path());
  EXPECT_EQ(cases[0].settings.integer("batch"), 4);
}

TEST(ModelFiles, AsTheEngineStandAlone) {
  const TemporaryFile file("paceline_config_alone.onnx");
  EXPECT_THAT(mistake_of("kind: inference\nmodel: resnet50\nengine: " + file.path() + "\n"),
              testing::HasSubstr("engine '" + file.path() +
                                 "' is a model file; give it as the model, or leave the model out"));
  EXPECT_THAT(mistake_of("kind: inference\nengines: [eager, " + file.path() + "]\nshapes: 'x:1x3'\n"),
              testing::HasSubstr(
                  "a model file as the engine must be the only one; give files as models to compare them"));
}

TEST(Collectives, OperationsAreCases) {
  const auto sweep =
      expand(plan_of("kind: collective\ncollectives: [all_reduce, broadcast]\nmax_bytes: 1M\n"));
  ASSERT_EQ(sweep.size(), 2U);
  EXPECT_EQ(sweep[0].id, "all_reduce-float-r1");
  EXPECT_EQ(sweep[0].not_available, "");
  EXPECT_EQ(sweep[0].settings.integer("max_bytes"), 1 << 20);
}

TEST(Collectives, AllOfAnAxisIsEveryChoice) {
  const auto cases = expand(plan_of("kind: collective\ndtypes: all\nreductions: [All]\nmax_bytes: 1K\n"));
  ASSERT_EQ(cases.size(), kCollectiveDTypes.size() * kReductions.size());
  EXPECT_THAT(cases.front().id, testing::HasSubstr("int8"));
  EXPECT_THAT(cases.back().id, testing::HasSubstr("bfloat16"));
  EXPECT_THAT(mistake_of("kind: collective\ndtypes: [all, float]\n"), testing::HasSubstr("'all' is none of"));
}

std::string numbers(int from, int n) {
  std::string out = "[" + std::to_string(from);
  for (int i = 1; i < n; ++i) out += "," + std::to_string(from + i);
  return out + "]";
}

TEST(Expand, CountsLargePlansWithoutMakingThem) {
  const auto lines = "kind: inference\nmodels: [resnet50]\nbatch_sizes: " + numbers(1, 100) +
                     "\nthreads: " + numbers(1, 100) + "\n";
  const Plan plan = plan_of(lines);
  EXPECT_EQ(count_cases(plan), 10'000U);
  const auto cases = expand(plan);
  EXPECT_EQ(cases.size(), 10'000U);
  const auto ids = ids_of(cases);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 10'000U);
  const Plan larger = plan_of(lines + "sequence_lengths: " + numbers(1, 100) + "\n");
  EXPECT_THROW(expand(larger), Error);
  const Plan absurd = plan_of("kind: inference\nmodels: [gpt2]\nbatch_sizes: " + numbers(1, 2000) +
                              "\nthreads: " + numbers(1, 2000) + "\nsequence_lengths: " + numbers(1, 2000) +
                              "\nenv: {A: " + numbers(1, 2000) + ", B: " + numbers(1, 2000) + "}\n");
  EXPECT_GT(count_cases(absurd), kMaxCases);
}

}  // namespace
}  // namespace paceline::config
