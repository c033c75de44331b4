// SPDX-License-Identifier: MIT
#include "config/older_flags.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "config/value.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

unsigned command_of(std::string_view name) {
  for (unsigned command = 1; command < kAnyCommand; command <<= 1)
    if (command_name(command) == name) return command;
  return 0;
}

bool is_taken(std::string_view flag, unsigned command) {
  const auto flags = parse_flags(std::vector<std::string>{std::string(flag)}, command);
  for (const auto& problem : flags.problems)
    if (problem.message.starts_with("unknown option")) return false;
  return true;
}

bool is_known(const std::string& flag, unsigned command) {
  return find_flag(flag, command) || (flag.starts_with("--no-") && find_flag("--" + flag.substr(5), command));
}

// Every flag in the code of an advice, a text in backticks or as a whole, is one of its command.
void expect_followable(std::string_view here, unsigned command) {
  const bool whole = here.starts_with("--") || here.starts_with("paceline ");
  const auto parts = whole ? std::vector<std::string>{"", std::string(here)} : split(here, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) {
    unsigned in = command;
    for (const auto& word : split(parts[i], ' ')) {
      if (const unsigned named = command_of(word)) in = named;
      if (word.starts_with('-')) {
        EXPECT_TRUE(is_known(word, in)) << word << " in '" << here << "'";
      }
    }
  }
}

TEST(OlderFlags, EveryRowStandsAsItSays) {
  for (const auto& row : older_flags()) {
    bool any = false;
    for (unsigned command = 1; command < kAnyCommand; command <<= 1) {
      if ((row.command & command) == 0) continue;
      any = true;
      EXPECT_EQ(is_taken(row.flag, command), row.support != Support::kHint) << row.tool << " " << row.flag;
      expect_followable(row.here, command);
    }
    EXPECT_TRUE(any) << row.flag;
  }
}

TEST(OlderFlags, CommandsAndValuesLeadSomewhere) {
  for (const auto& row : older_commands()) {
    EXPECT_EQ(command_of(row.name), 0U) << row.name;
    expect_followable(row.here, 0);
  }
  EXPECT_EQ(older_value("engine", "ort"), "onnxruntime");
  EXPECT_EQ(older_value("engine", "onnxruntime"), "");
}

std::string said(const FlagSet& flags) {
  return flags.problems.empty() ? "" : flags.problems.front().text();
}

TEST(OlderFlags, AMessageNamesTheToolAndWhatToWrite) {
  EXPECT_EQ(
      said(infer_flags({"--request-intervals", "gaps"})),
      "--request-intervals: unknown option (perf_analyzer); here: --scenario server --server.arrival FILE, "
      "with times in seconds in place of gaps in us: awk '{printf \"%.6f\\n\", t += $1 / 1e6}' GAPS");
  EXPECT_EQ(said(infer_flags({"-nireq", "4"})),
            "-nireq: unknown option (benchmark_app); here: --scenario closed_loop --concurrency N");
  EXPECT_EQ(said(infer_flags({"-t", "10"})),
            "-t: unknown option (benchmark_app, onnxruntime_perf_test); here: --duration S");
  EXPECT_EQ(said(infer_flags({"-p", "5000"})),
            "-p: unknown option (onnxruntime_perf_test); here: --layer-profile; or (perf_analyzer); here: "
            "--duration S, in seconds; in the scenario server --server.t_min_s S --server.t_max_s S");
  EXPECT_EQ(
      said(infer_flags({"--exportTimes=t.json"})),
      "--exportTimes: unknown option (trtexec); here: nothing; samples.csv is in the folder of every run");
  EXPECT_EQ(
      said(parse_flags(std::vector<std::string>{"-c", "p.yaml"}, kValidate)),
      "-c: unknown option (bench suites); here: paceline run --dry-run PLAN.yaml, which checks the plan");
  EXPECT_EQ(said(parse_flags(std::vector<std::string>{"-niter", "9"}, kTrain)),
            "-niter: unknown option; it is one of paceline infer");
  EXPECT_EQ(said(parse_flags(std::vector<std::string>{"--rounds", "pairs"}, kTrain)),
            "--rounds: unknown option; it is one of paceline comm");  // and of run, which knows all
  EXPECT_EQ(
      said(parse_flags(std::vector<std::string>{"--local_rank=0"}, kTrain)),
      "--local_rank: unknown option (DDP scripts); here: nothing; LOCAL_RANK and its like are always read "
      "from the environment");
}

