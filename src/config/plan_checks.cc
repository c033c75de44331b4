// SPDX-License-Identifier: MIT
// Checks which options of a plan contradict each other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/display_text.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/text.h"
#include "base/units.h"
#include "config/collective/bandwidth_limit.h"
#include "config/collective/message_sizes.h"
#include "config/collective/topologies.h"
#include "config/declared_options.h"
#include "config/device.h"
#include "config/inference/slo.h"
#include "config/plan_reader.h"
#include "config/settings_builder.h"
#include "config/training/training_rules.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// How long other scenarios measure; a server only uses these to find its saturation.
constexpr std::array<std::string_view, 2> kNotOfServers{"stop.t_min_s", "stop.t_max_s"};

class Checker {
 public:
  Checker(const Settings& settings, std::span<const RawSetting> raw, Place where, unsigned kinds,
          std::vector<Diagnostic>& problems)
      : settings_(settings), raw_(raw), where_(std::move(where)), kinds_(kinds), problems_(problems) {}

  void run() {
    check_rows(&Checker::check_order);
    check_rows(&Checker::check_exclusive);
    check_iterations();
    check_warmup();
    check_device();
    check_models();
    check_weights();
    check_libraries();
    check_samplers();
    check_labels();
    check_images();
    check_reference();
    check_feedback();
    check_baseline();
    check_load();
    check_rows(&Checker::check_needs);
    check_cross_check();
    check_training();
    check_collectives();
  }

 private:
  void check_rows(void (Checker::*check)(const Option&)) {
    for (const Option* option : options_of(kinds_)) (this->*check)(*option);
  }

