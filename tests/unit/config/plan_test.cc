// SPDX-License-Identifier: MIT
#include "config/plan.h"

#include <gtest/gtest.h>

#include <fstream>

#include "plan_helpers.h"

namespace paceline::config {
namespace {

TEST(Plan, FillsInTheDocumentedDefaults) {
  const Plan plan = plan_of("kind: inference\nmodels: [resnet50]\n");
  EXPECT_EQ(plan.experiment_name, "p");
  ASSERT_EQ(plan.workloads.size(), 1U);
  const Settings& s = plan.workloads[0].settings;
  EXPECT_EQ(s.texts("engines"), (std::vector<std::string>{"eager"}));
  EXPECT_EQ(s.texts("precisions"), (std::vector<std::string>{"fp32"}));
  EXPECT_EQ(s.texts("batch_sizes"), (std::vector<std::string>{"1"}));
  EXPECT_EQ(s.integer("repetitions"), 1);
  EXPECT_EQ(s.integer("stop.n_min"), 30);
  EXPECT_EQ(s.integer("stop.n_max"), 100'000);
  EXPECT_DOUBLE_EQ(s.number("stop.t_min_s"), 1);
  EXPECT_DOUBLE_EQ(s.number("stop.t_max_s"), 60);
  EXPECT_EQ(s.numbers("stop.quantiles"), (std::vector<double>{0.5}));
  EXPECT_DOUBLE_EQ(s.number("stop.rel_halfwidth_p50"), 0.01);
  EXPECT_DOUBLE_EQ(s.number("stop.rel_halfwidth_p90"), 0.02);
  EXPECT_DOUBLE_EQ(s.number("stop.rel_halfwidth_p99"), 0.05);
  EXPECT_DOUBLE_EQ(s.number("stop.check_growth"), 1.25);
  EXPECT_EQ(s.text("warmup.mode"), "auto");
  EXPECT_EQ(s.integer("warmup.min_iterations"), 5);
  EXPECT_FALSE(s.has("warmup.min_time_s"));  // 0.5 s, on a GPU 1 s
  EXPECT_EQ(s.integer("warmup.max_iterations"), 500);
  EXPECT_DOUBLE_EQ(s.number("confidence"), 0.95);
  EXPECT_DOUBLE_EQ(s.number("timeout_s"), 600);
  EXPECT_DOUBLE_EQ(s.number("idle_wait_s"), 3);
  EXPECT_FALSE(s.flag("pin"));
  EXPECT_FALSE(s.has("iterations"));
  EXPECT_FALSE(s.has("warmup_iterations"));
  EXPECT_EQ(plan.settings.text("output_dir"), "results");
}

TEST(Plan, FixedCountsFixTheWarmup) {
  const auto counts = plan_of(with_line("warmup_iterations: 100\niterations: 1000")).workloads[0].settings;
  EXPECT_EQ(counts.text("warmup.mode"), "fixed");
  EXPECT_EQ(counts.integer("warmup_iterations"), 100);
  EXPECT_EQ(counts.integer("iterations"), 1000);
  const auto remarks = [](const std::string& lines) {
    return plan_of("kind: inference\nwarmup_iterations: 0\n" + lines).remarks.size();
  };
  EXPECT_EQ(remarks("models: [resnet50]\nengines: [eager, torchscript]\n"), 1U);
  EXPECT_EQ(remarks("models: [resnet50]\nengines: [eager]\n"), 0U);
  const auto mode = plan_of(with_line("warmup: {mode: fixed}")).workloads[0].settings;
  EXPECT_EQ(mode.integer("warmup_iterations"), 10);
}

TEST(Plan, KindFollowsFromWhatStandsInTheFile) {
  EXPECT_EQ(plan_of("models: [resnet50]\ngpu_counts: [1]\n").workloads[0].kind, WorkloadKind::kTraining);
  EXPECT_EQ(plan_of("model: resnet50\nworld_sizes: [2]\n").workloads[0].kind, WorkloadKind::kTraining);
  EXPECT_EQ(plan_of("model: resnet50\nddp: {static_graph: true}\n").workloads[0].kind,
            WorkloadKind::kTraining);
  EXPECT_EQ(plan_of("kind: collective\ngpu_counts: [2]\n").workloads[0].kind, WorkloadKind::kCollective);
}

TEST(Plan, SectionAndPlainKeyMayShareAName) {
  const auto plain = plan_of("kind: training\nmodel: gpt2\n").workloads[0].settings;
  const auto section =
      plan_of("kind: training\nmodel: {name: gpt2, channels_last: true}\n").workloads[0].settings;
  EXPECT_EQ(plain.texts("models"), section.texts("models"));
  EXPECT_EQ(section.texts("layouts"), (std::vector<std::string>{"channels_last"}));
}

TEST(Plan, ChannelsLastIsShortForALayout) {
  EXPECT_EQ(plan_of(with_line("channels_last: true")).workloads[0].settings.texts("layouts"),
            (std::vector<std::string>{"channels_last"}));
  EXPECT_EQ(plan_of(with_line("channels_last: false")).workloads[0].settings.texts("layouts"),
            (std::vector<std::string>{"contiguous"}));
}

TEST(Plan, OverridesReachEveryWorkloadThatTakesThem) {
  const char* yaml =
      "experiment_name: two\nworkloads:\n  - {kind: inference, model: gpt2, stop: {n_min: 7}}\n  - {kind: "
      "inference, model: "
      "resnet50}\n  - {kind: training, model: resnet50}\n";
  const Plan plan =
      plan_of(yaml, run_flags({"--stop.n_min=9", "--epochs=3", "--output-dir", "elsewhere", "--dry-run"}));
  EXPECT_EQ(plan.workloads[0].settings.integer("stop.n_min"), 9);
  EXPECT_EQ(plan.workloads[1].settings.integer("stop.n_min"), 9);
  EXPECT_EQ(plan.workloads[2].settings.integer("training.epochs"), 3);
  EXPECT_EQ(plan.workloads[2].settings.integer("stop.n_min"), 9);
  EXPECT_EQ(plan.settings.text("output_dir"), "elsewhere");
  EXPECT_TRUE(plan.command_line.flag("dry_run"));
  EXPECT_FALSE(plan.command_line.flag("yes"));
}

TEST(Plan, EntriesOfAMapAreOverriddenOneByOne) {
  const Plan plan =
      plan_of(with_line("env: {A: 1, B: 2}\nengines: [eager, torchscript]\nbaseline: {engine: eager}"),
              run_flags({"--env.A=5", "--baseline", "engine=torchscript"}));
  const auto& s = plan.workloads[0].settings;
  EXPECT_EQ(s.text("env.A"), "5");
  EXPECT_EQ(s.text("env.B"), "2");
  EXPECT_EQ(s.text("baseline.engine"), "torchscript");
}

TEST(Plan, FromFlagsAlone) {
  const Plan plan = plan_from_flags(
      infer_flags({"--model", "resnet50", "--engine", "eager,torchscript", "--batch", "1,8", "--bf16",
                   "--iters", "500", "--warmup=20", "--expect", "p50_ms < 60, really"}));
  const auto& s = plan.workloads[0].settings;
  EXPECT_EQ(s.texts("engines"), (std::vector<std::string>{"eager", "torchscript"}));
  EXPECT_EQ(s.texts("batch_sizes"), (std::vector<std::string>{"1", "8"}));
  EXPECT_EQ(s.texts("precisions"), (std::vector<std::string>{"bf16"}));
  EXPECT_EQ(s.integer("iterations"), 500);
  EXPECT_EQ(s.integer("warmup_iterations"), 20);
  EXPECT_EQ(plan.settings.texts("expect"), (std::vector<std::string>{"p50_ms < 60, really"}));
  EXPECT_EQ(plan.source, "command line");
  EXPECT_EQ(plan.experiment_name, "infer");
}

Plan trained(std::vector<std::string> arguments) {
  return plan_from_flags(parse_flags(arguments, kTrain));
}

// Whoever says anything about its length gets what a plan gets.
TEST(Plan, AFirstLookEndsSoonerThanACaseOfAPlan) {
  const auto limit = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "resnet50"});
    return plan_from_flags(infer_flags(more)).workloads.at(0).settings.number("stop.t_max_s");
  };
  EXPECT_EQ(limit({}), 2);
  EXPECT_EQ(limit({"--batch", "1,8"}), 2);
  EXPECT_EQ(limit({"--repetitions", "5"}), 2);
  EXPECT_EQ(limit({"--repetitions", "6"}), 1);  // the interval is over processes
  EXPECT_EQ(limit({"--repetitions", "6", "--duration", "2"}), 2);
  EXPECT_EQ(limit({"--duration", "20"}), 20);  // about so long, as users of other tools mean it
  EXPECT_EQ(limit({"--duration", "1"}), 2);
  EXPECT_EQ(limit({"--duration", "2", "--stop.t_max_s", "30"}), 30);
  EXPECT_EQ(limit({"--scenario", "server", "--request-rate", "9"}), 60);
  EXPECT_EQ(limit({"--stop.t_max_s", "5"}), 5);
  EXPECT_EQ(limit({"--expect", "p50_ms < 60"}), 60);
  EXPECT_EQ(limit({"--strict"}), 60);
  EXPECT_EQ(limit({"--gap", "0,500ms"}), 18);  // the least number of samples, and their gaps
}

