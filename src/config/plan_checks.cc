// SPDX-License-Identifier: MIT
// Checks which options of a workload contradict each other, whatever its kind.
#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/near_file.h"
#include "base/reading.h"
#include "base/text.h"
#include "config/declared_options.h"
#include "config/device.h"
#include "config/kind_in_plan.h"
#include "config/option_table.h"
#include "config/plan_reader.h"
#include "config/value.h"

namespace paceline::config {
namespace {

// Sets the one that has its default to what was written of the other.
Addition equal_default(const WorkloadDraft& d, std::string_view low, std::string_view high) {
  for (const auto& [one, other] : {std::pair(low, high), std::pair(high, low)})
    if (!d.written(one) && d.written(other)) return {one, d.written(other)->values.front().text};
  return {};
}

void check_order(WorkloadDraft& d, const Option& option) {
  const auto low = option.name, high = option.at_most;
  if (!d.settings.has(low) || !d.settings.has(high) || d.settings.number(low) <= d.settings.number(high))
    return;
  d.report(d.written(high) ? high : low,
           fmt::format("{} ({}{}) is larger than {} ({}{})", low, d.settings.number(low),
                       d.written(low) ? "" : ", the default", high, d.settings.number(high),
                       d.written(high) ? "" : ", the default"),
           equal_default(d, low, high));
}

void check_exclusive(WorkloadDraft& d, const Option& option) {
  const auto *one = d.written(option.name), *other = d.written(option.excludes);
  if (one && other)
    d.report(option.name,
             fmt::format("'{}' and '{}' exclude each other; keep one", one->written, other->written));
}

// Processes on devices are instances.
bool implied_by_gpus(const WorkloadDraft& d, std::string_view needed) {
  return needed == "instances" && d.settings.has("gpus");
}

// "training.schedule: cosine needs training.epochs", or, behind what was typed, "needs --epochs".
std::string needs_text(const WorkloadDraft& d, std::string_view name, std::string_view value,
                       std::vector<std::string> needed) {
  for (auto& one : needed) one = d.name_beside(name, one);
  const auto all = join(needed, " or ");
  const auto* typed = d.written(name);
  if (typed && typed->on_command_line) return "needs " + all;
  return fmt::format("{}{}{} needs {}", name, value.empty() ? "" : ": ", value, all);
}

void check_needs(WorkloadDraft& d, const Option& option) {
  if (!option.scenario.empty() && !d.is("scenario", option.scenario)) return;
  for (const auto& [needed, example, value] : option.needs) {
    if (needed.empty() || !(value.empty() ? d.differs(option.name) : d.is(option.name, value))) continue;
    const auto names = split(needed, ',');
    if (std::ranges::any_of(names, [&](const auto& name) { return d.written(name); })) continue;
    if (implied_by_gpus(d, needed)) continue;
    d.report(option.name, needs_text(d, option.name, value, names), {names.front(), example});
  }
}

// Ranks take the devices of their host in order.
void check_device_of_ranks(WorkloadDraft& d, const std::string& device) {
  if (device != kAutoDevice && !is_cpu(device) && device != kind_name(DeviceKind::kCuda))
    d.report("device",
             fmt::format("device '{}' is none of auto, cpu, cuda; rank r of a host takes its r-th", device));
}

// trtexec numbers devices, OpenVINO calls the first GPU by its kind.
std::string meant_device(const std::string& device) {
  const std::string meant = device == "gpu" ? "cuda" : "cuda:" + device;
  return parse_device(meant) ? fmt::format("; did you mean '{}'?", meant) : "";
}

void check_device(WorkloadDraft& d) {
  if (!d.settings.has("device")) return;
  const auto& device = d.settings.text("device");
  if (traits_of(d.kind).by_ranks) return check_device_of_ranks(d, device);
  if (device != kAutoDevice && !parse_device(device))
    d.report("device", fmt::format("device '{}' is none of auto, cpu, cuda, cuda:0, cuda:1, …{}", device,
                                   meant_device(device)));
}

void check_models(WorkloadDraft& d) {
  if (!find_option("models", kind_bit(d.kind))) return;
  if (!d.written("models") && !d.settings.has("models") && !d.names.means("models"))
    return d.report("models", "no model is named", {"models", "[resnet50]"});
}

void check_weights(WorkloadDraft& d) {
  if (!d.settings.has("weights")) return;
  const auto& path = d.settings.text("weights");
  if (const auto why = no_regular_file(path))
    d.report("weights", fmt::format("weights '{}' {}{}", shown_path(path), *why,
                                    is_missing(path) ? near_file(path) : ""));
}

void check_samplers(WorkloadDraft& d) {
  const auto names = d.settings.texts("sampler");
  if (names.size() > 1 && std::ranges::count(names, kNoSampler) > 0)
    d.report("sampler", "sampler 'none' cannot be combined with other samplers; leave it out, or the others");
}

std::string written_baseline(WorkloadDraft& d, const std::string& axis) {
  for (const auto& setting : d.raw) {
    if (!setting.name.starts_with("baseline.")) continue;
    const Option* row = row_of(setting.name.substr(9), kind_bit(d.kind));
    if (row && (row->is_map() ? setting.name.substr(9) : std::string(singular(*row))) == axis)
      return setting.name;
  }
  return "baseline";
}

void check_baseline(WorkloadDraft& d) {
  for (const auto& [name, values] : d.settings.all()) {
    if (!name.starts_with("baseline.")) continue;
    const std::string axis = name.substr(name.find('.') + 1);
    const Option* row = row_of(axis, kind_bit(d.kind));
    const auto wanted = value_text(values.front());
    const auto have = d.settings.texts(row->is_map() ? axis : std::string(row->name));
    if (std::find(have.begin(), have.end(), wanted) == have.end())
      d.report(written_baseline(d, axis), fmt::format("baseline {} '{}' is not measured here; {}: {}", axis,
                                                      wanted, row->is_map() ? axis : std::string(row->name),
                                                      have.empty() ? "nothing" : join(have, ", ")));
  }
}

}  // namespace

void check_workload(WorkloadDraft& d) {
  for (const auto check : {check_order, check_exclusive, check_needs})
    for (const Option* option : options_of(kind_bit(d.kind))) check(d, *option);
  for (const auto check : {check_device, check_models, check_weights, check_samplers, check_baseline})
    check(d);
  in_plan(d.kind).check(d);
}

}  // namespace paceline::config
