// SPDX-License-Identifier: MIT
// Checks which options of an inference workload contradict each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/arrival_file.h"
#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/lower_case.h"
#include "base/near_file.h"
#include "base/reading.h"
#include "base/seconds.h"
#include "base/units.h"
#include "config/inference/arrivals.h"
#include "config/inference/inference_in_plan.h"
#include "config/inference/slo.h"
#include "config/new_shapes.h"
#include "config/option_table.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// How long other scenarios measure; a server only uses these to find its saturation.
constexpr std::array<std::string_view, 2> kNotOfServers{"stop.t_min_s", "stop.t_max_s"};
constexpr const char* kNewShapes = "new_shapes";

// Typed together they contradict each other; a stored plan holds both.
void check_iterations(WorkloadDraft& d) {
  const auto *fixed = d.written("iterations"), *least = d.written("stop.t_min_s");
  if (fixed && least && fixed->on_command_line && least->on_command_line)
    d.report("iterations", fmt::format("'{}' fixes the number of samples, so '{}' would do nothing; keep one",
                                       fixed->written, least->written));
}

void check_warmup(WorkloadDraft& d) {
  if (d.written("warmup.mode") && d.written("warmup_iterations") && d.is("warmup.mode", "auto"))
    d.report("warmup_iterations",
             "warmup_iterations fixes the warm-up, and warmup.mode asks for auto; keep one");
}

void check_libraries(WorkloadDraft& d) {
  for (const auto& path : d.settings.texts("load_libraries"))
    if (const auto why = no_regular_file(path))
      d.report("load_libraries", fmt::format("library '{}' {}", shown_path(path), *why));
}

// Generated inputs have no true labels.
void check_labels(WorkloadDraft& d) {
  if (!d.settings.has("labels")) return;
  if (!d.written("load_inputs") && !d.written("image_dir"))
    d.report("labels",
             fmt::format("labels belong to inputs of yours; add {} or {}",
                         d.as_written("labels", "load_inputs"), d.as_written("labels", "image_dir")));
}

void check_images(WorkloadDraft& d) {
  for (const char* name : {"image_mean", "image_scale", "image_reverse_channels"}) {
    const auto* setting = d.written(name);
    if (setting && !d.written("image_dir") && !d.written("calib_images"))
      d.report(name, fmt::format("{} prepares images; add {} or {}", name, d.as_written(name, "image_dir"),
                                 d.as_written(name, "calib_images")));
    const auto values = setting && d.settings.has(name) ? d.settings.list(name).size() : 1;
    if (values != 1 && values != 3)
      d.report(name,
               fmt::format("{} takes one value, or three (red, green, blue); these are {}", name, values));
  }
}

// A reference that is a model file, which an engine name never looks like.
void check_reference(WorkloadDraft& d) {
  if (!d.settings.has("accuracy.reference")) return;
  const auto& file = d.settings.text("accuracy.reference");
  if (!find_file_type(file)) return;
  if (const auto why = no_regular_file(file))
    d.report("accuracy.reference", fmt::format("accuracy.reference '{}' {}", shown_path(file), *why));
}

void check_gaps(WorkloadDraft& d) {
  constexpr double kLongest = 60;
  if (!d.settings.has("gaps")) return;
  for (const auto& gap : d.settings.texts("gaps"))
    if (const auto seconds = parse_seconds(gap); !seconds || *seconds > kLongest)
      d.report("gaps", fmt::format("gap '{}' is no time from 0 to 60s with its unit, e.g. 10ms", gap));
}

// Batches; shapes are checked once the inputs are known.
void check_new_batches(WorkloadDraft& d, const std::vector<NewShape>& shapes) {
  if (!d.settings.has("batch_sizes")) return;
  const double smallest = std::ranges::min(d.settings.numbers("batch_sizes"));
  const auto largest = std::ranges::max(shapes, {}, &NewShape::batch).batch;
  if (static_cast<double>(largest) >= smallest)
    d.report(kNewShapes,
             fmt::format("new batch {} is not smaller than the batch of {:.0f} that the model is loaded "
                         "for; write e.g. --batch {}",
                         largest, smallest, 2 * largest));
}