// On a busy machine times may never be steady.
TEST(Plan, AFirstLookWarmsUpForTwoSecondsAtMost) {
  const auto limit = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "resnet50"});
    return plan_from_flags(infer_flags(more)).workloads.at(0).settings.number("warmup.max_time_s");
  };
  EXPECT_EQ(limit({}), 2);
  EXPECT_EQ(limit({"--repetitions", "5"}), 2);
  EXPECT_EQ(limit({"--repetitions", "6"}), 0.75);
  EXPECT_EQ(limit({"--warmup.min_time_s", "7"}), 60);
  EXPECT_EQ(limit({"--stop.t_max_s", "60"}), 60);
}

TEST(Plan, TheLengthOfAServerHasWordsOfItsOwn) {
  for (const auto* flag : {"--duration", "--stop.t_max_s"}) {
    std::vector<std::string> words{"--model", "resnet50", "--scenario", "server", "--request-rate", "9"};
    words.insert(words.end(), {flag, "30"});
    try {
      plan_from_flags(infer_flags(words));
      FAIL() << flag;
    } catch (const ConfigErrors& e) {
      EXPECT_NE(
          std::string(e.what()).find("'" + std::string(flag) + "' is not how long a server is measured"),
          std::string::npos)
          << e.what();
    }
  }
}

