// SPDX-License-Identifier: MIT
#include "config/workload_draft.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "config/option_table.h"
#include "config/value.h"

namespace paceline::config {
namespace {

constexpr auto kNoDot = std::string_view::npos;

// The flag of a key: "--epochs" beside a short flag, else "--training.epochs".
std::string flag_of(std::string_view name, bool beside_short) {
  const Option* const row = find_option(name, kAnyKind);
  if (row && beside_short && name.find('.') != kNoDot)
    for (const auto& flag : split(row->flags, ','))
      if (flag.starts_with("--")) return flag;
  std::string flag(row ? singular(*row) : name);
  if (flag.find('.') == kNoDot) std::replace(flag.begin(), flag.end(), '_', '-');
  return "--" + flag;
}

std::string addition_text(const Place& place, const Addition& addition, bool beside_short) {
  if (addition.option.empty()) return "";
  if (place.line != 0) return fmt::format("; add {}: {}", addition.option, addition.value);
  std::string value(addition.value);
  std::erase_if(value, [](char c) { return c == '[' || c == ']' || c == ' '; });
  return fmt::format("; add {} {}", flag_of(addition.option, beside_short), value);
}

}  // namespace

const RawSetting* WorkloadDraft::written(std::string_view name) const {
  const auto found =
      std::find_if(raw.rbegin(), raw.rend(), [&](const RawSetting& r) { return r.name == name; });
  return found == raw.rend() ? nullptr : &*found;
}

Place WorkloadDraft::place_of(std::string_view name) const {
  const RawSetting* setting = written(name);
  if (!setting) return where;
  return setting->values.empty() ? setting->place : setting->values.front().place;
}

void WorkloadDraft::report(std::string_view name, const std::string& message, const Addition& add) {
  const Place place = place_of(name);
  problems.push_back(diagnostic(place, message + addition_text(place, add, has_short_flag(name))));
}

bool WorkloadDraft::has_short_flag(std::string_view name) const {
  const RawSetting* setting = written(name);
  return setting && setting->on_command_line && setting->written.find('.') == kNoDot;
}

std::string WorkloadDraft::name_beside(std::string_view mistake, std::string_view name) const {
  return place_of(mistake).line != 0 ? std::string(name) : flag_of(name, has_short_flag(mistake));
}

std::string WorkloadDraft::as_written(std::string_view mistake, std::string_view name) const {
  if (place_of(mistake).line != 0) return std::string(name);
  const Option* const row = find_option(name, kind_bit(kind));
  std::string flag = fmt::format("--{}", row ? singular(*row) : name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

bool WorkloadDraft::differs(std::string_view name) const {
  return written(name) && !is_default(*find_option(name, kind_bit(kind)), settings.list(name));
}

bool WorkloadDraft::is(std::string_view name, std::string_view value) const {
  return settings.has(name) && value_text(settings.list(name).front()) == value;
}

}  // namespace paceline::config
