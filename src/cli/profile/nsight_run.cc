// SPDX-License-Identifier: MIT
#include "cli/profile/nsight_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "analysis/case_query.h"
#include "answer/render/answer_forms.h"
#include "answer/text_layout.h"
#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "cli/profile/nsight_profile.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "process/tool_process.h"
#include "result/stored/result_json.h"
#include "run/case/kind_rules.h"
#include "run/checks/machine_checks.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using nsight::Tool;

// An option that --tool decides itself, and why it cannot be chosen.
struct Refused {
  std::string_view option, why;
};
constexpr std::array kRefused{
    Refused{"from", "it reads what was recorded, and --tool records"},
    Refused{"self_test", "it judges Paceline's own findings, not those of a tool"},
    Refused{"target", "it chooses among findings of PyTorch's profiler; the tool's are printed whole"},
    Refused{"duration", "a profile has few iterations; write --iterations, and in training --measure-steps"},
    Refused{"in_process", "--tool starts the process that is timed; put the tool in front by hand instead"},
    Refused{"resume", "a profile is quickly made again"},
    Refused{"profiling.enabled", "PyTorch's profiler and the tool cannot use CUPTI at the same time"},
    Refused{"profiling.tool", "--tool is the profiler"},
    Refused{"layer_profile", "an engine's profiler and the tool cannot use CUPTI at the same time"},
    Refused{"cross_check", "the tool watches one process"}};

// Values of options where the user wrote none: {of ncu, of nsys}. Each kernel takes ncu seconds.
struct Given {
  std::string_view option, systems, compute;
};
constexpr std::array kOfBoth{Given{"repetitions", "1", "1"}, Given{"allow_noisy", "true", "true"},
                             Given{"idle_wait_s", "0", "0"}};
constexpr std::array kOfInference{Given{"accuracy.check", "off", "off"},
                                  Given{"measure_peak", "false", "false"},
                                  Given{"warmup_iterations", "10", "3"}, Given{"iterations", "20", "2"}};
// The number of steps counts where a plan has a time.
constexpr std::array kOfTrainingPlans{Given{"benchmark.measure_by", "steps", "steps"}};
constexpr std::array kOfTraining{Given{"benchmark.warmup_steps", "5", "3"},
                                 Given{"benchmark.measure_steps", "10", "2"}};

void give(config::FlagSet& flags, std::span<const Given> all, Tool tool) {
  for (const auto& given : all) {
    if (flags.has(given.option)) continue;
    config::RawSetting setting;
    setting.name = setting.written = given.option;
    setting.on_command_line = true;
    setting.values = {
        {std::string(tool == Tool::kSystems ? given.systems : given.compute), setting.place, false}};
    flags.settings.push_back(std::move(setting));
  }
}

std::string device_of(const config::Case& c, const run::EngineDirectory& engines) {
  const auto device = c.settings.has("device") ? c.settings.text("device") : "cpu";
  return device == "auto" ? run::kind_rules(c.kind).auto_device(engines) : device;
}

[[noreturn]] void absent(const nsight::ToolTraits& tool, const std::string& command_line) {
  throw Error(
      ErrorCode::kUnavailable,
      fmt::format(
          "--tool {}: {} is neither on the PATH nor below CUDA_HOME; where it is, type: {}; then bring "
          "{} here, which that command writes into its run directory, and type: paceline profile "
          "--from {}",
          tool.program, tool.program, on_one_line(command_line), tool.table, tool.table));
}

constexpr std::size_t kTail = 500;  // of what a program said

// Lines in which a tool says what went wrong, else its last ones.
std::string last_error_of(const fs::path& log) {
  constexpr std::size_t kRead = 8000;
  std::string said;
  for (const auto& line : split(file_tail(log, kRead), '\n'))
    if (line.find("ERR") != std::string::npos || line.find("rror") != std::string::npos ||
        line.starts_with("==WARNING=="))
      said += (said.empty() ? "" : " / ") + line;
  return on_one_line(said.empty() ? file_tail(log, kTail) : said.substr(0, kTail));
}

}  // namespace

config::FlagSet with_tool(config::FlagSet flags) {
  const auto tool = nsight::tool_named(config::command_settings(flags).text("tool"));
  const auto& traits = nsight::traits_of(tool);
  for (const auto& [option, why] : kRefused)
    for (const auto& setting : flags.settings)
      if (setting.name == option)
        throw Error(ErrorCode::kUsage, fmt::format("{} beside --tool {}: {}; leave one of them out",
                                                   setting.written, traits.program, why));
  for (const char* option : {"launch_count", "kernel_name", "sections"})
    for (const auto& setting : flags.settings)
      if (setting.name == option && tool != Tool::kCompute)
        throw Error(ErrorCode::kUsage, fmt::format("{} is for --tool ncu; {} records every kernel",
                                                   setting.written, traits.program));
  give(flags, kOfBoth, tool);
  const bool planned = flags.has("config") || !flags.positionals.empty();
  if (!planned && (flags.command & config::kInfer) != 0) give(flags, kOfInference, tool);
  if ((flags.command & config::kTrain) != 0 && !flags.has("benchmark.measure_seconds"))
    give(flags, kOfTraining, tool), planned ? give(flags, kOfTrainingPlans, tool) : void();
  return flags;
}

