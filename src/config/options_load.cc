// SPDX-License-Identifier: MIT
#include <array>

#include "base/scenario.h"
#include "config/option_rows.h"

// Rows of how work arrives (docs/methodology.md, load scenarios).
namespace paceline::config {
namespace {

constexpr auto kScenarioNames = [] {
  std::array<Choice, kScenarios.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i].name = kScenarios[i].name;
  return choices;
}();
constexpr std::array<Choice, 2> kArrivals{{{"poisson"}, {"constant"}}};

constexpr std::array kLoadRows{
    Option{.name = "scenario",
           .type = kChoice,
           .fallback = "sync",
           .choices = kScenarioNames,
           .name_part = {20, "", kNotDefault},
           .help = "How requests arrive. sync: one at a time; closed_loop: a fixed number in flight; server: "
                   "by a schedule; offline: all at once."},
    Option{.name = "concurrency",
           .flags = "--infStreams,--streams",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 4096},
           .name_part = {23, "c"},
           .help = "Engine instances (lanes) per process that work in parallel (closed_loop, server, "
                   "offline). Unset: 1. With threads 0 they share the cores."},
    Option{.name = "instances",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 1024},
           .name_part = {21, "i"},
           .help = "Worker processes on one request queue, pinned to separate cores, each with `concurrency` "
                   "lanes (closed_loop, server, offline). Unset: 1, not pinned."},
    Option{.name = "gpus",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 256},
           .commands = kInfer,
           .name_part = {31, "g"},
           .excludes = "instances",
           .help = "Number of CUDA devices, with one process per device, on one request queue. 1,2,4 gives "
                   "the efficiency. Unset scenario: closed_loop."},
    Option{.name = "devices",
           .type = kInteger,
           .form = kList,
           .range = {0, 255},
           .excludes = "instances",
           .help = "CUDA devices to use, e.g. 0,2; a case with fewer gpus uses the first of them. Unset: the "
                   "first devices."},
    Option{.name = "instances_per_device",
           .type = kInteger,
           .range = {1, 1024},
           .needs = {{{"instances", "[1, 2]"}}},
           .help = "Instances per CUDA device with device: cuda, or processes per device with gpus. Unset: "
                   "1. With cuda:0 all instances share that device."},
    Option{.name = "threads_per_instance",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 4096},
           .name_part = {22, "ti"},
           .needs = {{{"instances", "[1, 2]"}}},
           .help = "Threads per lane of an instance. Unset: threads, or a share of the cores."},
    Option{.name = "arrival_rate_per_s",
           .flags = "--arrival-rate,--request-rate",
           .type = kNumber,
           .form = kAxis,
           .unit = "1/s",
           .range = {1e-3, 1e9},
           .name_part = {24, "rate"},
           .scenario = "server",
           .excludes = "server.load",
           .help = "Requests per second in the server scenario."},
    Option{.name = "server.load",
           .type = kNumber,
           .form = kAxis,
           .range = {1e-3, 10},
           .name_part = {25, "load"},
           .scenario = "server",
           .help = "Arrival rate as a share of the saturation rate, which each process measures first."},
    Option{.name = "server.arrival",
           .type = kChoiceOrFile,
           .fallback = "poisson",
           .choices = kArrivals,
           .scenario = "server",
           .help = "Gaps between arrivals. poisson: exponential; constant: equal; FILE: recorded times, at "
                   "their own rate or scaled to the one asked for."},
    aside({.name = "server.seed",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 9e15},
           .scenario = "server",
           .help = "Seed of the arrival schedule; repetition r adds r."}),
    aside({.name = "server.t_min_s",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .range = {0.1, 86'400},
           .scenario = "server",
           .at_most = "server.t_max_s",
           .help = "Shortest schedule; it is longer if p99 needs more requests. iterations sets their number "
                   "instead."}),
    aside({.name = "server.t_max_s",
           .type = kNumber,
           .fallback = "600",
           .unit = "s",
           .range = {0.1, 86'400},
           .scenario = "server",
           .help = "Longest schedule. The process may take timeout_s in addition."}),
    Option{.name = "server.timeout_s",
           .type = kNumber,
           .unit = "s",
           .range = {1e-6, 86'400},
           .scenario = "server",
           .help = "Longest wait of a request. After it the request is dropped and counts as infinitely "
                   "late. Unset: no limit."},
    Option{.name = "server.max_batch",
           .flags = "--max-batch",
           .type = kInteger,
           .form = kAxis,
           .unit = "requests",
           .range = {1, 1024},
           .name_part = {26, "mb"},
           .scenario = "server",
           .help = "Dynamic batching: largest number of waiting requests that one inference serves, of "
                   "`batch` inputs each. Unset: 1."},
    Option{.name = "server.batch_timeout_ms",
           .flags = "--batch-timeout-ms",
           .type = kNumber,
           .form = kAxis,
           .unit = "ms",
           .range = {0, 60'000},
           .name_part = {27, "bt"},
           .scenario = "server",
           .needs = {{{"server.max_batch", "[8]"}}},
           .help = "Longest wait of the first request of a batch for others to join. Unset: 0, only those "
                   "that already wait."},
    aside({.name = "server.max_requests",
           .type = kInteger,
           .fallback = "500000",
           .range = {1000, 1e9},
           .scenario = "server",
           .help = "Largest number of requests of a whole capacity search."}),
    aside({.name = "slo",
           .scenario = "server",
           .help = "Latency objective of a server, e.g. p99=50ms: met, missed or cannot say. Without "
                   "arrival_rate_per_s, server.load and a recorded schedule: finds the highest rate that "
                   "meets it."}),
};

}  // namespace

std::span<const Option> load_rows() {
  return kLoadRows;
}

}  // namespace paceline::config
