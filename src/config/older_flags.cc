// SPDX-License-Identifier: MIT
#include "config/older_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "config/option_table.h"

namespace paceline::config {
namespace {

using enum Standing;

constexpr std::string_view kBenchmarkApp = "benchmark_app", kPerfTest = "onnxruntime_perf_test",
                           kAnalyzer = "perf_analyzer", kTrtexec = "trtexec", kDdpScripts = "DDP scripts",
                           kBench = "bench suites", kNcclTests = "nccl-tests";
constexpr std::string_view kAlwaysThere =
    "nothing; p50, p90, p95 and p99 are in a result where its samples carry them";
constexpr std::string_view kSeconds =
    "`--duration S`, in seconds; in the scenario server `--server.t_min_s S --server.t_max_s S`";
constexpr std::string_view kOwnProcess =
    "nothing; the model runs in a process of this tool, without a server";

constexpr std::array kFlags{
    OlderFlag{kBenchmarkApp, "-m", "--model FILE", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-d", "--device cpu", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-b", "--batch N", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-niter", "--iterations N", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-nthreads", "--threads N", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-pc", "--layer-profile", kInfer, kTaken},
    OlderFlag{kBenchmarkApp, "-t", "--duration S", kInfer},
    OlderFlag{kBenchmarkApp, "-nireq", "--scenario closed_loop --concurrency N", kInfer},
    OlderFlag{kBenchmarkApp, "-nstreams",
              "`--openvino.num_streams N`, with `--scenario closed_loop --concurrency N`", kInfer},
    OlderFlag{kBenchmarkApp, "-api", "`--scenario closed_loop --concurrency N` for async; sync needs nothing",
              kInfer},
    OlderFlag{kBenchmarkApp, "-hint",
              "`--scenario closed_loop --instances N` for throughput; latency needs nothing", kInfer},
    OlderFlag{kBenchmarkApp, "-shape", "--shapes NAME:1x3x224x224", kInfer},
    OlderFlag{kBenchmarkApp, "-data_shape", "--shapes NAME:1x3x224x224", kInfer},
    OlderFlag{kBenchmarkApp, "-layout", "`--shapes NAME:{batch}x3x224x224`, where {batch} marks the batch",
              kInfer},
    OlderFlag{kBenchmarkApp, "-i", "`--image-dir FOLDER`, or `--load-inputs FILE.npy`", kInfer},
    OlderFlag{kBenchmarkApp, "-mean_values", "--mean-values R,G,B", kInfer},
    OlderFlag{kBenchmarkApp, "-scale_values", "--scale-values R,G,B", kInfer},
    OlderFlag{kBenchmarkApp, "-report_type",
              "nothing; samples.csv and summary.csv are in the folder of every run", kInfer},
    OlderFlag{kBenchmarkApp, "-report_folder", "--output-dir FOLDER", kInfer},
    OlderFlag{kBenchmarkApp, "-infer_precision", "--precision fp32", kInfer},
    OlderFlag{kBenchmarkApp, "-ip",
              "`--shapes NAME:1x3x224x224:uint8`, where the file's own type is not meant", kInfer},
    OlderFlag{kBenchmarkApp, "-op", "nothing; outputs have the types that the file says", kInfer},

    OlderFlag{kPerfTest, "-e", "`--engine onnxruntime`, with `--device cuda` for the GPU", kInfer},
    OlderFlag{kPerfTest, "-r",
              "`--iterations N`; `-r` are repetitions here, each of them a process of its own", kInfer,
              kOther},
    OlderFlag{kPerfTest, "-x", "--threads N", kInfer},
    OlderFlag{kPerfTest, "-y", "`--onnxruntime.inter_op_threads N`; `-y` means `--yes` here", kInfer, kOther},
    OlderFlag{kPerfTest, "-I", "nothing; inputs are generated unless `--load-inputs` names a file", kInfer},
    OlderFlag{kPerfTest, "-m",
              "`--iterations N` for times, `--duration S` for duration; `-m` is the model here", kInfer,
              kOther},
    OlderFlag{kPerfTest, "-p", "--layer-profile", kInfer},
    OlderFlag{kPerfTest, "-t", "--duration S", kInfer},
    OlderFlag{kPerfTest, "-o", "`--onnxruntime.graph_optimization all`; `-o` is the folder of results here",
              kInfer, kOther},
    OlderFlag{kPerfTest, "-c", "--scenario closed_loop --concurrency N", kInfer},
    OlderFlag{kPerfTest, "-s", kAlwaysThere, kInfer},
    OlderFlag{kPerfTest, "-P", "--onnxruntime.inter_op_threads N", kInfer},

    OlderFlag{kAnalyzer, "-m", "--model FILE", kInfer, kTaken},
    OlderFlag{kAnalyzer, "-b", "--batch N", kInfer, kTaken},
    OlderFlag{kAnalyzer, "--request-rate", "--scenario server --arrival-rate N", kInfer, kTaken},
    OlderFlag{kAnalyzer, "--request-rate-range", "--scenario server --request-rate LIST", kInfer},
    OlderFlag{kAnalyzer, "--concurrency-range", "--scenario closed_loop --concurrency LIST", kInfer},
    OlderFlag{kAnalyzer, "--request-distribution", "`--server.arrival poisson`, or constant", kInfer},
    OlderFlag{kAnalyzer, "--binary-search", "--scenario server --slo p99=50ms", kInfer},
    OlderFlag{kAnalyzer, "--percentile", kAlwaysThere, kInfer},
    OlderFlag{kAnalyzer, "--measurement-interval", kSeconds, kInfer},
    OlderFlag{kAnalyzer, "-p", kSeconds, kInfer},
    OlderFlag{kAnalyzer, "--measurement-request-count", "--iterations N", kInfer},
    OlderFlag{kAnalyzer, "--request-count", "--iterations N", kInfer},
    OlderFlag{kAnalyzer, "--stability-percentage", "`--stop.rel_halfwidth_p50 0.01`, a share of the median",
              kInfer},
    OlderFlag{kAnalyzer, "-s", "`--stop.rel_halfwidth_p50 0.01`, a share of the median", kInfer},
    OlderFlag{kAnalyzer, "--latency-threshold",
              "`--slo p99=50ms` in the scenario server, or `--expect 'p99_ms < 50'`", kInfer},
    OlderFlag{kAnalyzer, "-l", "`--slo p99=50ms` in the scenario server, or `--expect 'p99_ms < 50'`",
              kInfer},
    OlderFlag{kAnalyzer, "--shape", "--shapes NAME:1x3x224x224", kInfer},
    OlderFlag{kAnalyzer, "--input-data", "`--load-inputs FILE.npz`; random inputs need nothing", kInfer},
    OlderFlag{kAnalyzer, "--warmup-request-count", "--warmup N", kInfer},
    OlderFlag{kAnalyzer, "-f", "nothing; summary.csv is in the folder of every run", kInfer},
    OlderFlag{kAnalyzer, "-u", kOwnProcess, kInfer},
    OlderFlag{kAnalyzer, "--service-kind", kOwnProcess, kInfer},
    OlderFlag{kAnalyzer, "--shared-memory", kOwnProcess, kInfer},

    OlderFlag{kTrtexec, "--onnx", "--model FILE", kInfer, kTaken},
    OlderFlag{kTrtexec, "--loadEngine", "--engine FILE.plan", kInfer, kTaken},
    OlderFlag{kTrtexec, "--fp16", "--precision fp16", kInfer, kTaken},
    OlderFlag{kTrtexec, "--int8", "--precision int8", kInfer, kTaken},
    OlderFlag{kTrtexec, "--best", "--precision fp32,fp16,int8", kInfer},
    OlderFlag{kTrtexec, "--noTF32", "--precision fp32", kInfer},
    OlderFlag{kTrtexec, "--warmUp", "`--warmup.min_time_s S`, in seconds", kInfer, kTaken},
    OlderFlag{kTrtexec, "--duration", "--stop.t_min_s S", kInfer, kTaken},
    OlderFlag{kTrtexec, "--iterations",
              "`--stop.n_min N` for at least so many; `--iterations` are exactly so many here", kInfer,
              kOther},
    OlderFlag{kTrtexec, "--avgRuns", "nothing; every sample is kept", kInfer},
    OlderFlag{kTrtexec, "--percentile", kAlwaysThere, kInfer},
    OlderFlag{kTrtexec, "--infStreams", "`--concurrency N`, with `--scenario closed_loop`", kInfer, kTaken},
    OlderFlag{kTrtexec, "--streams", "`--concurrency N`, with `--scenario closed_loop`", kInfer, kTaken},
    OlderFlag{kTrtexec, "--useCudaGraph", "--cuda-graphs", kInfer, kTaken},
    OlderFlag{kTrtexec, "--noCudaGraph", "`--no-cuda-graphs`, which is the default", kInfer},
    OlderFlag{kTrtexec, "--noDataTransfers", "--io none", kInfer, kTaken},
    OlderFlag{kTrtexec, "--includeDataTransfers", "--io pinned", kInfer, kTaken},
    OlderFlag{kTrtexec, "--loadInputs", "--load-inputs NAME:FILE.npy", kInfer, kTaken},
    OlderFlag{kTrtexec, "--loadRefOutputs", "--accuracy-reference FILE.npz", kInfer},
    OlderFlag{kTrtexec, "--dumpProfile", "--layer-profile", kInfer, kTaken},
    OlderFlag{kTrtexec, "--exportProfile", "`--layer-profile`; layers.csv is in the folder of the run",
              kInfer},
    OlderFlag{kTrtexec, "--dumpLayerInfo", "`--layer-profile`; layers.csv is in the folder of the run",
              kInfer},
    OlderFlag{kTrtexec, "--exportLayerInfo", "`--layer-profile`; layers.csv is in the folder of the run",
              kInfer},
    OlderFlag{kTrtexec, "--separateProfileRun", "nothing; `--layer-profile` has a process of its own",
              kInfer},
    OlderFlag{kTrtexec, "--exportTimes", "nothing; samples.csv is in the folder of every run", kInfer},
    OlderFlag{kTrtexec, "--exportOutput", "--dump-outputs FOLDER", kInfer},
    OlderFlag{kTrtexec, "--dumpOutput", "--dump-outputs FOLDER", kInfer},
    OlderFlag{kTrtexec, "--device", "`--device cuda:0` for device 0", kInfer, kOther},
    OlderFlag{kTrtexec, "--threads", "`--instances N`; `--threads N` are those inside an operator here",
              kInfer, kOther},
    OlderFlag{kTrtexec, "--explicitBatch", "nothing; the batch is always explicit", kInfer},
    OlderFlag{kTrtexec, "--saveEngine", "paceline build --engine tensorrt --onnx FILE --output FILE.plan",
              kInfer},
    OlderFlag{kTrtexec, "--buildOnly", "paceline build --engine tensorrt --onnx FILE --output FILE.plan",
              kInfer},
    OlderFlag{kTrtexec, "--skipInference", "paceline build --engine tensorrt --onnx FILE --output FILE.plan",
              kInfer},
    OlderFlag{kTrtexec, "--minShapes", "--min-shapes NAME:1x3x224x224", kBuild, kTaken},
    OlderFlag{kTrtexec, "--optShapes", "--opt-shapes NAME:8x3x224x224", kBuild, kTaken},
    OlderFlag{kTrtexec, "--maxShapes", "--max-shapes NAME:32x3x224x224", kBuild, kTaken},
    OlderFlag{kTrtexec, "--memPoolSize", "--workspace 4GiB", kBuild, kTaken},
    OlderFlag{kTrtexec, "--workspace", "`--workspace 4GiB`; a plain number is one of bytes here", kBuild,
              kOther},
    OlderFlag{kTrtexec, "--timingCacheFile", "--timing-cache FILE", kBuild, kTaken},
    OlderFlag{kTrtexec, "--useDLACore", "--dla N", kBuild, kTaken},
    OlderFlag{kTrtexec, "--calib", "--calib-cache FILE", kBuild, kTaken},

    OlderFlag{kDdpScripts, "--learning-rate", "--lr X", kTrain, kTaken},
    OlderFlag{kDdpScripts, "--arch", "--model NAME", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-a", "--model NAME", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-j", "--workers N", kTrain, kTaken},
    OlderFlag{kDdpScripts, "--dist-backend", "--backend gloo", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-b", "`--batch-size N`, the batch of one rank", kTrain},
    OlderFlag{kDdpScripts, "--data", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--gpu", "`--device cuda:N`, or `--ranks N` for as many GPUs", kTrain},
    OlderFlag{kDdpScripts, "--data-dir", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--data-path", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--dataset", "--data.source cifar100", kTrain},
    OlderFlag{kDdpScripts, "--use-env",
              "nothing; LOCAL_RANK and its like are always read from the environment", kTrain},
    OlderFlag{kDdpScripts, "--local-rank",
              "nothing; LOCAL_RANK and its like are always read from the environment", kTrain},
    OlderFlag{kDdpScripts, "--resume",
              "`--checkpoint.dir FOLDER --checkpoint.resume`; `--resume DIR` finishes a measured run here",
              kTrain, kOther},
    OlderFlag{kDdpScripts, "--save-dir", "--checkpoint.dir FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--master-addr", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--master-port", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--dist-url", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--multiprocessing-distributed", "--ranks N", kTrain},
    OlderFlag{kDdpScripts, "--num-gpus", "--ranks N", kTrain},
    OlderFlag{kDdpScripts, "--pretrained", "--weights FILE.safetensors", kTrain},
    OlderFlag{kDdpScripts, "--lr-scheduler", "--training.schedule cosine --training.lr_total_steps N",
              kTrain},
    OlderFlag{kDdpScripts, "--gradient-accumulation-steps", "--accumulation-steps N", kTrain},
    OlderFlag{kDdpScripts, "--clip-grad-norm", "--training.clip_norm X", kTrain},
    OlderFlag{kDdpScripts, "--bucket-cap-mb", "--ddp.bucket_cap_mb N", kTrain},
    OlderFlag{kDdpScripts, "--print-freq", "nothing; progress is shown, and every step is in samples.csv",
              kTrain},

    OlderFlag{kNcclTests, "-b", "--min-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-e", "--max-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-i", "--step-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-f", "--step-factor X", kComm, kTaken},
    OlderFlag{kNcclTests, "-n", "--iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "-w", "--warmup-iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "-c", "--check N", kComm, kTaken},
    OlderFlag{kNcclTests, "-o", "`--reduction sum`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "-d", "`--dtype float`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "-r", "--root RANK", kComm, kTaken},
    OlderFlag{kNcclTests, "-g", "`--ranks N`; each is a process", kComm, kTaken},
    OlderFlag{kNcclTests, "-J", "--nccl-json FILE", kComm, kTaken},
    OlderFlag{kNcclTests, "-t", "`--ranks N`; a rank is a process here, never a thread", kComm,
              Standing::kHint, "1"},
    OlderFlag{kNcclTests, "-I", "nothing; operations are timed one by one as well, and every one is kept",
              kComm, Standing::kHint, "0,1"},
    OlderFlag{kNcclTests, "-K", "nothing; the first operations are those of the warm-up, `-w N`", kComm,
              Standing::kHint, "0"},
    OlderFlag{kNcclTests, "-a", "nothing; the time of every rank is in collective_times.csv", kComm,
              Standing::kHint, "1"},
    OlderFlag{kNcclTests, "-m", "nothing; each operation is a call of its own", kComm, Standing::kHint, "1"},
    OlderFlag{kNcclTests, "-z",
              "nothing; `stream` and `batch` are back to back, the others wait for each operation", kComm,
              Standing::kHint, "0"},
    OlderFlag{kNcclTests, "-G", "nothing; operations are not captured in CUDA graphs yet", kComm,
              Standing::kHint, "0"},
    OlderFlag{kNcclTests, "-R", "nothing; buffers are not registered with NCCL yet", kComm, Standing::kHint,
              "0"},
    OlderFlag{kNcclTests, "-N", "`--repetitions N`, each with fresh processes", kComm, Standing::kHint, "1"},
    OlderFlag{kNcclTests, "-T", "--group-timeout-s S", kComm, kTaken},
    OlderFlag{kNcclTests, "-M", "nothing; the memory of a rank is in the result", kComm, Standing::kHint,
              "0"},
    OlderFlag{kNcclTests, "-p", "nothing; ranks always begin together", kComm, Standing::kHint, "0"},

    OlderFlag{kBench, "--gate", "--expect 'p50_ms < 60'", kInfer | kTrain | kRun},
    OlderFlag{kBench, "-g", "--ranks N", kTrain, kTaken},
    OlderFlag{kBench, "-c", "`paceline run --dry-run PLAN.yaml`, which checks the plan", kValidate},
    OlderFlag{kBench, "--config", "`paceline run --dry-run PLAN.yaml`, which checks the plan", kValidate},
};

constexpr std::array kOlderCommands{
    OlderCommand{"analyze", "paceline report --source DIR"},
    OlderCommand{"compare", "paceline report --source DIR --source DIR"},
    OlderCommand{"list", "paceline schema options"},
    OlderCommand{"convert", "`paceline export`, or `paceline build` for a file of one engine"},
};

struct OlderValue {
  std::string_view option, value, here;
};
constexpr std::array kValues{
    OlderValue{"engine", "ort", "onnxruntime"},  OlderValue{"engine", "onnx", "onnxruntime"},
    OlderValue{"engine", "cpu", "onnxruntime"},  OlderValue{"engine", "ov", "openvino"},
    OlderValue{"engine", "trt", "tensorrt"},     OlderValue{"engine", "torch", "eager"},
    OlderValue{"engine", "pytorch", "eager"},    OlderValue{"engine", "jit", "torchscript"},
    OlderValue{"engine", "aoti", "aotinductor"}, OlderValue{"precision", "f32", "fp32"},
    OlderValue{"precision", "f16", "fp16"},      OlderValue{"precision", "float32", "fp32"},
    OlderValue{"precision", "float16", "fp16"},  OlderValue{"precision", "bfloat16", "bf16"},
};

struct CommandName {
  unsigned command;
  std::string_view name;
};
constexpr std::array kCommandNames{CommandName{kInfer, "infer"},   CommandName{kTrain, "train"},
                                   CommandName{kRun, "run"},       CommandName{kReport, "report"},
                                   CommandName{kComm, "comm"},     CommandName{kBuild, "build"},
                                   CommandName{kExport, "export"}, CommandName{kValidate, "validate"},
                                   CommandName{kSchema, "schema"}, CommandName{kTrain | kProfile, "profile"}};

bool serves(const OlderFlag& row, unsigned command) {
  return (row.command & (command == kRun ? kRunsCases : command)) != 0;
}

std::string in_code(std::string_view here) {
  const bool is_code = here.starts_with("--") || here.starts_with("paceline ");
  return is_code ? fmt::format("`{}`", here) : std::string(here);
}

// With code in backticks, as on the page: "`paceline infer --iterations N`" where the command is another.
std::string marked(const OlderFlag& row, std::string_view value, unsigned command) {
  std::string text = in_code(row.here);
  if (!serves(row, command) && text.starts_with("`--"))
    text.insert(1, fmt::format("paceline {} ", command_name(row.command)));
  if (const auto list = text.find("LIST"); list != std::string::npos) {
    const auto values = list_of_range(value);
    text.replace(list, 4, values.empty() ? "1,2,3,4" : values);
  }
  return text;
}

std::string plain(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  return text;
}

// Underscores and dashes are equal inside a flag.
bool same_flag(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return x == y || ((x == '-' || x == '_') && (y == '-' || y == '_'));
  });
}

// Rows of the flag for the command, else all of them, unless another command has an option of that name. A
// plan accepts what infer and train accept.
std::vector<const OlderFlag*> rows_of(std::string_view flag, unsigned command) {
  std::vector<const OlderFlag*> own, all;
  for (const auto& row : kFlags) {
    if (!same_flag(row.flag, flag)) continue;
    all.push_back(&row);
    if (serves(row, command)) own.push_back(&row);
  }
  if (own.empty() && !command_with(flag).empty()) return {};
  return own.empty() ? all : own;
}

std::string in_table(std::string_view text) {
  return join(split(text, '|'), "\\|");
}

}  // namespace

std::span<const OlderFlag> older_flags() {
  return kFlags;
}
std::span<const OlderCommand> older_commands() {
  return kOlderCommands;
}

std::string_view command_with(std::string_view flag) {
  const auto found = std::find_if(kCommandNames.begin(), kCommandNames.end(), [&](const CommandName& row) {
    return find_flag(flag, row.command) != nullptr;
  });
  return found == kCommandNames.end() ? std::string_view{} : found->name;
}

std::string_view command_name(unsigned command) {
  for (const auto& row : kCommandNames)
    if ((row.command & command) != 0) return row.name;
  return "";
}

std::string older_flag_message(std::string_view flag, std::string_view value, unsigned command) {
  struct Advice {
    std::string tools, here;
  };
  std::vector<Advice> found;
  for (const OlderFlag* row : rows_of(flag, command)) {
    auto here = plain(marked(*row, value, command));
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const Advice& a) { return a.here == here; });
    if (same == found.end())
      found.push_back({std::string(row->tool), std::move(here)});
    else
      same->tools += fmt::format(", {}", row->tool);
  }
  std::string text;
  for (const auto& [tools, here] : found)
    text += fmt::format("{} ({}); here: {}", text.empty() ? "unknown option" : "; or", tools, here);
  return text;
}

bool agrees_with_older_flag(std::string_view flag, std::string_view value, unsigned command) {
  return std::ranges::any_of(rows_of(flag, command), [&](const OlderFlag* row) {
    const auto values = split(row->agrees, ',');
    return serves(*row, command) && !value.empty() && std::ranges::find(values, value) != values.end();
  });
}

std::string_view older_value(std::string_view option, std::string_view value) {
  const auto row = std::find_if(kValues.begin(), kValues.end(), [&](const OlderValue& v) {
    return option.find(v.option) != std::string_view::npos && v.value == value;
  });
  return row == kValues.end() ? std::string_view{} : row->here;
}

std::string list_of_range(std::string_view text) {
  constexpr std::size_t kMost = 16;
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return "";
  const auto first = parse_int(parts[0]), last = parse_int(parts[1]);
  const auto step = parts.size() == 3 ? parse_int(parts[2]) : 1;
  if (!first || !last || !step || *step < 1 || *first > *last || *last > 1'000'000'000) return "";
  std::vector<std::string> values;
  for (auto value = *first; value <= *last && values.size() <= kMost; value += *step)
    values.push_back(std::to_string(value));
  return values.size() > kMost ? "" : join(values, ",");
}

std::string older_command_message(std::string_view name) {
  const auto row = std::find_if(kOlderCommands.begin(), kOlderCommands.end(),
                                [&](const OlderCommand& c) { return c.name == name; });
  return row == kOlderCommands.end() ? "" : plain(in_code(row->here));
}

std::string older_flags_markdown() {
  std::string text =
      "# Flags of other tools\n\nWritten by `paceline schema` from the table that the messages use. *As "
      "typed*: "
      "the flag of the other tool is taken, too. *Differs*: the flag is one of this tool, with another "
      "meaning.\n";
  std::string_view tool;
  for (const auto& row : kFlags) {
    if (row.tool != tool)
      text += fmt::format("\n## {}\n\n| typed there | | write here |\n|---|---|---|\n", row.tool);
    tool = row.tool;
    constexpr std::array<std::string_view, 3> kStandings{"", "as typed", "differs"};
    const auto taken = row.agrees.empty() ? std::string(kStandings[static_cast<std::size_t>(row.standing)])
                                          : fmt::format("{} as typed", row.agrees);
    text += fmt::format("| `{}` | {} | {} |\n", row.flag, taken, in_table(marked(row, "", 0)));
  }
  text += "\n## Commands\n\n| typed there | write here |\n|---|---|\n";
  for (const auto& row : kOlderCommands)
    text += fmt::format("| `paceline {}` | {} |\n", row.name, in_table(in_code(row.here)));
  text += "\n## Values\n\n| option | typed there | write here |\n|---|---|---|\n";
  for (const auto& row : kValues)
    text += fmt::format("| `--{}` | `{}` | {} |\n", row.option, row.value, row.here);
  return text;
}

}  // namespace paceline::config