FlagSet comm_flags(const std::vector<std::string>& arguments) {
  return parse_flags(arguments, config::command_of(WorkloadKind::kCollective));
}

TEST(OlderFlags, AcceptsWhatNcclTestsDoAnyway) {
  EXPECT_EQ(said(comm_flags({"-b", "8", "-e", "64M", "-f", "2", "-g", "1", "-t", "1", "-C", "0", "-S", "0",
                             "-D", "0", "-V", "16",  "-x", "0", "-y", "0", "-u", "0", "-M", "0", "-p", "0"})),
            "");
  EXPECT_EQ(said(comm_flags({"--minbytes",
                             "8",
                             "--maxbytes=64M",
                             "--stepfactor",
                             "2",
                             "--iters",
                             "20",
                             "--warmup_iters",
                             "5",
                             "--check",
                             "1",
                             "--ngpus",
                             "1",
                             "--nthreads",
                             "1",
                             "--parallel_init",
                             "0",
                             "--average",
                             "1",
                             "--stream_null",
                             "0",
                             "--cudagraph",
                             "0",
                             "--report_cputime",
                             "0",
                             "--report_timestamps",
                             "0",
                             "--local_register",
                             "0",
                             "--device_implementation",
                             "0",
                             "--device_cta_count",
                             "16",
                             "--cta_policy",
                             "0",
                             "--blocking",
                             "0",
                             "--agg_iters",
                             "1",
                             "--run_cycles",
                             "1",
                             "--timeout",
                             "60",
                             "--per_iter_timing",
                             "1",
                             "--per_iter_skip",
                             "0",
                             "--memory",
                             "0",
                             "--unalign",
                             "0",
                             "--output_file",
                             "x.json",
                             "--op",
                             "sum",
                             "--datatype",
                             "float",
                             "--root",
                             "0"})),
            "");
  EXPECT_EQ(said(comm_flags({"-G", "2"})),
            "-G: unknown option (nccl-tests); here: nothing; operations are not captured in CUDA graphs yet");
}

// A letter means something else to each tool: only the tools of the command are asked.
TEST(OlderFlags, ALetterIsNeverTheOtherCommandsTool) {
  EXPECT_EQ(said(comm_flags({"-u", "1"})),
            "-u: unknown option (nccl-tests); here: nothing; buffers are always aligned");
  EXPECT_EQ(said(comm_flags({"-x", "2"})),
            "-x: unknown option (nccl-tests); here: nothing; the policy for CTAs is NCCL's default");
  EXPECT_EQ(said(comm_flags({"-y", "1"})),
            "-y: unknown option (nccl-tests); here: nothing; operations run on a separate stream");
  for (const unsigned command : {kTrain, kBuild, kExport})
    EXPECT_EQ(said(parse_flags(std::vector<std::string>{"-x", "4"}, command)),
              "-x: unknown option; see --help");
  EXPECT_EQ(
      said(infer_flags({"-x", "4"})),
      "-x: unknown option (onnxruntime_perf_test); here: --threads N; or (perf_analyzer); here: nothing; "
      "a model is a file or a name, without a version");
  EXPECT_EQ(
      said(infer_flags({"-f", "dim:8"})),
      "-f: unknown option (onnxruntime_perf_test); here: --shapes NAME:8x3x224x224: the whole shape, not "
      "one dimension by its name; or (perf_analyzer); here: nothing; summary.csv is in the folder of "
      "every run");
  EXPECT_EQ(said(infer_flags({"-iop", "input:f16"})),
            "-iop: unknown option (benchmark_app); here: nothing; the file defines the types of inputs and "
            "outputs");
}

TEST(OlderFlags, BuildTakesThePrecisionsOfTrtexec) {
  const auto build = [](std::vector<std::string> arguments) { return parse_flags(arguments, kBuild); };
  for (const char* name : {"fp16", "bf16", "int8"}) {
    const auto flags = build({std::string("--") + name});
    ASSERT_EQ(flags.settings.size(), 1U) << name;
    EXPECT_EQ(flags.settings[0].name, "precision");
    EXPECT_EQ(flags.settings[0].values.at(0).text, name);
  }
  EXPECT_EQ(said(build({"--fp16", "--int8"})), "--int8: 'precision' was given before (--fp16); keep one");
  EXPECT_EQ(said(build({"--allowGPUFallback", "--noTF32", "--skipInference", "--stronglyTyped"})), "");
}

