// SPDX-License-Identifier: MIT
#include "cli/tune/stored_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/tune/arm_space.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSearchFile = "tune_request.json";
// Options that decide what is searched; the others are about this process.
constexpr std::array<std::string_view, 5> kKeptOptions{"objective", "tune_slo", "min_accuracy", "budget",
                                                       "axes"};

// "--slo=p99<=20ms" for each value.
std::vector<std::string> kept_words(const config::FlagSet& own) {
  std::vector<std::string> words;
  for (const auto& setting : own.settings) {
    if (std::ranges::find(kKeptOptions, setting.name) == kKeptOptions.end()) continue;
    for (const auto& value : setting.values) words.push_back(setting.written + "=" + value.text);
  }
  return words;
}

std::vector<std::string> stored_words(const fs::path& folder) {
  const auto file = folder / kSearchFile;
  std::error_code missing;
  if (!fs::exists(file, missing))
    throw Error(ErrorCode::kUsage,
                fmt::format("--resume {}: this folder has no {}; name that of a search by paceline tune",
                            shown_path(folder.string()), kSearchFile));
  try {
    return parsed_json(read_file(file)).at("options").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kData, fmt::format("'{}' is damaged: {}; start the search again", file.string(),
                                              plain_reason(error)));
  }
}

std::string option_name(const std::string& word) {
  const auto flags = config::parse_flags(std::vector{word}, config::kTune);
  return flags.settings.empty() ? "" : flags.settings.front().name;
}

[[noreturn]] void refuse_change(const TuneRequest& now, std::string_view option, std::string_view decided) {
  const auto setting = std::ranges::find(now.own.settings, option, &config::RawSetting::name);
  throw Error(ErrorCode::kUsage, fmt::format("{}: --resume goes on with {} of its first part; start a new "
                                             "search for others",
                                             setting->written, decided));
}

// The arms, and what their outputs are checked for, stand in the plan of the run.
void refuse_changes(const TuneRequest& now, const TuneRequest& before) {
  if (now.own.has("axes") && now.axes != before.axes) refuse_change(now, "axes", "the arms");
  if (now.most_top1_change && now.most_top1_change != before.most_top1_change)
    refuse_change(now, "min_accuracy", "the limit on top1");
}

void refuse_other_kind(const TuneRequest& now, const TuneRequest& before, const std::string& folder) {
  if (!now.names_kind || now.kind == before.kind) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("tune {} --resume {}: that is a search of {}; write paceline tune --resume {}",
                          traits_of(now.kind).command.name, shown_path(folder),
                          traits_of(before.kind).command.name, shown_path(folder)));
}

std::string_view metric_of(const Limit& limit) {
  return limit.gate ? std::string_view(limit.gate->metric) : "";
}

// A limit gives way to a new one on its metric, another option to a new value.
bool is_replaced(const std::string& word, const TuneRequest& now) {
  const auto before = tune_request({word});
  if (before.limits.empty()) return now.own.has(option_name(word));
  return std::ranges::any_of(before.limits, [&](const Limit& old) {
    return std::ranges::any_of(now.limits,
                               [&](const Limit& one) { return metric_of(one) == metric_of(old); });
  });
}

}  // namespace

void keep_search(const fs::path& folder, const TuneRequest& request) {
  auto words = kept_words(request.own);
  if (request.names_kind) words.emplace(words.begin(), traits_of(request.kind).command.name);
  const nlohmann::json stored{{"options", words}};
  replace_file(folder / kSearchFile, stored.dump(2) + "\n");
}

void take_stored_search(TuneRequest& request) {
  const auto typed = config::parse_flags(request.words, config::command_of(request.kind));
  const auto resume = std::ranges::find(typed.settings, "resume", &config::RawSetting::name);
  if (resume == typed.settings.end() || resume->values.empty()) return;
  refuse_options(typed);
  const auto& folder = resume->values.front().text;
  auto arguments = stored_words(folder);
  const auto before = tune_request(arguments);
  refuse_other_kind(request, before, folder);
  refuse_changes(request, before);
  std::erase_if(arguments, [&](const auto& word) { return is_replaced(word, request); });
  for (const auto& word : kept_words(request.own)) arguments.push_back(word);
  auto combined = tune_request(arguments);
  combined.words = request.words;
  request = std::move(combined);
}

}  // namespace paceline::cli
