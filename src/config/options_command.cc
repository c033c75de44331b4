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
           .help = "Folder of the runs under output_dir. Unset: name of the plan file, or of the command."},
    Option{.name = "output_dir",
           .aliases = "run.output_dir,run.save_dir",
           .flags = "-o",
           .fallback = "results",
           .written = true,
           .help = "Folder in which run directories are created."},
    Option{.name = "expect",
           .type = kExpression,
           .form = kList,
           .help = "Gate on a metric, e.g. 'p50_ms < 60': met, missed or cannot say, decided on the "
                   "interval. Repeat the flag for several."},
    Option{.name = "note",
           .aliases = "notes,run.notes",
           .type = kExpression,
           .form = kList,
           .help = "Line of text to keep with the results, and to show in reports. Repeat the flag for "
                   "several."},
    Option{.name = "plugin",
           .aliases = "plugins",
           .form = kList,
           .commands = kRunsCases | kSchema,
           .help = "Plug-in (.so) to load besides the installed ones. Repeat the flag for several."},
    Option{.name = "allow_noisy",
           .type = kBoolean,
           .fallback = "false",
           .help = "Never exits with 4 because of noise (a case of grade C). Default: gates on such a case "
                   "do, and --strict."},
    Option{.name = "strict",
           .type = kBoolean,
           .fallback = "false",
           .help = "Exits with 3 if an interval is too wide or outputs could not be checked, and with 4 for "
                   "a case of grade C."},
    Option{.name = "in_process",
           .type = kBoolean,
           .fallback = "false",
           .help = "Runs the plan's only case in the calling process, for a profiler or debugger in front. "
                   "Default: in worker processes."},
};