TEST(OlderFlags, TypesOfElementsHaveTheNamesOfNccl) {
  for (const auto& [typed, ours] : {std::pair{"float16", "half"}, {"fp32", "float"}, {"bf16", "bfloat16"}})
    EXPECT_EQ(older_value("dtypes", typed), ours);
}

TEST(OlderFlags, AKeyOfASectionIsFoundBySpelling) {
  const auto said_of = [](const char* flag) {
    return said(parse_flags(std::vector<std::string>{flag, "bf16"}, kTrain));
  };
  EXPECT_EQ(said_of("--training.presision"),
            "--training.presision: unknown option; did you mean '--training.precision'?");
  EXPECT_EQ(said_of("--training.learning_rat"),
            "--training.learning_rat: unknown option; did you mean '--training.learning_rate'?");
}

// A flag of this tool that is typed at another of its commands is no other tool's.
TEST(OlderFlags, AFlagOfAnotherCommandNamesThatCommand) {
  for (const char* flag : {"--iterations", "--shapes"})
    EXPECT_EQ(said(parse_flags(std::vector<std::string>{flag, "30"}, kTrain)),
              std::string(flag) + ": unknown option; it is one of paceline infer");
  EXPECT_EQ(said(parse_flags(std::vector<std::string>{"--threads", "4"}, kValidate)),
            "--threads: unknown option; it is one of paceline infer");
  EXPECT_EQ(said(infer_flags({"--epochs", "3"})), "--epochs: unknown option; it is one of paceline train");
}

TEST(OlderFlags, ARangeIsWrittenAsAList) {
  EXPECT_EQ(list_of_range("1:4"), "1,2,3,4");
  EXPECT_EQ(list_of_range("2:8:2"), "2,4,6,8");
  for (const char* text : {"", "4", "4:1", "1:4:0", "1:4:x", "1:1000", "1:2:3:4", "1:99999999999999999"})
    EXPECT_EQ(list_of_range(text), "") << text;
  EXPECT_NE(said(infer_flags({"--concurrency-range", "1:7:2"})).find("--concurrency 1,3,5,7"),
            std::string::npos);
  EXPECT_NE(said(infer_flags({"--concurrency-range=8"})).find("--concurrency 1,2,3,4"), std::string::npos);
}

TEST(OlderFlags, OneDashIsNeverGuessedToBeALetter) {
  EXPECT_EQ(said(infer_flags({"-xyz", "1"})), "-xyz: unknown option; see --help");
  EXPECT_EQ(said(infer_flags({"-k"})), "-k: unknown option; see --help");
  EXPECT_EQ(said(infer_flags({"-iterations", "5"})),
            "-iterations: unknown option; did you mean '--iterations'?");
}

TEST(OlderFlags, AliasesAreTheOptionsThemselves) {
  const auto flags = infer_flags(
      {"-m", "m.xml", "-d", "cpu", "-b", "1,8", "-niter", "7", "-nthreads", "2", "-pc", "--request-rate=20"});
  EXPECT_EQ(said(flags), "");
  std::vector<std::string> names;
  for (const auto& setting : flags.settings) names.push_back(setting.name);
  EXPECT_EQ(names, (std::vector<std::string>{"models", "device", "batch_sizes", "iterations", "threads",
                                             "layer_profile", "arrival_rate_per_s"}));
  const auto train = parse_flags(
      std::vector<std::string>{"-a", "resnet50", "--learning-rate=0.1", "--dist-backend", "gloo", "-j", "4"},
      kTrain);
  EXPECT_EQ(said(train), "");
}

TEST(OlderFlags, ThePageHasEveryRow) {
  const auto page = older_flags_markdown();
  for (const auto& row : older_flags())
    EXPECT_NE(page.find("| `" + std::string(row.flag) + "` |"), std::string::npos) << row.flag;
  EXPECT_NE(page.find("| `-niter` | as typed | `paceline infer --iterations N` |"), std::string::npos);
}

}  // namespace
}  // namespace paceline::config