void check_new_shapes(WorkloadDraft& d) try {
  if (!d.settings.has(kNewShapes)) return;
  check_new_batches(d, parse_new_shapes(d.settings.texts(kNewShapes)));
  if (d.settings.has("cross_check") && d.settings.flag("cross_check"))
    d.report(kNewShapes,
             "new_shapes loads the model with open sizes, and cross_check compares with a tool that loads it "
             "with fixed ones; leave one of them out");
  if (d.written("feedback"))
    d.report(kNewShapes, "new_shapes would change the state that feedback keeps; leave one of them out");
} catch (const Error& error) {
  d.report(kNewShapes, error.what());
}

// Names may hold colons; whether the model has them is known once it is loaded.
void check_feedback(WorkloadDraft& d) {
  if (!d.settings.has("feedback")) return;
  for (const auto& pair : d.settings.texts("feedback")) {
    const auto colon = pair.find(':', 1);
    if (colon == std::string::npos || colon + 1 == pair.size())
      d.report("feedback", fmt::format("feedback '{}' is no OUTPUT:INPUT, e.g. state_out:state_in", pair));
  }
}

// A stored plan holds the defaults of these as well, so only the command line counts.
void check_server_length(WorkloadDraft& d) {
  for (const auto name : kNotOfServers)
    if (const auto* setting = d.written(name); setting && setting->on_command_line)
      d.report(name,
               fmt::format("'{}' is not how long a server is measured: its schedule is from {} to {} long",
                           setting->written, d.as_written(name, "server.t_min_s"),
                           d.as_written(name, "server.t_max_s")));
}

constexpr const char* kArrival = "server.arrival";

// Refuses what only drawn arrivals have. A stored plan holds the defaults, so only the command line counts.
void check_not_of_a_file(WorkloadDraft& d, const std::string& file) {
  constexpr std::array<std::string_view, 2> kNotOfAFile{"server.t_min_s", "server.seed"};
  for (const auto name : kNotOfAFile)
    if (const auto* setting = d.written(name); setting && setting->on_command_line)
      d.report(name, fmt::format("'{}' changes nothing: the times are those of '{}'; leave it out",
                                 setting->written, shown_path(file)));
}

// Refuses a schedule of which a rate leaves no two different times within the limits.
void check_length(WorkloadDraft& d, const ArrivalFile& schedule) {
  if (!d.settings.has("server.t_max_s")) return;
  const auto limit = d.settings.number("server.t_max_s");
  auto rates = d.settings.numbers("arrival_rate_per_s");
  if (rates.empty()) rates.push_back(0);  // as recorded
  for (const double rate : rates) {
    const auto due = due_within(schedule, limit, rate);
    if (due >= 2 && schedule.seconds[due - 1] > 0) continue;
    const auto longest = d.name_beside(kArrival, "server.t_max_s");
    d.report(kArrival,
             fmt::format("at {}/s only {} of the {} times of the schedule are due within {} ({} s); "
                         "two different times are needed: raise {} or the rate",
                         format_rate(rate > 0 ? rate : schedule.rate_per_s()), due, schedule.seconds.size(),
                         longest, limit, longest));
  }
}

// A word that was refused, so that the default stands, may have been meant as a file.
bool asks_for_a_file(const WorkloadDraft& d) {
  if (!schedule_file(d.settings).empty()) return true;
  const auto* word = d.written(kArrival);
  return word && d.settings.has(kArrival) && !word->values.empty() &&
         lower_case(word->values.front().text) != d.settings.text(kArrival);
}

// Reads the recorded schedule, so that its mistakes are found before anything runs.
void check_schedule(WorkloadDraft& d) try {
  const auto file = schedule_file(d.settings);
  if (file.empty()) return;
  if (const auto why = no_regular_file(file)) {
    const auto near = is_missing(file) ? " (it is relative to the current directory)" + near_file(file) : "";
    return d.report(kArrival, fmt::format("schedule '{}' {}{}", shown_path(file), *why, near));
  }
  const auto schedule = read_arrivals(file);
  const auto times = std::ssize(schedule.seconds);
  check_not_of_a_file(d, file);
  if (d.settings.has("iterations") && d.settings.integer("iterations") > times)
    d.report("iterations", fmt::format("{} requests, and the schedule '{}' contains {} times; use at most {}",
                                       d.settings.integer("iterations"), shown_path(file), times, times));
  if (!d.settings.has("server.load")) check_length(d, schedule);
} catch (const Error& e) {
  d.report(kArrival, e.what());
}

