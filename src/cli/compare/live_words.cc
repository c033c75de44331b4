// SPDX-License-Identifier: MIT
#include "cli/compare/live_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/own_words.h"
#include "compare/commands.h"
#include "config/flags.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

// Flags that compare reads itself; all others are words of the command.
constexpr std::array<std::string_view, 17> kOfCompare{
    "a",      "b",       "a_env",     "b_env",  "a_program",     "b_program",
    "a_venv", "b_venv",  "threshold", "output", "answer_format", "json",
    "quiet",  "verbose", "no_color",  "help",   "same"};

struct SideOptions {
  std::string_view words, env, program, venv;
};
constexpr std::array<SideOptions, 2> kSides{
    {{"a", "a_env", "a_program", "a_venv"}, {"b", "b_env", "b_program", "b_venv"}}};

void require_assignment(const std::string& flag, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw Error(ErrorCode::kUsage, fmt::format("{} {}: write NAME=VALUE", flag, shown_value(text)));
}

// The package of ONNX Runtime in a Python environment; empty: there is none.
std::string onnxruntime_in(const fs::path& venv) {
  std::error_code missing;
  for (const auto& python : fs::directory_iterator(venv / "lib", missing))
    if (const auto package = python.path() / "site-packages" / "onnxruntime";
        fs::is_directory(package / "capi", missing))
      return package.string();
  return {};
}

// An environment with Paceline in it brings that one. Without it the plug-in here may load another ONNX
// Runtime; other libraries fit only what was built for them.
void use_venv(LiveSide& side, const std::string& flag, const std::string& venv) {
  const auto program = fs::path(venv) / "bin" / "paceline";
  std::error_code missing;
  if (fs::exists(program, missing)) {
    side.program = fs::absolute(program).string();
    return;
  }
  const auto package = onnxruntime_in(fs::absolute(venv));
  if (package.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("{} {}: this folder has neither bin/paceline nor the Python package onnxruntime; "
                            "install Paceline in that environment for other libraries",
                            flag, shown_path(venv)));
  side.env.push_back("ONNXRUNTIME_ROOT=" + package);
  side.remark = fmt::format("{} has no paceline: only its ONNX Runtime is used", shown_path(venv));
}

LiveSide side_of(std::size_t index, const std::vector<std::string>& common, const config::Settings& options) {
  const auto& row = kSides.at(index);
  const auto flag = [](std::string_view name) {
    std::string text = "--" + std::string(name);
    std::ranges::replace(text, '_', '-');
    return text;
  };
  LiveSide side;
  side.name = std::string(1, static_cast<char>('A' + index));
  side.words = common;
  std::vector<std::string> written;
  if (options.has(row.words)) {
    const auto& text = options.text(row.words);
    if (!trim(text).empty()) {
      const auto words = compare::command_words(flag(row.words), text);
      side.words.insert(side.words.end(), words.begin(), words.end());
      written.push_back(text);
    }
  }
  for (const auto& one : options.texts(row.env)) {
    require_assignment(flag(row.env), one);
    side.env.push_back(one);
    written.push_back(one);
  }
  if (options.has(row.program)) written.push_back(side.program = options.text(row.program));
  if (options.has(row.venv)) {
    use_venv(side, flag(row.venv), options.text(row.venv));
    written.push_back(options.text(row.venv));
  }
  side.written = join(written, " ");
  return side;
}

}  // namespace

std::optional<LiveWords> live_words(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const auto row = std::ranges::find_if(config::kFlagCommands, [&](const config::CommandRow& one) {
    return one.kinds != 0 && (one.bits & config::kProfile) == 0 && one.name == arguments.front();
  });
  if (row == config::kFlagCommands.end()) return std::nullopt;
  const auto [own, common] = split_own_words(std::span(arguments).subspan(1), config::kCompare, kOfCompare);
  LiveWords words{arguments.front(), row->bits, config::parse_flags(own, config::kCompare), {}};
  const auto options = config::command_settings(words.own);
  for (std::size_t i = 0; i < words.sides.size(); ++i) words.sides.at(i) = side_of(i, common, options);
  if (words.sides[0].written == words.sides[1].written && !options.flag("same"))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("compare {}: the sides do not differ; write what each has for itself, e.g. --a "
                    "'--engine onnxruntime' --b '--engine openvino', or --same to compare equal sides",
                    words.command));
  return words;
}

}  // namespace paceline::cli
