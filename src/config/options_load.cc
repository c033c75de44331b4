// SPDX-License-Identifier: MIT
#include <array>

#include "config/option_rows.h"

// Rows of how work arrives (docs/methodology.md, load scenarios).
namespace paceline::config {
namespace {

using enum OptionType;
using enum OptionForm;

constexpr std::array<Choice, 4> kScenarios{{{"sync"}, {"closed_loop"}, {"server"}, {"offline"}}};
constexpr std::array<Choice, 2> kArrivals{{{"poisson"}, {"constant"}}};

constexpr std::array kLoadRows{
    Option{.name = "scenario",
           .type = kChoice,
           .fallback = "sync",
           .choices = kScenarios,
           .help = "Arrival of work: one at a time, a number in flight, a schedule, all at once."},
    Option{.name = "concurrency",
           .flags = "--infStreams,--streams",
           .type = kInteger,
           .form = kAxis,
           .min = 1,
           .max = 4096,
           .help = "Engine instances that work side by side (closed_loop, server, offline); unset: 1. With "
                   "threads 0 "
                   "they share the cores."},
    Option{.name = "instances",
           .type = kInteger,
           .form = kAxis,
           .min = 1,
           .max = 1024,
           .help =
               "Worker processes that share one queue of requests, each pinned to cores of its own and with "
               "`concurrency` lanes (closed_loop, server, offline); unset: 1, not pinned."},
    Option{.name = "instances_per_device",
           .type = kInteger,
           .min = 1,
           .max = 1024,
           .help = "With device: cuda: instance i runs on device i divided by this; unset: 1, a device each. "
                   "With device: cuda:0 all instances share that one."},
    Option{.name = "threads_per_instance",
           .type = kInteger,
           .form = kAxis,
           .min = 1,
           .max = 4096,
           .help = "Threads inside each lane of an instance; unset: threads, or a share of the cores."},
    Option{.name = "arrival_rate_per_s",
           .flags = "--arrival-rate,--request-rate",
           .type = kNumber,
           .form = kAxis,
           .unit = "1/s",
           .min = 1e-3,
           .max = 1e9,
           .help = "Requests a second in the server scenario."},
    Option{.name = "server.load",
           .type = kNumber,
           .form = kAxis,
           .min = 1e-3,
           .max = 10,
           .help = "Arrivals as a share of the saturation rate, which each process measures first."},
    Option{.name = "server.arrival",
           .type = kChoice,
           .fallback = "poisson",
           .choices = kArrivals,
           .help = "Gaps between arrivals: exponential, or all alike."},
    Option{.name = "server.seed",
           .type = kInteger,
           .fallback = "0",
           .min = 0,
           .max = 9e15,
           .help = "Seed of the schedule; repetition r adds r."},
    Option{.name = "server.t_min_s",
           .type = kNumber,
           .fallback = "60",
           .unit = "s",
           .min = 0.1,
           .max = 86'400,
           .help = "The schedule is at least so long, and longer where p99 needs it; iterations fixes its "
                   "requests."},
    Option{.name = "server.t_max_s",
           .type = kNumber,
           .fallback = "600",
           .unit = "s",
           .min = 0.1,
           .max = 86'400,
           .help = "The schedule is at most so long; timeout_s counts on top of it."},
    Option{.name = "server.timeout_s",
           .type = kNumber,
           .unit = "s",
           .min = 1e-6,
           .max = 86'400,
           .help = "A request that has waited longer is not served and counts as infinitely late; unset: "
                   "none is given "
                   "up."},
    Option{.name = "server.max_batch",
           .flags = "--max-batch",
           .type = kInteger,
           .form = kAxis,
           .unit = "requests",
           .min = 1,
           .max = 1024,
           .help = "Dynamic batching: a free lane serves up to so many waiting requests in one inference, of "
                   "`batch` inputs each; unset: 1."},
    Option{.name = "server.batch_timeout_ms",
           .flags = "--batch-timeout-ms",
           .type = kNumber,
           .form = kAxis,
           .unit = "ms",
           .min = 0,
           .max = 60'000,
           .help =
               "A batch that is not full starts when its first request has waited so long; unset: 0, with "
               "those that are there."},
    Option{.name = "server.max_requests",
           .type = kInteger,
           .fallback = "500000",
           .min = 1000,
           .max = 1e9,
           .help = "A search for the capacity issues at most so many requests."},
    Option{
        .name = "slo",
        .help =
            "Latency objective of a server, pQ=DURATION, e.g. p99=50ms: met, missed, or cannot say. Without "
            "arrival_rate_per_s and server.load: the highest rate that holds it."},
};

}  // namespace

std::span<const Option> load_rows() {
  return kLoadRows;
}

}  // namespace paceline::config
