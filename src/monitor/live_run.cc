// SPDX-License-Identifier: MIT
#include "monitor/live_run.h"

#include <fmt/format.h>

#include "base/units.h"

namespace paceline::monitor {
namespace {

using Json = nlohmann::json;

// The value at a place like "/pass/label"; nothing where it is missing or of another type.
template <class T>
std::optional<T> at(const Json& json, const char* place) {
  const Json::json_pointer pointer(place);
  if (!json.contains(pointer)) return std::nullopt;
  try {
    return json.at(pointer).get<T>();
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}
std::string text_at(const Json& json, const char* place) {
  return at<std::string>(json, place).value_or("");
}
std::int64_t count_at(const Json& json, const char* place) {
  return at<std::int64_t>(json, place).value_or(0);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

LiveRun read(const Json& json, const char* slowest_rank, const char* slowest_beyond) {
  LiveRun run;
  const auto rank = at<std::int64_t>(json, slowest_rank);
  const auto beyond = at<double>(json, slowest_beyond);
  if (rank && beyond) run.slowest = LiveSlowest{*rank, *beyond};
  run.process_id = count_at(json, "/process_id");
  return run;
}

// Of a pass that times: inferences, or steps.
std::optional<double> pace_of(const Json& live) {
  const auto elapsed_s = at<double>(live, "/progress/elapsed_s").value_or(0);
  const auto count = count_at(live, "/progress/n");
  if (count <= 0 || elapsed_s <= 0 || at<bool>(live, "/progress/blocks").value_or(false)) return std::nullopt;
  return static_cast<double>(count) / elapsed_s;
}

}  // namespace

LiveRun read_live_file(const Json& live) {
  auto run = read(live, "/progress/steps/0/slowest/0/rank", "/progress/steps/0/slowest/0/beyond");
  run.experiment = text_at(live, "/experiment_name");
  run.label = text_at(live, "/pass/label");
  run.kind = text_at(live, "/pass/kind");
  run.number = count_at(live, "/pass/number");
  run.of = count_at(live, "/pass/of");
  run.seconds_left = at<double>(live, "/pass/seconds_left");
  run.phase = text_at(live, "/progress/phase");
  run.samples = count_at(live, "/progress/n");
  run.blocks = at<bool>(live, "/progress/blocks").value_or(false);
  run.p50_ns = at<double>(live, "/progress/p50_ns");
  run.step = at<std::int64_t>(live, "/progress/step");
  run.per_s = pace_of(live);
  run.samples_per_s = at<double>(live, "/progress/steps/0/samples_per_s");
  run.loss = at<double>(live, "/progress/steps/0/loss");
  return run;
}

Json to_json(const LiveRun& run) {
  Json slowest;
  if (run.slowest) slowest = {{"rank", run.slowest->rank}, {"beyond", run.slowest->beyond}};
  return {{"process_id", run.process_id},
          {"folder", run.folder},
          {"experiment", run.experiment},
          {"label", run.label},
          {"kind", run.kind},
          {"number", run.number},
          {"of", run.of},
          {"seconds_left", or_null(run.seconds_left)},
          {"phase", run.phase},
          {"samples", run.samples},
          {"blocks", run.blocks},
          {"p50_ns", or_null(run.p50_ns)},
          {"per_s", or_null(run.per_s)},
          {"step", or_null(run.step)},
          {"samples_per_s", or_null(run.samples_per_s)},
          {"loss", or_null(run.loss)},
          {"slowest", std::move(slowest)}};
}

LiveRun live_run_of(const Json& json) {
  auto run = read(json, "/slowest/rank", "/slowest/beyond");
  run.folder = json.at("folder").get<std::string>();
  run.experiment = json.at("experiment").get<std::string>();
  run.label = text_at(json, "/label");
  run.kind = text_at(json, "/kind");
  run.number = count_at(json, "/number");
  run.of = count_at(json, "/of");
  run.seconds_left = at<double>(json, "/seconds_left");
  run.phase = text_at(json, "/phase");
  run.samples = count_at(json, "/samples");
  run.blocks = at<bool>(json, "/blocks").value_or(false);
  run.p50_ns = at<double>(json, "/p50_ns");
  run.per_s = at<double>(json, "/per_s");
  run.step = at<std::int64_t>(json, "/step");
  run.samples_per_s = at<double>(json, "/samples_per_s");
  run.loss = at<double>(json, "/loss");
  return run;
}

std::string in_words(const LiveRun& run) {
  std::string text = run.number > 0
                         ? fmt::format("{}/{}  {}", run.number, run.of, run.label)
                         : fmt::format("{}  {}", run.kind.empty() ? "starting" : run.kind, run.label);
  if (!run.phase.empty()) text += "  " + run.phase;
  if (run.step) text += fmt::format("  step {}", *run.step);
  if (run.samples > 0) text += fmt::format("  {}={}", run.blocks ? "blocks" : "n", run.samples);
  if (run.p50_ns) text += " p50 " + format_duration_ns(*run.p50_ns);
  if (run.per_s && !run.step) text += fmt::format("  {}/s", format_rate(*run.per_s));
  if (run.samples_per_s) text += fmt::format("  {} samples/s", format_rate(*run.samples_per_s));
  if (run.slowest)
    text += fmt::format("  slowest: rank {} (+{})", run.slowest->rank, format_percent(run.slowest->beyond));
  if (run.loss) text += fmt::format("  loss {:.3g}", *run.loss);
  if (run.seconds_left) text += fmt::format("  {} left", format_time_left(*run.seconds_left));
  return text;
}

}  // namespace paceline::monitor
