// SPDX-License-Identifier: MIT
#include "cli/tune/arm_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/tune/arm_axes.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

constexpr std::array<std::string_view, 13> kOfRuns{"only",
                                                   "dry_run",
                                                   "expect",
                                                   "junit",
                                                   "in_process",
                                                   "nccl_json",
                                                   "self_test",
                                                   "monitor",
                                                   "repetitions",
                                                   "cross_check",
                                                   "training.epochs",
                                                   "profiling.enabled",
                                                   "checkpoint.resume"};

struct SpaceRow {
  WorkloadKind kind;
  const ArmSpace& space;
};
constexpr std::array kSpaceRows{SpaceRow{WorkloadKind::kInference, kInferenceArms},
                                SpaceRow{WorkloadKind::kTraining, kTrainingArms}};

const ArmSpace& space_of(WorkloadKind kind) {
  const auto* row = std::ranges::find(kSpaceRows, kind, &SpaceRow::kind);
  if (row == kSpaceRows.end()) throw Error(ErrorCode::kInternal, "a search is about inference or training");
  return row->space;
}

// Axes that were asked for by name must be there, and choose something.
void check_axes(const TuneRequest& request, const config::FlagSet& typed, const ArmSpace& space,
                const TunedThings& things) {
  for (const auto& name : request.axes) {
    const auto axis = std::ranges::find(space.axes, name, &ArmAxis::name);
    if (axis == space.axes.end()) {
      std::vector<std::string> names;
      for (const auto& one : space.axes) names.emplace_back(one.name);
      throw Error(ErrorCode::kUsage,
                  fmt::format("--axes {}: a search of {} has no such axis; it has {}", name,
                              traits_of(request.kind).command.name, join(names, ", ")));
    }
    const auto why = typed.has(axis->option) ? std::string() : axis->no_choice(things);
    if (!why.empty()) throw Error(ErrorCode::kUsage, fmt::format("--axes {}: {}", name, why));
  }
}

bool is_on(const ArmAxis& axis, const TuneRequest& request, const TunedThings& things) {
  if (!request.axes.empty()) return std::ranges::count(request.axes, axis.name) > 0;
  return axis.by_default(request, things) && axis.no_choice(things).empty();
}

void check_number_of_arms(const config::FlagSet& all, WorkloadKind kind) {
  double arms = 1;
  for (const auto& setting : all.settings) {
    const auto* option = config::find_option(setting.name, config::kind_bit(kind));
    if (option && option->is_axis())
      arms *= static_cast<double>(std::max<std::size_t>(setting.values.size(), 1));
  }
  if (arms > static_cast<double>(kMostArms))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("this space has {:.0f} arms, and a search takes {} at most; write fewer values, or "
                    "search one part after the other",
                    arms, kMostArms));
}

}  // namespace

void refuse_options(const config::FlagSet& typed) {
  for (const auto& setting : typed.settings)
    if (std::ranges::find(kOfRuns, setting.name) != kOfRuns.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: tune decides itself what it measures and how often; leave it out",
                              setting.written));
}

std::vector<std::string> words_of_arms(const TuneRequest& request, const config::FlagSet& typed,
                                       std::size_t rounds) {
  const auto& space = space_of(request.kind);
  refuse_options(typed);
  space.refuse(request, typed);
  const auto things = space.things(typed);
  check_axes(request, typed, space, things);
  auto words = request.words;
  const auto add = [&](std::string_view flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  for (auto& word : space.words(request, typed)) words.push_back(std::move(word));
  for (const auto& axis : space.axes) {
    if (typed.has(axis.option) || !is_on(axis, request, things)) continue;
    if (auto values = axis.values(things); !values.empty()) add(axis.flag, std::move(values));
  }
  if (!typed.has("experiment_name")) add("--experiment-name", "tune");
  check_number_of_arms(config::parse_flags(words, config::command_of(request.kind)), request.kind);
  add("--repetitions", std::to_string(rounds));
  return words;
}

}  // namespace paceline::cli
