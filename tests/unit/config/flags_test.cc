// SPDX-License-Identifier: MIT
#include "config/flags.h"

#include <gmock/gmock.h>

#include "config/option_table.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

std::vector<std::string> texts_of(const FlagSet& flags, std::string_view name) {
  std::vector<std::string> texts;
  for (const auto& setting : flags.settings)
    if (setting.name == name)
      for (const auto& value : setting.values) texts.push_back(value.text);
  return texts;
}
using Texts = std::vector<std::string>;

TEST(Flags, TakeEverySpelling) {
  for (const Texts& arguments :
       {Texts{"--batch", "1,8"}, Texts{"--batch=1,8"}, Texts{"--batch-sizes=1,8"},
        Texts{"--batch_sizes", "1, 8"}, Texts{"--batch=[1, 8]"}, Texts{"--batch-size", "1,8"}}) {
    const auto flags = infer_flags(arguments);
    EXPECT_TRUE(flags.problems.empty()) << arguments[0];
    EXPECT_EQ(texts_of(flags, "batch_sizes"), (Texts{"1", "8"})) << arguments[0];
  }
}

TEST(Flags, ShortFlagsBelongToTheirCommand) {
  const auto run = run_flags({"-c", "p.yaml", "-o", "out", "-v", "-y"});
  EXPECT_TRUE(run.problems.empty());
  EXPECT_EQ(texts_of(run, "config"), (Texts{"p.yaml"}));
  EXPECT_EQ(texts_of(run, "output_dir"), (Texts{"out"}));
  EXPECT_EQ(texts_of(run, "verbose"), (Texts{"true"}));
  const auto report = parse_flags(Texts{"-s", "a", "-s", "b", "-f", "markdown,csv", "-o", "x.md"}, kReport);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(texts_of(report, "source"), (Texts{"a", "b"}));
  EXPECT_EQ(texts_of(report, "format"), (Texts{"markdown", "csv"}));
  EXPECT_EQ(texts_of(report, "output"), (Texts{"x.md"}));
  EXPECT_EQ(command_settings(report).texts("format"), (Texts{"markdown", "csv"}));
}

TEST(Flags, BooleansNeedNoValueAndCanBeDenied) {
  const auto flags = infer_flags({"--pin", "--no-allow-noisy", "--in-process=false", "file"});
  EXPECT_EQ(texts_of(flags, "pin"), (Texts{"true"}));
  EXPECT_EQ(texts_of(flags, "allow_noisy"), (Texts{"false"}));
  EXPECT_EQ(texts_of(flags, "in_process"), (Texts{"false"}));
  EXPECT_EQ(flags.positionals, (Texts{"file"}));
  const auto plain = infer_flags({"--no-color"});
  EXPECT_EQ(texts_of(plain, "no_color"), (Texts{"true"}));
}

TEST(Flags, TrtexecsWarmUpCountsInMilliseconds) {
  EXPECT_EQ(texts_of(infer_flags({"--warmUp=200"}), "warmup.min_time_s"), (Texts{"0.2"}));
  EXPECT_EQ(texts_of(infer_flags({"--warmUp", "1500"}), "warmup.min_time_s"), (Texts{"1.5"}));
  EXPECT_EQ(texts_of(infer_flags({"--warmup=5"}), "warmup_iterations"), (Texts{"5"}));
  EXPECT_EQ(texts_of(infer_flags({"--warmUp=soon"}), "warmup.min_time_s"), (Texts{"soon"}));
  EXPECT_EQ(infer_flags({"--warmUp"}).problems.size(), 1U);
  EXPECT_EQ(parse_flags(Texts{"--warmUp=200"}, kReport).problems.size(), 1U);
}

TEST(Flags, WordsOfOtherTools) {
  const auto flags = infer_flags({"--fp16", "--loadInputs=in:a.npy,ids:b.npy", "--onnx=m.onnx",
                                  "--channels-last", "--duration=3", "--noDataTransfers"});
  EXPECT_TRUE(flags.problems.empty());
  EXPECT_EQ(texts_of(flags, "precisions"), (Texts{"fp16"}));
  EXPECT_EQ(texts_of(flags, "load_inputs"), (Texts{"in:a.npy", "ids:b.npy"}));
  EXPECT_EQ(texts_of(flags, "models"), (Texts{"m.onnx"}));
  EXPECT_EQ(texts_of(flags, "layouts"), (Texts{"channels_last"}));
  EXPECT_EQ(texts_of(flags, "stop.t_min_s"), (Texts{"3"}));
  EXPECT_EQ(texts_of(flags, "io"), (Texts{"none"}));
  EXPECT_EQ(texts_of(infer_flags({"--includeDataTransfers"}), "io"), (Texts{"pinned"}));
  EXPECT_EQ(texts_of(run_flags({"--nproc_per_node=2"}), "nproc_per_node"), (Texts{"2"}));
}

