// SPDX-License-Identifier: MIT
#include <array>

#include "base/data_source.h"
#include "config/option_rows.h"

// What ranks train on, where they run, and what happens when one fails.
namespace paceline::config {
namespace {

using enum OptionType;
using enum OptionForm;

constexpr auto kSources = choices_of(kDataSources);

constexpr std::array kDataRows{
    Option{.name = "data.source",
           .type = kChoice,
           .fallback = "synthetic",
           .choices = kSources,
           .kinds = kTraining,
           .help =
               "Training data: random numbers; CIFAR-100 (the published archive); a folder of JPEG and "
               "PNG files, a folder a class; a file of uint16 or uint32 tokens; arrays x and y in an .npz."},
    Option{.name = "data.path", .kinds = kTraining, .help = "File or folder of the data."},
    Option{.name = "data.workers",
           .aliases = "data.num_workers",
           .type = kInteger,
           .fallback = "2",
           .unit = "threads",
           .min = 0,
           .max = 1024,
           .kinds = kTraining,
           .train_flags = "--workers,--num-workers",
           .help = "Threads a rank that make batches; 0: made in the step itself."},
    Option{.name = "data.prefetch",
           .aliases = "data.prefetch_factor",
           .type = kInteger,
           .fallback = "2",
           .unit = "batches",
           .min = 1,
           .max = 1024,
           .kinds = kTraining,
           .help = "Batches that a worker may be ahead."},
    Option{.name = "data.synthetic_samples",
           .type = kInteger,
           .fallback = "50000",
           .unit = "samples",
           .min = 1,
           .max = 1e12,
           .kinds = kTraining,
           .help = "Length of a synthetic epoch, of all ranks together."},
    Option{.name = "data.synthetic_fresh",
           .aliases = "data.fresh",
           .type = kBoolean,
           .fallback = "false",
           .kinds = kTraining,
           .help =
               "synthetic: the workers make every batch anew; false: one batch, already where it is needed."},
    Option{.name = "data.augment",
           .type = kBoolean,
           .fallback = "true",
           .kinds = kTraining,
           .help = "Random crops and flips of images."},
    Option{.name = "data.shuffle",
           .type = kBoolean,
           .fallback = "true",
           .kinds = kTraining,
           .help = "A new order every epoch, by seed."},
};

constexpr std::array kRankRows{
    Option{.name = "device",
           .fallback = "auto",
           .kinds = kTraining,
           .help = "Where ranks run: cpu or cuda (rank by rank); auto: cuda where there is a device."},
    Option{.name = "pin",
           .type = kBoolean,
           .fallback = "true",
           .kinds = kTraining,
           .help = "Pins each rank to cores of its own."},
    Option{.name = "timeout_s",
           .type = kNumber,
           .fallback = "86400",
           .unit = "s",
           .min = 0.1,
           .max = 604'800,
           .kinds = kTraining,
           .help =
               "Stops the ranks of a case after so long and records the case as failed; hanging ranks are "
               "noticed after group_timeout_s."},
    Option{.name = "group_timeout_s",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .min = 1,
           .max = 86'400,
           .kinds = kTraining,
           .help = "A rank that does not answer in a collective for so long has failed."},
    Option{.name = "rdzv_timeout_s",
           .flags = "--rdzv-timeout",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .min = 1,
           .max = 86'400,
           .kinds = kTraining,
           .help = "Ranks that have not all come by then are named, and nothing is run."},
    Option{.name = "max_restarts",
           .type = kInteger,
           .fallback = "0",
           .min = 0,
           .max = 1000,
           .kinds = kTraining,
           .help = "How often the ranks are started again after a failure, from the last checkpoint."},
    Option{
        .name = "inject",
        .type = kExpression,
        .kinds = kTraining,
        .help =
            "A fault on purpose: kill:rank=1,step=50, or stop, nan, slow=200ms, slow_save=5s, "
            "throttle instead of kill."},
    Option{.name = "checkpoint.dir",
           .kinds = kTraining,
           .train_flags = "--checkpoint-dir",
           .help = "Folder of checkpoints; unset: none are written."},
    Option{.name = "checkpoint.every_steps",
           .type = kInteger,
           .fallback = "0",
           .unit = "steps",
           .min = 0,
           .max = 1e9,
           .kinds = kTraining,
           .help = "A checkpoint after every so many steps; 0: at the end only."},
    Option{.name = "checkpoint.keep",
           .type = kInteger,
           .fallback = "2",
           .min = 1,
           .max = 10'000,
           .kinds = kTraining,
           .help = "The newest so many are kept."},
    Option{.name = "checkpoint.async",
           .type = kBoolean,
           .fallback = "false",
           .kinds = kTraining,
           .help = "Training goes on while a checkpoint is written."},
    Option{.name = "checkpoint.resume",
           .type = kBoolean,
           .fallback = "false",
           .kinds = kTraining,
           .help = "Continues from the newest good checkpoint of checkpoint.dir."},
    Option{.name = "checkpoint.timeout_s",
           .type = kNumber,
           .fallback = "600",
           .unit = "s",
           .min = 1,
           .max = 86'400,
           .kinds = kTraining,
           .help = "So long the other ranks wait for one that writes or reads a checkpoint."},
    Option{.name = "nproc_per_node",
           .type = kInteger,
           .min = 1,
           .max = 65'536,
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "torchrun's word: ranks on each host; the world is nnodes times this."},
    Option{.name = "nnodes",
           .type = kInteger,
           .fallback = "1",
           .min = 1,
           .max = 65'536,
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "Hosts that run this command, each with its --node-rank."},
    Option{.name = "node_rank",
           .type = kInteger,
           .fallback = "0",
           .min = 0,
           .max = 65'535,
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "Which of them this is; 0 writes the results."},
    Option{.name = "rdzv_endpoint",
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "HOST:PORT of host 0, where the ranks meet; needed with nnodes above 1."},
    Option{.name = "interface",
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help =
               "Network interface of the ranks' traffic, or its address; unset: the one that leads to the "
               "rendezvous."},
};

}  // namespace

std::span<const Option> data_rows() {
  return kDataRows;
}
std::span<const Option> rank_rows() {
  return kRankRows;
}

}  // namespace paceline::config