// Random calibration says nothing about accuracy; calibration for an accuracy that somebody reads is another.
TEST(Plan, AFirstLookCalibratesWithFewInputs) {
  const auto samples = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "resnet50"});
    return plan_from_flags(infer_flags(more)).workloads.at(0).settings.integer("quantisation.samples");
  };
  EXPECT_EQ(samples({"--precision", "fp32,int8"}), 8);
  EXPECT_EQ(samples({"--precision", "int8", "--quantisation.samples", "20"}), 20);
  for (const auto* data : {"--calib-data", "--load-inputs"})
    EXPECT_EQ(samples({"--precision", "int8", data, "/dev/null"}), 32) << data;
}

// Two fp32 engines need few inputs; a claim, a lower precision, labels or larger batches need all of them.
TEST(Plan, AFirstLookChecksFewerInputs) {
  const auto samples = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "resnet50"});
    const auto plan = plan_from_flags(infer_flags(more));
    const auto& settings = plan.workloads.at(0).settings;
    return settings.has("accuracy.samples") ? settings.integer("accuracy.samples") : 0;
  };
  constexpr std::int64_t kUnset = 0;
  EXPECT_EQ(samples({}), 16);
  EXPECT_EQ(samples({"--batch", "1,8"}), 16);
  EXPECT_EQ(samples({"--batch", "1,16"}), kUnset);
  EXPECT_EQ(samples({"--precision", "int8"}), kUnset);
  EXPECT_EQ(samples({"--accuracy-claim", "0.005"}), kUnset);
  EXPECT_EQ(samples({"--repetitions", "6"}), kUnset);
  EXPECT_EQ(samples({"--accuracy-samples", "5"}), 5);
  const std::string file = testing::TempDir() + "a_first_look.ts";  // its precision is read back later
  std::ofstream(file) << "x";
  const auto of_file = plan_from_flags(infer_flags({"--model", file, "--shapes", "x:1x3"}));
  EXPECT_FALSE(of_file.workloads.at(0).settings.has("accuracy.samples"));
}

TEST(Plan, TrainWithoutAModelTakesResNet50OnSyntheticData) {
  const auto plan = trained({"--batch-size", "128", "--epochs", "10", "--lr", "0.1"});
  ASSERT_EQ(plan.workloads.size(), 1U);
  const auto& s = plan.workloads[0].settings;
  EXPECT_EQ(s.texts("models"), (std::vector<std::string>{"resnet50"}));
  EXPECT_EQ(s.texts("batch_sizes"), (std::vector<std::string>{"128"}));
  EXPECT_EQ(s.text("data.source"), "synthetic");
  EXPECT_EQ(s.integer("training.epochs"), 10);
  EXPECT_DOUBLE_EQ(s.number("training.lr"), 0.1);
  EXPECT_EQ(trained({"--model", "gpt2"}).workloads[0].settings.texts("models"),
            (std::vector<std::string>{"gpt2"}));
}

TEST(Plan, APlanFileThatTrainsNamesItsModel) {
  EXPECT_EQ(mistake_of("kind: training\n"), "p.yaml:1:1: no model is named; add models: [resnet50]");
}

TEST(Plan, FlagsAloneReportAllMistakesAsUsage) {
  try {
    plan_from_flags(infer_flags({"--batch", "0", "--engin", "eager", "--precision", "fp17"}));
    FAIL() << "it loaded";
  } catch (const ConfigErrors& errors) {
    EXPECT_EQ(errors.code(), ErrorCode::kUsage);
    ASSERT_EQ(errors.diagnostics().size(), 4U);
    const std::string text = errors.what();
    EXPECT_NE(text.find("--engin: unknown option; did you mean '--engines'?"), std::string::npos);
    EXPECT_NE(text.find("no model is named"), std::string::npos);
  }
}