// A request must not time out while it waits for others to share its batch.
void check_batching(WorkloadDraft& d) {
  constexpr const char* kWait = "server.batch_timeout_ms";
  if (!d.settings.has(kWait) || !d.settings.has("server.max_batch") || !d.settings.has("server.timeout_s"))
    return;
  const auto waits = d.settings.numbers(kWait);
  const double longest = *std::max_element(waits.begin(), waits.end());
  if (const double limit = d.settings.number("server.timeout_s"); longest >= limit * 1e3)
    d.report(kWait, fmt::format("server.batch_timeout_ms ({}) must be shorter than server.timeout_s ({})",
                                longest, limit));
}

// "closed_loop, server and offline"
std::string concurrent_scenarios() {
  std::string names;
  for (const auto& row : kScenarios)
    if (!row.one_at_a_time)
      names += fmt::format("{}{}",
                           names.empty()                ? ""
                           : &row == &kScenarios.back() ? " and "
                                                        : ", ",
                           row.name);
  return names;
}

void check_instances(WorkloadDraft& d, const ScenarioTraits& scenario) {
  if (scenario.one_at_a_time && d.written("instances"))
    d.report("instances", "instances are for the scenarios " + concurrent_scenarios(),
             {"scenario", "closed_loop"});
  if (d.written("threads_per_instance") && d.differs("threads"))
    d.report("threads", "'threads' and 'threads_per_instance' exclude each other; keep one");
}

void check_gpus(WorkloadDraft& d, const ScenarioTraits& scenario) {
  const auto *counts = d.written("gpus"), *which = d.written("devices");
  const auto* asked = counts ? counts : which;
  if (!asked) return;
  if (scenario.one_at_a_time)
    d.report(asked->name, fmt::format("'{}' is for the scenarios {}", asked->written, concurrent_scenarios()),
             {"scenario", "closed_loop"});
  if (const auto& device = d.settings.text("device"); device != kind_name(DeviceKind::kCuda))
    d.report(asked->name,
             fmt::format("'{}' is for several CUDA devices, and {} is '{}'; leave one of the two out",
                         asked->written, d.as_written(asked->name, "device"), device));
  if (!counts || !which || !d.settings.has("gpus") || !d.settings.has("devices")) return;
  const auto numbers = d.settings.numbers("gpus");
  const auto most = static_cast<std::ptrdiff_t>(*std::max_element(numbers.begin(), numbers.end()));
  if (const auto named = std::ssize(d.settings.list("devices")); named != most)
    d.report("devices", fmt::format("'{}' names {}, and '{}' asks for {}; name as many as the largest number",
                                    which->written, plural(named, "device"), counts->written, most));
}

void check_scenario(WorkloadDraft& d, const Option& option) {
  if (option.scenario.empty() || d.is("scenario", option.scenario) || !d.differs(option.name)) return;
  const auto* gpus = d.written(d.written("gpus") ? "gpus" : "devices");
  const auto own = parse_scenario(option.scenario);
  if (gpus && own && traits_of(*own).one_at_a_time)
    d.report(
        option.name,
        fmt::format("'{}' is for the scenario {}, and '{}' for those with a queue; leave one of the two out",
                    d.written(option.name)->written, option.scenario, gpus->written));
  else
    d.report(option.name, fmt::format("'{}' is for the scenario {}", option.name, option.scenario),
             {"scenario", option.scenario});
}

void check_slo(WorkloadDraft& d) {
  try {
    parse_slo(d.settings.text("slo"));
  } catch (const Error& e) {
    d.report("slo", e.what());
  }
}