TEST(Flags, ABooleanAxisStandsAloneOrTakesAList) {
  EXPECT_EQ(texts_of(infer_flags({"--useCudaGraph", "--batch=1"}), "cuda_graphs"), (Texts{"true"}));
  EXPECT_EQ(texts_of(infer_flags({"--cuda-graphs", "false,true"}), "cuda_graphs"), (Texts{"false", "true"}));
  EXPECT_EQ(texts_of(infer_flags({"--cuda-graph=true"}), "cuda_graphs"), (Texts{"true"}));
  EXPECT_EQ(texts_of(infer_flags({"--no-cuda-graph"}), "cuda_graphs"), (Texts{"false"}));
}

TEST(Flags, ValuesMayHoldCommasAndMinus) {
  EXPECT_EQ(texts_of(infer_flags({"--shapes", "a:1x2,b:1:int64"}), "shapes"), (Texts{"a:1x2,b:1:int64"}));
  EXPECT_EQ(texts_of(infer_flags({"--expect", "a < 1, b", "--expect=c > 2"}), "expect"),
            (Texts{"a < 1, b", "c > 2"}));
  EXPECT_EQ(texts_of(infer_flags({"--load-inputs", "a\\,b:x.npy,c\\,\\,d:y.npy"}), "load_inputs"),
            (Texts{"a,b:x.npy", "c,,d:y.npy"}));
  EXPECT_EQ(texts_of(infer_flags({"--load-inputs", "end\\"}), "load_inputs"), (Texts{"end\\"}));
  EXPECT_EQ(texts_of(infer_flags({"--iters", "-5"}), "iterations"), (Texts{"-5"}));
  EXPECT_EQ(texts_of(infer_flags({"--env", "GOMP_CPU_AFFINITY=0,1"}), "env.GOMP_CPU_AFFINITY"),
            (Texts{"0,1"}));
  EXPECT_EQ(texts_of(infer_flags({"--env.X=[a,b]"}), "env.X"), (Texts{"a", "b"}));
  const auto baseline = infer_flags({"--baseline", "engine=eager,precision=fp32"});
  EXPECT_EQ(texts_of(baseline, "baseline.engine"), (Texts{"eager"}));
  EXPECT_EQ(texts_of(baseline, "baseline.precision"), (Texts{"fp32"}));
}

TEST(Flags, TheLastWordWins) {
  EXPECT_EQ(texts_of(infer_flags({"--iters", "5", "--iters=6"}), "iterations"), (Texts{"6"}));
  const auto twice = infer_flags({"--batch", "1", "--batch-sizes", "8"});
  EXPECT_TRUE(twice.problems.empty());
  EXPECT_EQ(texts_of(twice, "batch_sizes"), (Texts{"8"}));
  EXPECT_THAT(twice.remarks,
              testing::ElementsAre("--batch-sizes 8 replaces --batch 1, which came before it; for "
                                   "several values write one list"));
  EXPECT_TRUE(infer_flags({"--batch", "8", "--batch=8"}).remarks.empty());
  const auto model = parse_flags(Texts{"--model", "resnet50", "--model.name", "tiny_cnn"}, kTrain);
  EXPECT_TRUE(model.problems.empty());
  EXPECT_EQ(texts_of(model, "models"), (Texts{"tiny_cnn"}));
  EXPECT_EQ(texts_of(infer_flags({"--env.A", "1", "--env", "A=2"}), "env.A"), (Texts{"2"}));
}

TEST(Flags, CollectAllProblems) {
  const auto flags = infer_flags(
      {"--bacth", "8", "--engine", "--epochs=3", "--stop.t_maxs=4", "--baseline", "eager", "--timeout-s"});
  std::vector<std::string> texts;
  for (const auto& problem : flags.problems) texts.push_back(problem.text());
  EXPECT_EQ(texts, (Texts{"--bacth: unknown option; did you mean '--batch'?",
                          "--engine: needs a value, e.g. --engine eager",
                          "--epochs: unknown option; it is one of paceline train",
                          "--stop.t_maxs: unknown option; did you mean '--stop.t_max_s'?",
                          "--baseline eager: 'eager' is not NAME=VALUE; did you mean engine=eager?",
                          "--timeout-s: needs a value, e.g. --timeout-s 600"}));
  EXPECT_TRUE(flags.positionals.empty());
}

TEST(Flags, SwitchesTakeTheirValueBehindThem) {
  EXPECT_EQ(texts_of(infer_flags({"--measure-peak", "false"}), "measure_peak"), (Texts{"false"}));
  EXPECT_EQ(texts_of(infer_flags({"--pin", "yes", "--batch", "2"}), "pin"), (Texts{"yes"}));
  EXPECT_EQ(texts_of(infer_flags({"--channels-last", "false"}), "layouts"), (Texts{"contiguous"}));
  const auto plan = run_flags({"--allow-noisy", "true.yaml"});
  EXPECT_EQ(texts_of(plan, "allow_noisy"), (Texts{"true"}));
  EXPECT_EQ(plan.positionals, (Texts{"true.yaml"})) << "a file, no value";
}