constexpr std::array kCommandRows{
    Option{.name = "config", .flags = "-c", .commands = kRun | kTrain, .help = "Plan file (YAML)."},
    Option{.name = "dry_run",
           .type = kBoolean,
           .fallback = "false",
           .help = "Lists the cases and the expected duration, and runs nothing."},
    Option{.name = "yes",
           .flags = "-y",
           .type = kBoolean,
           .fallback = "false",
           .help = "Runs a plan of more than 1000 cases, which is refused otherwise."},
    Option{.name = "resume", .help = "Run directory of an interrupted run to finish."},
    Option{.name = "trust",
           .type = kBoolean,
           .fallback = "false",
           .help = "Loads the code that a plan of somebody else names: plug-ins, libraries, programs. It is "
                   "refused otherwise, also with --resume."},
    Option{.name = "only",
           .form = kList,
           .help = "Runs only these cases: numbers or ranges from --dry-run (3, 1-10), or case ids, "
                   "separated by commas."},
    Option{.name = "fresh",
           .type = kBoolean,
           .fallback = "false",
           .commands = kRun | command_of(WorkloadKind::kInference),
           .help = "Makes inputs, references, calibrations and int8 files again instead of using those that "
                   "earlier runs kept in the cache folder."},
    Option{.name = "nccl_json",
           .commands = kRun | command_of(WorkloadKind::kCollective),
           .written = true,
           .help = "Also writes the collectives to this file, in the JSON format of nccl-tests."},
    Option{
        .name = "junit", .written = true, .help = "Also writes cases and gates as JUnit XML to this file."},
    Option{.name = "monitor",
           .type = kBoolean,
           .fallback = "false",
           .commands = kRuns,
           .help = "Records CPUs, GPUs, memory, network and disks during the run (monitor.jsonl), shows them "
                   "on a terminal and charts them in the report."},
    Option{.name = "source",
           .flags = "-s",
           .form = kList,
           .commands = kReport,
           .help = "Run directory, or folder of runs: the newest one counts, beside the newest profile. "
                   "Repeat the flag to show several side by side."},
    Option{.name = "format",
           .flags = "-f",
           .type = kChoice,
           .form = kList,
           .commands = kReport,
           .help = "Formats to write; the list is below."},
    Option{.name = "answer_format",
           .flags = "--format,-f",
           .type = kChoice,
           .form = kList,
           .commands = kValidate,
           .help = "Formats of the answer: text, html, markdown, json, junit, pdf."},
    Option{.name = "answer_format",
           .flags = "--format",
           .type = kChoice,
           .form = kList,
           .commands = kRuns,
           .help = "Formats of --dry-run, and of profile --from and --self-test: text, html, markdown, json, "
                   "junit, pdf. A run has its report."},
    Option{.name = "output",
           .flags = "-o,--out",
           .commands = kValidate,
           .written = true,
           .help = "File or folder for the answer; - is standard output. The ending of a file selects its "
                   "format. Unset: texts go to standard output, pages to validate.html."},
    Option{.name = "output",
           .flags = "-o,--out",
           .commands = kReport | kSchema,
           .written = true,
           .help = "File or folder to write; - is standard output. The ending of a file selects its format. "
                   "Unset: report writes beside the results, schema to standard output."},
    Option{.name = "output",
           .flags = "-o,--out,--saveEngine",
           .commands = kExport | kBuild,
           .written = true,
           .help = "File to write; required."},
    Option{.name = "duration",
           .flags = "-d",
           .fallback = "30s",
           .commands = kProfile,
           .help = "Time for which steps are measured, e.g. 500ms, 30s, 2m. --measure-steps sets their "
                   "number instead; a plan keeps its own length."},
    Option{.name = "target",
           .flags = "-t",
           .type = kChoice,
           .fallback = "all",
           .choices = kTargets,
           .commands = kProfile,
           .help = "Bottlenecks to list: sync_stalls (waiting for other ranks), input (waiting for data), "
                   "host, memory, or all, operators too."},
    Option{.name = "tool",
           .type = kChoice,
           .choices = kNsightTools,
           .commands = kProfile,
           .help = "Runs the case under NVIDIA's profiler and reports what it found. nsys: timeline of the "
                   "GPU and what it waits for; ncu: what limits each kernel."},
    Option{
        .name = "launch_count",
        .type = kInteger,
        .fallback = "40",
        .range = {1, 100'000},
        .commands = kProfile,
        .help = "Largest number of kernel launches that --tool ncu profiles; each is replayed for seconds."},
    Option{
        .name = "kernel_name",
        .commands = kProfile,
        .help = "Regular expression for names of the kernels that --tool ncu profiles. Unset: all kernels."},
    Option{.name = "sections",
           .flags = "--section",
           .form = kList,
           .commands = kProfile,
           .help = "Sections that --tool ncu collects, e.g. SpeedOfLight,Occupancy. Unset: ncu's full set."},
    Option{.name = "from",
           .commands = kProfile,
           .help = "Reads these profiles and runs nothing: a folder of PyTorch traces, one per rank; .csv or "
                   ".ncu-rep of Nsight Compute; .sqlite or .nsys-rep of Nsight Systems."},
    Option{.name = "kernels",
           .type = kBoolean,
           .fallback = "false",
           .commands = kProfile,
           .help = "With --from, for traces of a GPU: lists the kernels and copies that each operator "
                   "launched below it."},
    Option{.name = "self_test",
           .type = kBoolean,
           .fallback = "false",
           .commands = kProfile,
           .help = "Trains with one known fault after the other (slow rank, link, loader, CPU) and reports "
                   "which of them profile finds."},
    Option{.name = "what_if",
           .type = kExpression,
           .commands = kReport,
           .help = "Predicts the step time of a training with changes, separated by commas: link=2x, "
                   "bucket_cap_mb=50, comm_hook=fp16_compress, batch=64, stragglers=none, loader=fast."},
    Option{.name = "interval_s",
           .type = kNumber,
           .fallback = "1",
           .unit = "s",
           .range = {0.1, 3600},
           .commands = kMonitor,
           .help = "Time between readings."},
    Option{.name = "count",
           .type = kInteger,
           .fallback = "0",
           .range = {0},
           .commands = kMonitor,
           .help = "Number of readings. 0: until it is interrupted or q is pressed."},
    Option{.name = "serve",
           .commands = kMonitor,
           .help = "Serves a page with charts, and /metrics for Prometheus, at HOST:PORT. An address that "
                   "other machines can reach needs a token in PACELINE_MONITOR_TOKEN."},
    Option{.name = "record",
           .commands = kMonitor,
           .help = "Also writes every reading to this file, which must not exist yet."},
    Option{.name = "replay",
           .commands = kMonitor,
           .help = "Shows a recording instead of this machine: at its original pace on a terminal or page, "
                   "otherwise at once, as lines."},
    Option{.name = "save",
           .commands = kValidate,
           .written = true,
           .help = "Writes hardware, versions, limits and load figures of this machine to this file; with "
                   "--hosts, what most hosts have."},
    Option{.name = "expect_machine",
           .flags = "--expect",
           .commands = kValidate,
           .help = "Compares this machine with a file of --save and reports each difference."},
    Option{.name = "load",
           .commands = kValidate,
           .help = "Load test of this duration (20s, 2m): computes and copies on each core set and GPU, and "
                   "reports what is slower than its peers."},
    Option{.name = "hosts",
           .form = kList,
           .commands = kValidate,
           .help = "Validates these hosts over ssh (a,b), and reports differences and outliers. Slots, as in "
                   "a:2, are ignored."},
    Option{.name = "rsh",
           .fallback = "ssh -o BatchMode=yes -o ConnectTimeout=10",
           .commands = kValidate,
           .help = "Remote shell command. The host and the command to run there are appended."},
    Option{.name = "json",
           .type = kBoolean,
           .fallback = "false",
           .commands = kRuns | kValidate | kSchema | kExport | kBuild | kMonitor,
           .help = "Prints JSON on stdout, and text on stderr."},
    Option{.name = "quiet",
           .flags = "-q",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints only results and errors."},
    Option{.name = "verbose",
           .flags = "-v",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints each step of the work."},
    Option{.name = "no_color",
           .type = kBoolean,
           .fallback = "false",
           .commands = kAnyCommand,
           .help = "Prints without colours, as the NO_COLOR variable does."},
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