TEST(Plan, ShapesGiveTheBatchUnlessItIsNamed) {
  const TemporaryFile file("paceline_config_shapes.pt");
  const std::string head = "kind: inference\nmodel: " + file.path() + "\nshapes: 'x:4x3, y:4x2:int64'\n";
  const auto cases = expand(plan_of(head));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id, "paceline_config_shapes.pt-eager-b4");
  EXPECT_NE(mistake_of(head + "batch: [2, 16]\n").find("batch 2 is asked for"), std::string::npos);
  const std::string marked = "kind: inference\nmodel: " + file.path() +
                             "\nshapes: 'x:{batch}x3, y:{batch}x2:int64'\nbatch: [2, 16]\n";
  const auto inputs = case_inputs(expand(plan_of(marked)).at(1));
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].shape, (Shape{16, 3}));
  EXPECT_EQ(inputs[1].shape, (Shape{16, 2}));
  EXPECT_EQ(inputs[1].dtype, DType::kInt64);
}

TEST(Plan, APluginOpensTheNames) {
  EXPECT_EQ(mistakes_of("kind: inference\nmodel: tiny_cnn\nengine: spin\n").size(), 1U);
  const Plan plan = plan_of("kind: inference\nmodel: tiny_cnn\nengine: spin\nplugin: ./libspin.so\n");
  EXPECT_EQ(plan.settings.texts("plugin"), (std::vector<std::string>{"./libspin.so"}));
  EXPECT_EQ(expand(plan).at(0).not_available, "");
}

TEST(Settings, GettersRefuseWhatIsNotThere) {
  Settings s;
  s.set("a", std::int64_t{3});
  s.set_list("l", {Value(1.5), Value(std::int64_t{2})});
  EXPECT_EQ(s.integer("a"), 3);
  EXPECT_DOUBLE_EQ(s.number("a"), 3);
  EXPECT_EQ(s.numbers("l"), (std::vector<double>{1.5, 2}));
  EXPECT_THROW(static_cast<void>(s.text("a")), Error);
  EXPECT_THROW(static_cast<void>(s.integer("b")), Error);
  EXPECT_THROW(static_cast<void>(s.number("l")), Error);
  EXPECT_TRUE(s.list("b").empty());
}

TEST(Settings, CopiesShareAndKeepTheirOwn) {
  Settings s;
  s.set("a", std::int64_t{1});
  s.share();
  Settings copy = s;
  copy.set("a", std::int64_t{2});
  copy.set("b", true);
  EXPECT_EQ(s.integer("a"), 1);
  EXPECT_EQ(copy.integer("a"), 2);
  EXPECT_EQ(copy.all().size(), 2U);
  copy.erase("a");
  EXPECT_FALSE(copy.has("a"));
  EXPECT_TRUE(s.has("a"));
}

// "a.b" as a plan writes it, with nothing in it.
std::string null_line(const std::string& key) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? key + ": null\n"
                                  : key.substr(0, dot) + ": {" + key.substr(dot + 1) + ": null}\n";
}

TEST(Plan, NullIsAnOptionThatIsNotSet) {
  for (const auto& kind : kWorkloadKinds) {
    const bool by_model = find_option("models", kind_bit(kind.kind)) != nullptr;
    const auto base = "kind: " + std::string(kind.name) + (by_model ? "\nmodels: [tiny_cnn]\n" : "\n");
    const auto plain = plan_of(base);
    for (const Option* option : options_of(kind_bit(kind.kind) | kPlanLevel)) {
      auto keys = alias_names(*option);
      keys.emplace_back(option->name);
      for (const auto& key : keys) {
        if (key == "kind" || key == "models" || key.starts_with("model.")) continue;
        EXPECT_TRUE(same_plan(plan_of(base + null_line(key)), plain)) << kind.name << " " << key;
      }
    }
    EXPECT_EQ(mistake_of("kind: null\n"),
              "p.yaml:1:1: what kind of workload is this? add 'kind: inference', 'kind: training' or 'kind: "
              "collective'");
  }
  EXPECT_EQ(mistake_of("kind: inference\nmodels: null\n"),
            "p.yaml:1:1: no model is named; add models: [resnet50]");
  EXPECT_EQ(plan_of("kind: null\nmodels: [tiny_cnn]\nranks: 2\n").workloads.at(0).kind,
            WorkloadKind::kTraining);
  EXPECT_EQ(mistake_of("kind: inference\nmodels: [tiny_cnn]\nbatch_sizes:\n"),
            "p.yaml:3:1: 'batch_sizes' has no value");
}

}  // namespace
}  // namespace paceline::config
