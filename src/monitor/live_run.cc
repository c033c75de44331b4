// SPDX-License-Identifier: MIT
#include "monitor/live_run.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/foreign_text.h"
#include "base/units.h"
#include "result/stored/step_parts.h"

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
  auto text = at<std::string>(json, place).value_or("");
  return text.size() <= kLiveText ? text : shown_value(without_controls(text, ""), kLiveText);
}
std::int64_t count_at(const Json& json, const char* place) {
  return at<std::int64_t>(json, place).value_or(0);
}

// The fields of a run in the JSON of snapshots. `Run` is const for writing.
template <class Run, class Visit>
void each_field(Run& run, Visit visit) {
  visit("process_id", run.process_id);
  visit("folder", run.folder);
  visit("experiment", run.experiment);
  visit("label", run.label);
  visit("kind", run.kind);
  visit("number", run.number);
  visit("of", run.of);
  visit("seconds_left", run.seconds_left);
  visit("phase", run.phase);
  visit("samples", run.samples);
  visit("blocks", run.blocks);
  visit("p50_ns", run.p50_ns);
  visit("per_s", run.per_s);
  visit("step", run.step);
  visit("samples_per_s", run.samples_per_s);
  visit("loss", run.loss);
  visit("parts", run.parts);
}

struct ToJson {
  Json& json;
  template <class T>
  void operator()(const char* name, const T& value) const {
    json[name] = value;
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) const {
    json[name] = value ? Json(*value) : Json();
  }
};

// Keeps the default of a field that is missing or has another type.
struct FromJson {
  const Json& json;
  template <class T>
  void operator()(const char* name, T& value) const {
    value = at<T>(json, (std::string("/") + name).c_str()).value_or(T());
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) const {
    value = at<T>(json, (std::string("/") + name).c_str());
  }
};

// `place`: of the rank's object.
std::optional<LiveSlowest> slowest_at(const Json& json, const std::string& place) {
  const auto rank = at<std::int64_t>(json, (place + "/rank").c_str());
  const auto beyond = at<double>(json, (place + "/beyond").c_str());
  if (!rank || !beyond) return std::nullopt;
  return LiveSlowest{*rank, *beyond, text_at(json, (place + "/cause").c_str())};
}

// Samples per second: of all ranks that train, or of inferences.
std::optional<double> samples_per_s_of(const Json& live, const std::optional<double>& per_s) {
  if (const auto trained = at<double>(live, "/progress/steps/0/samples_per_s")) return trained;
  const auto samples = at<double>(live, "/pass/samples_per_iteration").value_or(0);
  if (!per_s || samples <= 0) return std::nullopt;
  return *per_s * samples;
}

std::string parts_of(const Json& live) {
  std::string text;
  for (const auto part : result::kStepParts) {
    const auto& traits = result::traits_of(part);
    const auto share = at<double>(live, (std::string("/progress/steps/0/shares/") + traits.name).c_str());
    if (share && *traits.word != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : "  ", traits.word, format_percent(*share));
  }
  return text;
}

// Pace of a timed pass: inferences, or steps.
std::optional<double> pace_of(const Json& live) {
  const auto elapsed_s = at<double>(live, "/progress/elapsed_s").value_or(0);
  const auto count = count_at(live, "/progress/n");
  if (count <= 0 || elapsed_s <= 0 || at<bool>(live, "/progress/blocks").value_or(false)) return std::nullopt;
  return static_cast<double>(count) / elapsed_s;
}

}  // namespace

LiveRun read_live_file(const Json& live) {
  LiveRun run;
  run.process_id = count_at(live, "/process_id");
  run.slowest = slowest_at(live, "/progress/steps/0/slowest/0");
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
  run.samples_per_s = samples_per_s_of(live, run.per_s);
  run.loss = at<double>(live, "/progress/steps/0/loss");
  run.parts = parts_of(live);
  return run;
}

Json to_json(const LiveRun& run) {
  Json json;
  each_field(run, ToJson{json});
  json["slowest"] =
      run.slowest
          ? Json{{"rank", run.slowest->rank}, {"beyond", run.slowest->beyond}, {"cause", run.slowest->cause}}
          : Json();
  return json;
}

LiveRun live_run_of(const Json& json) {
  json.at("folder").get_ref<const std::string&>(), json.at("experiment").get_ref<const std::string&>();
  LiveRun run;
  each_field(run, FromJson{json});
  run.slowest = slowest_at(json, "/slowest");
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
  if (run.per_s && (!run.step || !run.samples_per_s)) text += fmt::format("  {}/s", format_rate(*run.per_s));
  if (run.samples_per_s) text += fmt::format("  {} samples/s", format_rate(*run.samples_per_s));
  if (run.slowest)
    text +=
        fmt::format("  slowest: rank {} (+{}{}{})", run.slowest->rank, format_percent(run.slowest->beyond),
                    run.slowest->cause.empty() ? "" : ": ", run.slowest->cause);
  if (!run.parts.empty()) text += "  " + run.parts;
  if (run.loss) text += fmt::format("  loss {:.3g}", *run.loss);
  if (run.seconds_left) text += fmt::format("  {} left", format_time_left(*run.seconds_left));
  return text;
}

}  // namespace paceline::monitor
