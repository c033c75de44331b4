// SPDX-License-Identifier: MIT
// Rows of the plan as a whole and of command lines.
#include <array>

#include "config/option_rows.h"

namespace paceline::config {
namespace {

constexpr unsigned kRuns = kRunsCases;
constexpr std::array<Choice, 5> kTargets{{{"all"}, {"sync_stalls"}, {"input"}, {"host"}, {"memory"}}};

constexpr std::array<Choice, 2> kNsightTools{{{"nsys"}, {"ncu"}}};

constexpr std::array kPlanRows{
    Option{.name = "experiment_name",
           .aliases = "run.experiment_name,run.name",
           .help = "Name of the folder under output_dir; unset: the file's stem."},
    Option{.name = "output_dir",
           .aliases = "run.output_dir,run.save_dir",
           .flags = "-o",
           .fallback = "results",
           .written = true,
           .help = "Where run directories are made."},
    Option{.name = "expect",
           .type = kExpression,
           .form = kList,
           .help = "Gates on metrics, e.g. 'p50_ms < 60'; decided on the interval: met, missed, cannot say "
                   "(repeat the flag for several)."},
    Option{.name = "plugin",
           .aliases = "plugins",
           .form = kList,
           .commands = kRunsCases | kSchema,
           .help = "Plug-ins (.so) to load besides the installed ones (repeat the flag for several)."},
    Option{.name = "allow_noisy",
           .type = kBoolean,
           .fallback = "false",
           .help = "Exits with 0 instead of 4 for cases of grade C."},
    Option{.name = "strict",
           .type = kBoolean,
           .fallback = "false",
           .help = "Exits with 3 if an interval is not as narrow as asked or outputs could not be checked, "
                   "with 4 for a "
                   "case of grade C."},
    Option{.name = "in_process",
           .type = kBoolean,
           .fallback = "false",
           .help = "Runs a single case in the calling process, for a profiler or debugger in front."},
};

constexpr std::array kCommandRows{
    Option{.name = "config", .flags = "-c", .commands = kRun | kTrain, .help = "The plan file."},
    Option{.name = "dry_run",
           .type = kBoolean,
           .fallback = "false",
           .help = "Lists the cases and an estimate of the time; runs nothing."},
    Option{.name = "yes",
           .flags = "-y",
           .type = kBoolean,
           .fallback = "false",
           .help = "Answers yes to questions about large plans."},
    Option{.name = "resume", .help = "Finishes the run in this directory."},
    Option{.name = "only",
           .form = kList,
           .help = "Runs these cases alone: numbers from --dry-run, ranges of them (1-10), or case ids; a "
                   "list or a flag for each."},
    Option{.name = "nccl_json",
           .commands = kRun | command_of(WorkloadKind::kCollective),
           .written = true,
           .help = "Also writes collectives to this file in the JSON of nccl-tests."},
    Option{
        .name = "junit", .written = true, .help = "Also writes cases and gates as JUnit XML to this file."},
    Option{.name = "monitor",
           .type = kBoolean,
           .fallback = "false",
           .commands = kRuns,
           .help =
               "Watches this machine beside the run, as paceline monitor does: on a terminal below the line "
               "of the run, and in the report as charts. The readings are monitor.jsonl of the run."},
    Option{.name = "source",
           .flags = "-s",
           .form = kList,
           .commands = kReport,
           .help = "A run directory, or the folder that a benchmark and profile both wrote into; repeat the "
                   "flag for several "
                   "runs side by side."},
    Option{.name = "format",
           .flags = "-f",
           .type = kChoice,
           .form = kList,
           .commands = kReport,
           .help = "What to write."},
    Option{
        .name = "output",
        .flags = "-o,--out,--saveEngine",
        .commands = kReport | kSchema | kExport | kBuild,
        .written = true,
        .help =
            "File or folder to write; - is standard output. Unset: beside the results, or standard output."},
    Option{
        .name = "duration",
        .flags = "-d",
        .fallback = "30s",
        .commands = kProfile,
        .help =
            "How long steps are timed: 30s, 2m, 500ms; benchmark.measure_steps sets their number instead."},
    Option{.name = "target",
           .flags = "-t",
           .type = kChoice,
           .fallback = "all",
           .choices = kTargets,
           .commands = kProfile,
           .help = "Which bottlenecks are listed: waiting of ranks for each other, for data, for the host, "
                   "memory and operators, or all."},
    Option{.name = "tool",
           .type = kChoice,
           .choices = kNsightTools,
           .commands = kProfile,
           .help = "Times the case under a profiler of NVIDIA and reads back what it wrote: nsys (Nsight "
                   "Systems: timeline of the GPU, and what it waits for) or ncu (Nsight Compute: what limits "
                   "each kernel)."},
    Option{.name = "launch_count",
           .type = kInteger,
           .fallback = "40",
           .range = {1, 100'000},
           .commands = kProfile,
           .help = "Kernels that --tool ncu counts at most; each runs again and again, for seconds."},
    Option{.name = "kernel_name",
           .commands = kProfile,
           .help = "Kernels that --tool ncu counts: those whose names match this regular expression."},
    Option{.name = "sections",
           .flags = "--section",
           .form = kList,
           .commands = kProfile,
           .help = "What --tool ncu counts, by ncu's names of sections (SpeedOfLight,Occupancy); unset: its "
                   "full set."},
    Option{
        .name = "from",
        .commands = kProfile,
        .help =
            "Runs nothing and reads this instead: a folder of traces of PyTorch's profiler, one per rank; a "
            ".csv or .ncu-rep of Nsight Compute; a .sqlite or .nsys-rep of Nsight Systems."},
    Option{.name = "kernels",
           .type = kBoolean,
           .fallback = "false",
           .commands = kProfile,
           .help = "With --from, for traces of a GPU: below each operator the kernels and copies that it "
                   "launched."},
    Option{
        .name = "self_test",
        .type = kBoolean,
        .fallback = "false",
        .commands = kProfile,
        .help =
            "Slows down a rank, a link, a loader and a rank's CPU on purpose, one after the other, and says "
            "which of them profile names."},
    Option{.name = "what_if",
           .type = kExpression,
           .commands = kReport,
           .help =
               "What a step of training would take with link=2x, bucket_cap_mb=50, comm_hook=fp16_compress, "
               "batch=64, stragglers=none, loader=fast: one of them, or several with commas."},
    Option{.name = "interval_s",
           .type = kNumber,
           .fallback = "1",
           .unit = "s",
           .range = {0.1, 3600},
           .commands = kMonitor,
           .help = "Time between two readings."},
    Option{.name = "count",
           .type = kInteger,
           .fallback = "0",
           .range = {0},
           .commands = kMonitor,
           .help = "Number of readings; 0: until it is interrupted, or q is typed."},
    Option{.name = "serve",
           .commands = kMonitor,
           .help =
               "Serves a page with charts, and /metrics for Prometheus, at HOST:PORT. An address that other "
               "machines can reach needs a token in the variable PACELINE_MONITOR_TOKEN."},
    Option{.name = "record", .commands = kMonitor, .help = "Also writes every reading to this new file."},
    Option{.name = "replay",
           .commands = kMonitor,
           .help = "Shows such a file instead of this machine: at the pace of the recording on a terminal or "
                   "a page, at "
                   "once as lines."},
    Option{.name = "save",
           .commands = kValidate,
           .written = true,
           .help =
               "Writes what this machine is (hardware, versions, limits, load figures) to this file; with "
               "--hosts, what most of them have."},
    Option{.name = "expect_machine",
           .flags = "--expect",
           .commands = kValidate,
           .help = "Compares with such a file and names each difference."},
    Option{.name = "load",
           .commands = kValidate,
           .help =
               "Load test: computes and copies on each core set and GPU for this time (20s, 2m), and names "
               "what is slower than its peers."},
    Option{.name = "hosts",
           .form = kList,
           .commands = kValidate,
           .help = "Validates these hosts over ssh (a,b; slots as in a:2 change nothing), shows what differs "
                   "between them, and names outliers."},
    Option{.name = "rsh",
           .fallback = "ssh -o BatchMode=yes -o ConnectTimeout=10",
           .commands = kValidate,
           .help = "Remote shell command. The host and the command to run there follow it."},
    Option{.name = "json",
           .type = kBoolean,
           .fallback = "false",
           .commands = kRuns | kValidate | kSchema | kExport | kBuild | kMonitor,
           .help = "Machine-readable output on stdout, text on stderr."},
    Option{.name = "quiet",
           .flags = "-q",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints results and errors only."},
    Option{.name = "verbose",
           .flags = "-v",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints what is done, step by step."},
    Option{.name = "no_color",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Plain text (the NO_COLOR variable does the same)."},
    Option{.name = "help",
           .flags = "-h",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints this text."},
};

}  // namespace

std::span<const Option> plan_rows() {
  return kPlanRows;
}
std::span<const Option> command_rows() {
  return kCommandRows;
}

}  // namespace paceline::config
