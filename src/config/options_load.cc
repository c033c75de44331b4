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
           .help = "Arrival of work: one at a time, a number in flight, a schedule, all at once."},
    Option{.name = "concurrency",
           .flags = "--infStreams,--streams",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 4096},
           .name_part = {23, "c"},
           .help = "Engine instances that work side by side (closed_loop, server, offline); unset: 1. With "
                   "threads 0 they share the cores."},
    Option{.name = "instances",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 1024},
           .name_part = {21, "i"},
           .help = "Worker processes that share one queue of requests, each pinned to cores of its own and "
                   "with `concurrency` lanes (closed_loop, server, offline); unset: 1, not pinned."},
    Option{.name = "gpus",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 256},
           .commands = kInfer,
           .name_part = {31, "g"},
           .excludes = "instances",
           .help = "Number of CUDA devices, with one process per device, near it; all share one queue. "
                   "Unset scenario: closed_loop; 1,2,4 shows the efficiency against one device."},
    Option{.name = "devices",
           .type = kInteger,
           .form = kList,
           .range = {0, 255},
           .excludes = "instances",
           .help = "Numbers of the CUDA devices to use, e.g. 0,2; unset: the first ones. A case of fewer "
                   "gpus takes the first of them."},
    Option{.name = "instances_per_device",
           .type = kInteger,
           .range = {1, 1024},
           .needs = {{{"instances", "[1, 2]"}}},
           .help = "With device: cuda: instance i runs on device i divided by this; unset: 1, a device each. "
                   "With device: cuda:0 all instances share that one. With gpus: processes per device."},
    Option{.name = "threads_per_instance",
           .type = kInteger,
           .form = kAxis,
           .range = {1, 4096},
           .name_part = {22, "ti"},
           .needs = {{{"instances", "[1, 2]"}}},
           .help = "Threads inside each lane of an instance; unset: threads, or a share of the cores."},
    Option{.name = "arrival_rate_per_s",
           .flags = "--arrival-rate,--request-rate",
           .type = kNumber,
           .form = kAxis,
           .unit = "1/s",
           .range = {1e-3, 1e9},
           .name_part = {24, "rate"},
           .scenario = "server",
           .excludes = "server.load",
           .help = "Requests a second in the server scenario."},
    Option{.name = "server.load",
           .type = kNumber,
           .form = kAxis,
           .range = {1e-3, 10},
           .name_part = {25, "load"},
           .scenario = "server",
           .help = "Arrivals as a share of the saturation rate, which each process measures first."},
    Option{.name = "server.arrival",
           .type = kChoice,
           .fallback = "poisson",
           .choices = kArrivals,
           .scenario = "server",
           .help = "Gaps between arrivals: exponential, or all alike."},
    aside({.name = "server.seed",
           .type = kInteger,
           .fallback = "0",
           .range = {0, 9e15},
           .scenario = "server",
           .help = "Seed of the schedule; repetition r adds r."}),
    aside({.name = "server.t_min_s",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .range = {0.1, 86'400},
           .scenario = "server",
           .at_most = "server.t_max_s",
           .help = "The schedule is at least so long, and longer where p99 needs it; iterations fixes its "
                   "requests."}),
    aside({.name = "server.t_max_s",
           .type = kNumber,
           .fallback = "600",
           .unit = "s",
           .range = {0.1, 86'400},
           .scenario = "server",
           .help = "The schedule is at most so long; timeout_s counts on top of it."}),
    Option{.name = "server.timeout_s",
           .type = kNumber,
           .unit = "s",
           .range = {1e-6, 86'400},
           .scenario = "server",
           .help = "A request that has waited longer is not served and counts as infinitely late; unset: "
                   "none is given up."},
    Option{.name = "server.max_batch",
           .flags = "--max-batch",
           .type = kInteger,
           .form = kAxis,
           .unit = "requests",
           .range = {1, 1024},
           .name_part = {26, "mb"},
           .scenario = "server",
           .help = "Dynamic batching: a free lane serves up to so many waiting requests in one inference, of "
                   "`batch` inputs each; unset: 1."},
    Option{.name = "server.batch_timeout_ms",
           .flags = "--batch-timeout-ms",
           .type = kNumber,
           .form = kAxis,
           .unit = "ms",
           .range = {0, 60'000},
           .name_part = {27, "bt"},
           .scenario = "server",
           .needs = {{{"server.max_batch", "[8]"}}},
           .help = "A batch that is not full starts when its first request has waited so long; unset: 0, "
                   "with those that are there."},
    aside({.name = "server.max_requests",
           .type = kInteger,
           .fallback = "500000",
           .range = {1000, 1e9},
           .scenario = "server",
           .help = "Largest number of requests of a capacity search."}),
    aside({.name = "slo",
           .scenario = "server",
           .help = "Latency objective of a server, pQ=DURATION, e.g. p99=50ms: met, missed, or cannot say. "
                   "Without arrival_rate_per_s and server.load: the highest rate that holds it."}),
};

}  // namespace

std::span<const Option> load_rows() {
  return kLoadRows;
}

}  // namespace paceline::config