void check_load(WorkloadDraft& d) {
  if (!d.settings.has("scenario")) return;
  const auto& scenario = traits_of(scenario_of(d.settings));
  if (scenario.one_at_a_time && d.written("concurrency"))
    d.report("concurrency", "concurrency is for the scenarios " + concurrent_scenarios(),
             {"scenario", "closed_loop"});
  check_instances(d, scenario);
  check_gpus(d, scenario);
  for (const Option* option : options_of(kind_bit(d.kind))) check_scenario(d, *option);
  if (scenario.open_loop && !d.written("arrival_rate_per_s") && !d.written("server.load") &&
      !d.settings.has("slo") && !asks_for_a_file(d))
    d.report("scenario",
             "a server needs arrival_rate_per_s, server.load (a share of the saturation rate, e.g. 0.5), a "
             "file of times as server.arrival, or an slo to search the highest rate for");
  if (d.settings.has("slo")) check_slo(d);
  if (scenario.open_loop) check_batching(d), check_server_length(d), check_schedule(d);
}

void report_timing(WorkloadDraft& d, std::string_view name, std::string_view needed) {
  const auto* timing = d.written("timing");
  const auto word = d.as_written(name, "timing");
  const auto instead = timing ? fmt::format("not with {} {}", word, d.settings.texts("timing").front())
                              : fmt::format("add {} {}", word, needed);
  d.report(name, fmt::format("'{}' is for {} {}, {}", d.written(name)->written, word, needed, instead));
}

// Refuses options that the only timing ignores; in a list the other timings use them.
void check_timing(WorkloadDraft& d) {
  if (!d.settings.has("timing")) return;
  const auto timings = d.settings.texts("timing");
  if (timings.size() != 1) return;
  const bool blocks = timings.front() == "pipelined";
  if (!blocks && d.is("overlap", "true")) report_timing(d, "overlap", "pipelined");
  if (blocks && d.is("cache_mode", "cold")) report_timing(d, "cache_mode", "sync");
  if (blocks && d.written("feedback")) report_timing(d, "feedback", "sync");
  if (blocks && d.written("gaps")) report_timing(d, "gaps", "sync");
}

// The engine would only say so once it is loaded.
void check_provider(WorkloadDraft& d) {
  constexpr std::string_view kProvider = "onnxruntime.provider";
  const auto* asked = d.written(kProvider);
  if (!asked || !d.settings.has(kProvider) || d.is(kProvider, "cpu") || is_cuda(d.settings.text("device")))
    return;
  d.report(kProvider, fmt::format("'{} {}' runs on a GPU", asked->written, d.settings.text(kProvider)),
           {"device", "cuda"});
}

// An interval of n pairs misses the median with probability 2 / 2^n.
void check_cross_check(WorkloadDraft& d) {
  if (!d.is("cross_check", "true") || !d.settings.has("cross_check_rounds") || !d.settings.has("confidence"))
    return;
  if (!traits_of(scenario_of(d.settings)).one_at_a_time)
    d.report("cross_check",
             "cross_check compares one inference after the other; keep scenario: sync, or leave it out");
  const double confidence = d.settings.number("confidence");
  const auto rounds = d.settings.integer("cross_check_rounds");
  const auto needed = static_cast<std::int64_t>(std::ceil(1 - std::log2(1 - confidence)));
  if (rounds < needed)
    d.report("cross_check_rounds",
             fmt::format("an interval at confidence {} needs at least {} pairs, and cross_check_rounds is {}",
                         confidence, needed, rounds));
}

void check_shapes(WorkloadDraft& d) {
  const auto models = d.settings.texts("models");
  const bool file = std::ranges::any_of(models, [](const auto& name) { return !find_model(name); });
  if (!models.empty() && !file && d.written("shapes"))
    d.report("shapes",
             "shapes are for model files; the built-in models have their own: use batch_sizes and "
             "sequence_lengths");
}

}  // namespace

void check_inference(WorkloadDraft& d) {
  for (const auto check : {check_iterations, check_warmup, check_shapes, check_libraries, check_labels,
                           check_images, check_reference, check_feedback, check_gaps, check_new_shapes,
                           check_load, check_timing, check_provider, check_cross_check})
    check(d);
}

}  // namespace paceline::config