std::string first_problem(const FlagSet& flags) {
  return flags.problems.empty() ? "" : flags.problems.front().text();
}

TEST(Flags, AWordThatNoOptionTakesIsAProblem) {
  EXPECT_EQ(first_problem(infer_flags({"--batch", "1", "8"})),
            "8: unexpected argument; a list is written with commas: --batch 1,8");
  EXPECT_EQ(first_problem(infer_flags({"foo"})),
            "foo: unexpected argument; this command takes options only; see paceline infer --help");
  EXPECT_EQ(first_problem(infer_flags({"--fp16", "false"})),
            "false: unexpected argument; --fp16 takes no value");
  EXPECT_EQ(first_problem(infer_flags({"gpt2"})), "gpt2: unexpected argument; write --model gpt2");
  EXPECT_EQ(first_problem(run_flags({"a.yaml", "b.yaml"})),
            "b.yaml: a second plan beside 'a.yaml'; run one after the other");
  EXPECT_EQ(first_problem(run_flags({"-c", "a.yaml", "b.yaml"})),
            "b.yaml: a second plan beside -c a.yaml; leave one of them out");
  EXPECT_EQ(first_problem(run_flags({"a.yaml", "--json"})), "");
  EXPECT_EQ(first_problem(parse_flags(Texts{"generate", "a", "b"}, kReport)), "");
  EXPECT_EQ(first_problem(parse_flags(Texts{"plan", "metrics"}, kSchema)), "");
}

TEST(Flags, TwoDashesEndThem) {
  const auto flags = run_flags({"a.yaml", "--", "--batch", "-x"});
  EXPECT_EQ(flags.problems.size(), 2U) << "two words beside the plan";
  EXPECT_EQ(flags.positionals, (Texts{"a.yaml", "--batch", "-x"}));
  EXPECT_TRUE(flags.settings.empty());
}

TEST(Flags, CommandSettingsThrowEverythingAsUsage) {
  try {
    command_settings(parse_flags(Texts{"--format", "htm", "--nope"}, kReport));
    FAIL() << "accepted";
  } catch (const ConfigErrors& errors) {
    EXPECT_EQ(errors.code(), ErrorCode::kUsage);
    EXPECT_EQ(errors.diagnostics().size(), 2U);
  }
  EXPECT_TRUE(command_settings(parse_flags(Texts{"--json"}, kValidate)).flag("json"));
}

TEST(Help, ListsWhatACommandTakesWithin100Columns) {
  const std::string infer = render_help(kInfer);
  EXPECT_NE(infer.find("--batch N,…"), std::string::npos);
  EXPECT_NE(infer.find("[600 s]"), std::string::npos);
  EXPECT_EQ(infer.find("--epochs"), std::string::npos);
  const std::string run = render_help(kRun);
  EXPECT_NE(run.find("-c, --config"), std::string::npos);
  EXPECT_NE(run.find("--section.key=VALUE"), std::string::npos);
  EXPECT_EQ(run.find("--batch N"), std::string::npos);
  EXPECT_NE(render_help(kReport).find("-s, --source"), std::string::npos);
  for (const char* words : {"Also: --batch-size.", "--amp (amp)", "Also: --steps.", "Also: --num-workers."})
    EXPECT_NE(render_help(kTrain).find(words), std::string::npos) << words;
  for (const std::string& text : {infer, run, render_help(kTrain)}) {
    std::size_t width = 0, widest = 0;
    for (const char c : text) {
      width = c == '\n' ? 0 : width + ((c & 0xC0) != 0x80 ? 1U : 0U);
      widest = std::max(widest, width);
    }
    EXPECT_LE(widest, 100U);
  }
}

TEST(Help, NamesDefaultsAndKeysAsOtherTextsDo) {
  const std::string infer = render_help(kInfer), train = render_help(kTrain);
  EXPECT_THAT(infer, testing::HasSubstr("  --concurrency N,…"));  // --streams is a word of older tools
  EXPECT_THAT(train, testing::HasSubstr(" [true; off: --no-data.shuffle]"));
  EXPECT_THAT(infer, testing::HasSubstr(" [60 s]"));
  for (const auto& group : option_groups())
    for (const auto& option : group.options)
      if (option.type == OptionType::kBoolean && option.fallback == "true" && serves(option, kTrain)) {
        const auto flags = parse_flags(Texts{"--no-" + std::string(option.name)}, kTrain);
        EXPECT_TRUE(flags.problems.empty()) << option.name;
      }
}

}  // namespace
}  // namespace paceline::config