  [[nodiscard]] const RawSetting* written(std::string_view name) const {
    const auto found =
        std::find_if(raw_.rbegin(), raw_.rend(), [&](const RawSetting& r) { return r.name == name; });
    return found == raw_.rend() ? nullptr : &*found;
  }
  [[nodiscard]] Place place_of(std::string_view name) const {
    const RawSetting* setting = written(name);
    if (!setting) return where_;
    return setting->values.empty() ? setting->place : setting->values.front().place;
  }
  void report(std::string_view name, const std::string& message, const Addition& add = {}) {
    const Place place = place_of(name);
    problems_.push_back(diagnostic(place, message + addition_text(place, add)));
  }
  // The name of an option as it is written where the mistake is.
  [[nodiscard]] std::string as_written(std::string_view mistake, std::string_view name) const {
    if (place_of(mistake).line != 0) return std::string(name);
    const Option* const row = find_option(name, kinds_);
    std::string flag = fmt::format("--{}", row ? singular(*row) : name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    return flag;
  }

  // Whether it has a value other than the default: a plan with every default written out stays valid.
  [[nodiscard]] bool differs(std::string_view name) const {
    return written(name) && !is_default(*find_option(name, kinds_), settings_.list(name));
  }

  [[nodiscard]] bool is(std::string_view name, std::string_view value) const {
    return settings_.has(name) && value_text(settings_.list(name).front()) == value;
  }

  void check_order(const Option& option) {
    const auto low = option.name, high = option.at_most;
    if (!settings_.has(low) || !settings_.has(high) || settings_.number(low) <= settings_.number(high))
      return;
    report(written(high) ? high : low,
           fmt::format("{} ({}{}) is larger than {} ({}{})", low, settings_.number(low),
                       written(low) ? "" : ", the default", high, settings_.number(high),
                       written(high) ? "" : ", the default"));
  }

  void check_exclusive(const Option& option) {
    const auto *one = written(option.name), *other = written(option.excludes);
    if (one && other)
      report(option.name,
             fmt::format("'{}' and '{}' exclude each other; keep one", one->written, other->written));
  }

  void check_scenario(const Option& option) {
    if (!option.scenario.empty() && !is("scenario", option.scenario) && differs(option.name))
      report(option.name, fmt::format("'{}' is for the scenario {}", option.name, option.scenario),
             {"scenario", option.scenario});
  }

  void check_needs(const Option& option) {
    if (!option.scenario.empty() && !is("scenario", option.scenario)) return;
    for (const auto& [needed, example, value] : option.needs)
      if (!needed.empty() && !written(needed) &&
          (value.empty() ? differs(option.name) : is(option.name, value)))
        report(option.name,
               fmt::format("{}{}{} needs {}", option.name, value.empty() ? "" : ": ", value, needed),
               {needed, example});
  }

  // Typed together they contradict each other; a stored plan holds both.
  void check_iterations() {
    const auto *fixed = written("iterations"), *least = written("stop.t_min_s");
    if (fixed && least && fixed->on_command_line && least->on_command_line)
      report("iterations", fmt::format("'{}' fixes the number of samples, so '{}' would do nothing; keep one",
                                       fixed->written, least->written));
  }

  void check_warmup() {
    if (written("warmup.mode") && written("warmup_iterations") && is("warmup.mode", "auto"))
      report("warmup_iterations",
             "warmup_iterations fixes the warm-up, and warmup.mode asks for auto; keep one");
  }

  void check_device() {
    if (!settings_.has("device")) return;
    const auto& device = settings_.text("device");
    if ((kinds_ & kRanked) != 0) return check_device_of_ranks(device);
    if (device != kAutoDevice && !parse_device(device))
      report("device", fmt::format("device '{}' is none of auto, cpu, cuda, cuda:0, cuda:1, …{}", device,
                                   meant_device(device)));
  }

  // trtexec numbers devices, OpenVINO calls the first GPU by its kind.
  static std::string meant_device(const std::string& device) {
    const std::string meant = device == "gpu" ? "cuda" : "cuda:" + device;
    return parse_device(meant) ? fmt::format("; did you mean '{}'?", meant) : "";
  }

  // Ranks take the devices of their host in order.
  void check_device_of_ranks(const std::string& device) {
    if (device != kAutoDevice && !is_cpu(device) && device != kind_name(DeviceKind::kCuda))
      report("device",
             fmt::format("device '{}' is none of auto, cpu, cuda; rank r of a host takes its r-th", device));
  }

  void check_training() {
    if (kinds_ != kTraining) return;
    // Without a source the path would have no effect.
    if (written("data.path") && !written("data.source"))
      report("data.path", "data.path names data, and data.source is synthetic unless it is written",
             {"data.source", "image_folder"});
    for (const auto& [option, message, add] : training_mistakes(settings_)) report(option, message, add);
  }

  void check_models() {
    if (!find_option("models", kinds_)) return;
    if (!written("models") && !settings_.has("models"))
      return report("models", "no model is named", {"models", "[resnet50]"});
    const auto own = [](const std::string& name) { return find_model(name) != nullptr; };
    const auto names = settings_.texts("models");
    const auto file = std::find_if_not(names.begin(), names.end(), own);
    if (names.empty() || !find_option("shapes", kinds_)) return;
    if (file == names.end() && written("shapes"))
      report("shapes",
             "shapes are for model files; the built-in models have their own: use batch_sizes and "
             "sequence_lengths");
  }

  void check_load() {
    if (!settings_.has("scenario")) return;
    const auto& scenario = traits_of(scenario_of(settings_));
    if (scenario.one_at_a_time && written("concurrency"))
      report("concurrency", "concurrency is for the scenarios closed_loop, server and offline",
             {"scenario", "closed_loop"});
    check_instances(scenario);
    check_rows(&Checker::check_scenario);
    if (scenario.open_loop && !written("arrival_rate_per_s") && !written("server.load") &&
        !settings_.has("slo"))
      report("scenario",
             "a server needs arrival_rate_per_s, server.load (a share of the saturation rate, e.g. 0.5), or "
             "an slo to search the highest rate for");
    if (settings_.has("slo")) check_slo();
    if (scenario.open_loop) check_batching(), check_server_length();
  }

  // A stored plan holds the defaults of these as well, so only the command line counts.
  void check_server_length() {
    for (const auto name : kNotOfServers)
      if (const auto* setting = written(name); setting && setting->on_command_line)
        report(name,
               fmt::format("'{}' is not how long a server is measured: its schedule is from {} to {} long",
                           setting->written, as_written(name, "server.t_min_s"),
                           as_written(name, "server.t_max_s")));
  }

  // A request must not time out while it waits for others to share its batch.
  void check_batching() {
    constexpr const char* kWait = "server.batch_timeout_ms";
    if (!settings_.has(kWait) || !settings_.has("server.max_batch") || !settings_.has("server.timeout_s"))
      return;
    const auto waits = settings_.numbers(kWait);
    const double longest = *std::max_element(waits.begin(), waits.end());
    if (const double limit = settings_.number("server.timeout_s"); longest >= limit * 1e3)
      report(kWait, fmt::format("server.batch_timeout_ms ({}) must be shorter than server.timeout_s ({})",
                                longest, limit));
  }

  void check_instances(const ScenarioTraits& scenario) {
    if (scenario.one_at_a_time && written("instances"))
      report("instances", "instances are for the scenarios closed_loop, server and offline",
             {"scenario", "closed_loop"});
    if (written("threads_per_instance") && differs("threads"))
      report("threads", "'threads' and 'threads_per_instance' exclude each other; keep one");
  }

  // An interval of n pairs misses the median with probability 2 / 2^n.
  void check_cross_check() {
    if (!is("cross_check", "true") || !settings_.has("cross_check_rounds") || !settings_.has("confidence"))
      return;
    if (!traits_of(scenario_of(settings_)).one_at_a_time)
      report("cross_check",
             "cross_check compares one inference after the other; keep scenario: sync, or leave it out");
    const double confidence = settings_.number("confidence");
    const auto rounds = settings_.integer("cross_check_rounds");
    const auto needed = static_cast<std::int64_t>(std::ceil(1 - std::log2(1 - confidence)));
    if (rounds < needed)
      report("cross_check_rounds",
             fmt::format("an interval at confidence {} needs at least {} pairs, and cross_check_rounds is {}",
                         confidence, needed, rounds));
  }

  void check_slo() {
    try {
      parse_slo(settings_.text("slo"));
    } catch (const Error& e) {
      report("slo", e.what());
    }
  }

  void check_rounds() {
    if (!settings_.has("rounds")) return;
    const auto& rounds = settings_.text("rounds");
    const auto size = parse_int(rounds);
    if (rounds != "pairs" && rounds != "hosts" && (!size || *size < 2))
      return report(
          "rounds",
          fmt::format("rounds '{}' is none of pairs, hosts, or a number of ranks from 2 on", rounds));
    if (!settings_.has("gpu_counts")) return;
    const auto counts = settings_.numbers("gpu_counts");
    const auto fewest = *std::min_element(counts.begin(), counts.end());
    const auto needed = size && *size > 2 ? 2 * *size : 2;
    if (fewest < static_cast<double>(needed))
      report("rounds",
             fmt::format("rounds '{}' need at least {} ranks, and a case has {:g}", rounds, needed, fewest));
  }

  // The installed table is read for its names alone.
  void check_topology() {
    const bool named = settings_.has("topology"), own = settings_.has("expected");
    if (!named && !own) return;
    try {
      const auto table = read_topologies(own ? settings_.text("expected") : std::string());
      if (!named || find_topology(table, settings_.text("topology"), {})) return;
      std::vector<std::string> names;
      for (const auto& topology : table) names.push_back(topology.name);
      report("topology", fmt::format("topology '{}' is no row of the table; there are: {}",
                                     settings_.text("topology"), join(names, ", ")));
    } catch (const ConfigErrors& errors) {
      for (const auto& one : errors.diagnostics()) problems_.push_back(one);
    } catch (const Error& e) {
      report(own ? "expected" : "topology", e.what());
    }
  }

  void check_bandwidth_limit(const std::string& text, const std::vector<std::int64_t>& sizes) {
    try {
      const auto limit = parse_bandwidth_limit(text);
      if (std::ranges::find(sizes, limit.bytes) == sizes.end())
        report("min_busbw",
               fmt::format("min_busbw '{}': {} bytes are not among the {} of the sweep, from {} to {}", text,
                           limit.bytes, plural(std::ssize(sizes), "size"), sizes.front(), sizes.back()));
    } catch (const Error& e) {
      report("min_busbw", e.what());
    }
  }

  void check_message_sizes() {
    if (settings_.integer("min_bytes") > settings_.integer("max_bytes")) return;  // told already
    try {
      const auto sizes = message_sizes(settings_);
      for (const auto& limit : settings_.texts("min_busbw")) check_bandwidth_limit(limit, sizes);
    } catch (const Error& e) {
      report(settings_.has("step_bytes") ? "step_bytes" : "step_factor", e.what());
    }
  }

  void check_collectives() {
    if (kinds_ != kCollective) return;
    check_message_sizes();
    check_rounds();
    check_topology();
    // A stored plan holds both.
    const auto *step = written("step_bytes"), *factor = written("step_factor");
    if (step && factor && step->on_command_line && factor->on_command_line)
      report("step_bytes",
             fmt::format("'{}' and '{}' exclude each other; keep one", step->written, factor->written));
    if (!settings_.has("gpu_counts") || !settings_.has("root")) return;
    const auto counts = settings_.numbers("gpu_counts");
    const auto fewest = *std::min_element(counts.begin(), counts.end());
    if (settings_.number("root") >= fewest)
      report("root", fmt::format("root {} is none of {:g} ranks, which go from 0 to {:g}",
                                 settings_.integer("root"), fewest, fewest - 1));
  }

  void check_weights() {
    if (!settings_.has("weights")) return;
    const auto& path = settings_.text("weights");
    if (const auto why = no_regular_file(path); !why.empty())
      report("weights", fmt::format("weights '{}' {}", shown_path(path), why));
  }

  void check_libraries() {
    for (const auto& path : settings_.texts("load_libraries"))
      if (const auto why = no_regular_file(path); !why.empty())
        report("load_libraries", fmt::format("library '{}' {}", shown_path(path), why));
  }

  void check_samplers() {
    const auto names = settings_.texts("sampler");
    if (names.size() > 1 && std::ranges::count(names, kNoSampler) > 0)
      report("sampler", "sampler 'none' stands for no sampler; leave it out, or the others");
  }

  // Generated inputs have no true labels.
  void check_labels() {
    if (!settings_.has("labels")) return;
    if (!written("load_inputs") && !written("image_dir"))
      report("labels", fmt::format("labels belong to inputs of yours; add {} or {}",
                                   as_written("labels", "load_inputs"), as_written("labels", "image_dir")));
  }

  void check_images() {
    for (const char* name : {"image_mean", "image_scale", "image_reverse_channels"}) {
      const auto* setting = written(name);
      if (setting && !written("image_dir") && !written("calib_images"))
        report(name, fmt::format("{} prepares images; add {} or {}", name, as_written(name, "image_dir"),
                                 as_written(name, "calib_images")));
      const auto values = setting && settings_.has(name) ? settings_.list(name).size() : 1;
      if (values != 1 && values != 3)
        report(name,
               fmt::format("{} takes one value, or three (red, green, blue); these are {}", name, values));
    }
  }

  // Names may hold colons; whether the model has them is known once it is loaded.
  void check_feedback() {
    if (!settings_.has("feedback")) return;
    for (const auto& pair : settings_.texts("feedback")) {
      const auto colon = pair.find(':', 1);
      if (colon == std::string::npos || colon + 1 == pair.size())
        report("feedback", fmt::format("feedback '{}' is no OUTPUT:INPUT, e.g. state_out:state_in", pair));
    }
  }

  // A reference that is a model file, which an engine name never looks like.
  void check_reference() {
    if (!settings_.has("accuracy.reference")) return;
    const auto& file = settings_.text("accuracy.reference");
    if (!find_file_type(file)) return;
    if (const auto why = no_regular_file(file); !why.empty())
      report("accuracy.reference", fmt::format("accuracy.reference '{}' {}", shown_path(file), why));
  }

  void check_baseline() {
    for (const auto& [name, values] : settings_.all()) {
      if (!name.starts_with("baseline.")) continue;
      const std::string axis = name.substr(name.find('.') + 1);
      const Option* row = row_of(axis, kinds_);
      const auto wanted = value_text(values.front());
      const auto have = settings_.texts(row->is_map() ? axis : std::string(row->name));
      if (std::find(have.begin(), have.end(), wanted) == have.end())
        report(written_baseline(axis), fmt::format("baseline {} '{}' is not measured here; {} holds {}", axis,
                                                   wanted, row->is_map() ? axis : std::string(row->name),
                                                   have.empty() ? "nothing" : join(have, ", ")));
    }
  }
  [[nodiscard]] std::string written_baseline(const std::string& axis) const {
    for (const auto& setting : raw_) {
      if (!setting.name.starts_with("baseline.")) continue;
      const Option* row = row_of(setting.name.substr(9), kinds_);
      if (row && (row->is_map() ? setting.name.substr(9) : std::string(singular(*row))) == axis)
        return setting.name;
    }
    return "baseline";
  }

  const Settings& settings_;
  std::span<const RawSetting> raw_;
  Place where_;
  unsigned kinds_;
  std::vector<Diagnostic>& problems_;
};

}  // namespace

void check_workload(const Settings& settings, std::span<const RawSetting> raw, const Place& where,
                    unsigned kinds, std::vector<Diagnostic>& problems) {
  Checker(settings, raw, where, kinds, problems).run();
}

}  // namespace paceline::config
