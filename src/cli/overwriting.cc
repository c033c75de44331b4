// SPDX-License-Identifier: MIT
// Finds outputs that are inputs of the same command.
#include "cli/overwriting.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "base/pretrained_model.h"
#include "config/option_table.h"
#include "run/case/model_parts.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

bool is_written(std::string_view name) {
  return std::ranges::any_of(config::option_groups(), [&](const config::OptionGroup& group) {
    return std::ranges::any_of(
        group.options, [&](const config::Option& option) { return option.written && option.name == name; });
  });
}

bool is_there(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

// The files that a value names: itself, or what follows the name of an input ("x:a.npy"), with the files that
// are read beside it.
std::vector<fs::path> files_of(const std::string& value) {
  auto file = value;  // names of inputs may hold colons
  while (!is_there(file) && file.find(':') != std::string::npos) file.erase(0, file.find(':') + 1);
  if (!is_there(file)) return {};
  const bool folder = is_pretrained_folder(file);
  const auto parts = run::model_parts(folder ? pretrained_weights(file).string() : file);
  std::vector<fs::path> files(parts.begin(), parts.end());
  if (folder) files.push_back(fs::path(file) / "config.json");
  return files;
}

const config::RawSetting* written(const config::FlagSet& flags, std::string_view name) {
  const auto found = std::ranges::find(flags.settings, name, &config::RawSetting::name);
  return found == flags.settings.end() ? nullptr : &*found;
}

}  // namespace

void check_overwrites_no_input(const config::FlagSet& flags, std::string_view output,
                               std::span<const fs::path> outputs) {
  const auto* setting = written(flags, output);
  const auto word = setting ? setting->written : std::string(output);
  for (const auto& out : outputs) {
    std::error_code why;
    if (fs::status(out, why).type() == fs::file_type::none)
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} '{}' cannot be used: {}", word, shown_path(out.string()), why.message()));
  }
  const auto check = [&](const std::string& value, const std::string& reader) {
    for (const auto& file : files_of(value))
      for (const auto& out : outputs) {
        std::error_code absent;
        if (!fs::equivalent(out, file, absent) || absent) continue;
        throw Error(ErrorCode::kUsage,
                    fmt::format("{} would overwrite '{}', which {} reads; name another file", word,
                                shown_path(file.string()), reader));
      }
  };
  for (const auto& option : flags.settings)
    if (!is_written(option.name))
      for (const auto& value : option.values) check(value.text, option.written);
  for (const auto& argument : flags.positionals) check(argument, "this command");
}

}  // namespace paceline::cli
