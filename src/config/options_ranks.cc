// SPDX-License-Identifier: MIT
#include <array>

#include "base/data_source.h"
#include "config/option_rows.h"

// Rows of training data, ranks, checkpoints and faults.
namespace paceline::config {
namespace {

constexpr auto kSources = choices_of(kDataSources);

constexpr std::array kDataRows{
    Option{.name = "data.source",
           .type = kChoice,
           .fallback = "synthetic",
           .choices = kSources,
           .help =
               "Training data: random numbers; CIFAR-100 (the published archive); a folder of JPEG and PNG "
               "files, a folder a class; a file of uint16 or uint32 tokens; arrays x and y in an .npz."},
    Option{.name = "data.path", .idle = {Idle::kNoFiles}, .help = "File or folder of the data."},
    Option{.name = "data.workers",
           .aliases = "data.num_workers",
           .type = kInteger,
           .fallback = "2",
           .unit = "threads",
           .range = {0, 1024},
           .train_flags = "--workers,--num-workers,-j",
           .idle = {Idle::kOneBatch},
           .help = "Threads a rank that make batches; 0: made in the step itself."},
    Option{.name = "data.prefetch",
           .aliases = "data.prefetch_factor",
           .type = kInteger,
           .fallback = "2",
           .unit = "batches",
           .range = {1, 1024},
           .idle = {Idle::kOneBatch, Idle::kNoWorkers},
           .help = "Batches that a worker may be ahead."},
    Option{.name = "data.synthetic_samples",
           .type = kInteger,
           .fallback = "50000",
           .unit = "samples",
           .range = {1, 1e12},
           .idle = {Idle::kNotSynthetic},
           .help = "Length of a synthetic epoch, of all ranks together."},
    Option{.name = "data.synthetic_fresh",
           .aliases = "data.fresh",
           .type = kBoolean,
           .fallback = "false",
           .idle = {Idle::kNotSynthetic},
           .help =
               "synthetic: the workers make every batch anew; false: one batch, already where it is needed."},
    Option{.name = "data.augment",
           .type = kBoolean,
           .fallback = "true",
           .idle = {Idle::kNotAugmented},
           .help = "Random crops and flips of images."},
    Option{.name = "data.shuffle",
           .type = kBoolean,
           .fallback = "true",
           .idle = {Idle::kOneBatch},
           .help = "A new order every epoch, by seed."},
    aside({.name = "eval.every_epochs",
           .type = kInteger,
           .fallback = "1",
           .unit = "epochs",
           .range = {0, 1e9},
           .idle = {Idle::kNotAugmented},
           .help =
               "Loss and accuracy on held-out data after every so many epochs, outside what is timed, "
               "where data.path has such data (CIFAR-100; an image folder with train and val); 0: never."}),
};

constexpr std::array kRankRows{
    Option{.name = "device",
           .fallback = "auto",
           .name_part = {12, "", kNotDefault},
           .help = "Where ranks run: cpu or cuda (rank by rank); auto: cuda where there is a device."},
    aside(
        {.name = "pin", .type = kBoolean, .fallback = "true", .help = "Pins each rank to cores of its own."}),
    aside({.name = "timeout_s",
           .type = kNumber,
           .fallback = "86400",
           .unit = "s",
           .range = {0.1, 604'800},
           .help = "Stops the ranks of a case after so long and records the case as failed; hanging ranks "
                   "are noticed after group_timeout_s."}),
    aside({.name = "group_timeout_s",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .range = {1, 86'400},
           .idle = {Idle::kNoGroup},
           .help = "A rank that does not answer in a collective for so long has failed."}),
    aside({.name = "rdzv_timeout_s",
           .flags = "--rdzv-timeout",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .range = {1, 86'400},
           .idle = {Idle::kNoGroup},
           .help = "Ranks that have not all come by then are named, and nothing is run."}),
    aside({.name = "max_restarts",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 1000},
           .needs = {{{"checkpoint.dir", "checkpoints"}}},
           .help = "How often the ranks are started again after a failure, from the last checkpoint."}),
    Option{.name = "inject",
           .type = kExpression,
           .idle = {Idle::kNoSuchRank},
           .help = "A fault on purpose: kill:rank=1,step=50, or stop, nan, slow=200ms, slow_save=5s, "
                   "throttle instead of kill."},
    aside({.name = "checkpoint.dir",
           .train_flags = "--checkpoint-dir",
           .help = "Folder of checkpoints; unset: none are written."}),
    Option{.name = "checkpoint.every_steps",
           .type = kInteger,
           .fallback = "0",
           .unit = "steps",
           .range = {0, 1e9},
           .needs = {{{"checkpoint.dir", "checkpoints"}}},
           .help = "A checkpoint after every so many steps; 0: at the end only."},
    aside({.name = "checkpoint.keep",
           .type = kInteger,
           .fallback = "2",
           .range = {1, 10'000},
           .idle = {Idle::kNoCheckpoints},
           .help = "The newest so many are kept."}),
    Option{.name = "checkpoint.async",
           .type = kBoolean,
           .fallback = "false",
           .needs = {{{"checkpoint.dir", "checkpoints", "true"}}},
           .help = "Training goes on while a checkpoint is written."},
    aside({.name = "checkpoint.resume",
           .type = kBoolean,
           .fallback = "false",
           .needs = {{{"checkpoint.dir", "checkpoints", "true"}}},
           .help = "Continues from the newest good checkpoint of checkpoint.dir."}),
    aside({.name = "checkpoint.timeout_s",
           .type = kNumber,
           .fallback = "600",
           .unit = "s",
           .range = {1, 86'400},
           .idle = {Idle::kNoCheckpoints},
           .help = "So long the other ranks wait for one that writes or reads a checkpoint."}),
    Option{.name = "nproc_per_node",
           .type = kInteger,
           .range = {1, 65'536},
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "torchrun's word: ranks on each host; the world is nnodes times this."},
    Option{.name = "nnodes",
           .type = kInteger,
           .fallback = "1",
           .range = {1, 65'536},
           .kinds = kCommandLine,
           .commands = kRun | kTrain,
           .help = "Hosts that run this command, each with its --node-rank."},
    Option{.name = "node_rank",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 65'535},
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
           .help = "Network interface of the ranks' traffic, or its address; unset: the one that leads to "
                   "the rendezvous."},
};

}  // namespace

std::span<const Option> data_rows() {
  return kDataRows;
}
std::span<const Option> rank_rows() {
  return kRankRows;
}

}  // namespace paceline::config