void check_tool(const config::Settings& options, const std::vector<config::Case>& cases,
                const run::EngineDirectory& engines) {
  if (!options.has("tool")) return;
  const auto& program = options.text("tool");
  const auto refuse = [&](const config::Case& c, std::string_view why) {
    throw Error(ErrorCode::kUsage, fmt::format("--tool {}: {}: {}", program, c.label, why));
  };
  for (const auto& c : cases) {
    const auto number = [&](std::string_view name) {
      return c.settings.has(name) ? c.settings.integer(name) : 1;
    };
    if (number("repetitions") > 1) refuse(c, "one repetition is profiled; leave --repetitions out");
    if (number("instances") > 1 || c.settings.has("gpus"))
      refuse(c, "it watches one process; leave --instances and --gpus out");
    if (program != "ncu") continue;
    if (number("ranks") > 1)
      refuse(c,
             "ncu runs each kernel again and again, and one of NCCL waits for ever for ranks that do not; "
             "--ranks 1 counts its kernels, and --tool nsys shows all ranks of an exchange");
    if (is_cpu(device_of(c, engines)))
      refuse(
          c,
          "ncu counts inside kernels of a GPU, and this runs on the CPU; --device cuda where there is one");
  }
}

NsightRun::NsightRun(const config::Settings& options, const std::string& command_line) {
  request_.tool = nsight::tool_named(options.text("tool"));
  const auto& tool = nsight::traits_of(request_.tool);
  request_.kernels = {options.integer("launch_count"),
                      options.has("kernel_name") ? options.text("kernel_name") : "",
                      options.texts("sections")};
  request_.program = run::find_nsight(std::string(tool.program));
  if (request_.program.empty()) absent(tool, command_line);
  const auto scratch = ScratchFolder::below_temp("nsight");
  std::vector<std::string> ask{request_.program.string(), "--help"};
  if (request_.tool == Tool::kSystems) ask.insert(ask.begin() + 1, "profile");
  const auto log = scratch.path() / "log";
  const auto problem = process::run_tool({ask, {{"LC_ALL", "C"}}, log, {}}, InterruptGuard::flag());
  const auto unknown = nsight::unknown_flags(request_.tool, read_file(log));
  if (!unknown.empty() && !problem.empty())
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("--tool {}: {} does not say what it knows, and ended with {}: {}", tool.program,
                    shown_path(request_.program.string()), problem, on_one_line(file_tail(log, kTail))));
  if (!unknown.empty())
    throw Error(ErrorCode::kUnavailable,
                fmt::format("--tool {}: {} does not know {}; it is too old: install a newer {}", tool.program,
                            shown_path(request_.program.string()), join(unknown, ", "), tool.name));
}

nsight::ToolRequest NsightRun::request_in(const fs::path& folder) const {
  auto request = request_;
  request.folder = fs::absolute(folder);
  return request;
}

process::Front NsightRun::front_of(const process::WorkerRequest& request) {
  const auto& spec = request.spec;
  const bool by_ranks = pass::traits_of(spec.kind).by_ranks;
  const auto device = spec.settings.options.find("device");
  const bool on_gpu = is_cuda(by_ranks                                ? spec.ranks.device
                              : device == spec.settings.options.end() ? "cpu"
                                                                      : device->second);
  const auto folder = request.log.parent_path();
  watched_.push_back({spec.case_id, folder, request.log, on_gpu,
                      by_ranks && spec.world_size > 1 && spec.ranks.backend == "nccl"});
  auto tool = request_in(folder);
  tool.waits = on_gpu;
  process::Front front{nsight::in_front(tool),
                       {{"PACELINE_PROFILER", std::string(nsight::traits_of(tool.tool).program)}}};
  if (on_gpu) front.env["PACELINE_CAPTURE"] = "cuda";
  return front;
}

void NsightRun::read_one(const Watched& one, std::size_t width) {
  const auto& tool = nsight::traits_of(request_.tool);
  const auto request = request_in(one.folder);
  const auto report = one.folder / tool.report, table = one.folder / tool.table;
  const auto name = shown_path(report.string());
  std::error_code error;
  if (!fs::is_regular_file(report, error) || fs::file_size(report, error) == 0)
    throw Error(ErrorCode::kData, fmt::format("{}: {} wrote no report; it says: {}", name, tool.program,
                                              last_error_of(one.log)));
  const auto log = one.folder / fmt::format("{}_export.txt", tool.program);
  const auto output = output_of_tool(nsight::exporting(request), log, name);
  text_ += fmt::format("\n{} saw of {}:\n", tool.name, one.case_id);
  if (!one.on_gpu) {
    text_ += fmt::format("nothing of a GPU: the case ran on the CPU; nsys-ui {} shows its threads\n", name);
    return;
  }
  const bool systems = request_.tool == Tool::kSystems;
  if (systems)
    require_export(table, name, output);
  else
    replace_file(table, output);
  const auto study = systems ? study_of_nsys(table, table.string()) : study_of_ncu(output, table.string());
  replace_file(one.folder / fmt::format("{}.json", tool.program),
               result::json_text(answer::json_of(study.answer)));
  text_ += answer::terminal_of(study.answer, {.width = width}) + fmt::format("{}  {}\n", tool.program, name);
  if (one.nccl && systems) require_nccl(study, name);
}

void NsightRun::collect(const result::RunResult& run, const Console& console) {
  for (const auto& c : run.cases) {
    const auto one = std::ranges::find(watched_, c.case_id, &Watched::case_id);
    if (one == watched_.end() || !analysis::is_ok(c)) continue;
    try {
      read_one(*one, console.width);
    } catch (const Error&) {
      if (!problem_) problem_ = std::current_exception();
    }
  }
}

void NsightRun::tell(const Console& console) const {
  print(console.text(), for_terminal(console.ascii ? answer::to_ascii(text_) : text_));
  if (problem_) std::rethrow_exception(problem_);
}

}  // namespace paceline::cli
