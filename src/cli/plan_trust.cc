// SPDX-License-Identifier: MIT
#include "cli/plan_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/sha256.h"
#include "cli/plugins.h"
#include "config/plan_code.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// One empty file a piece of code, named after the option and what it means in this folder.
fs::path memory_of(const config::PlannedCode& code) {
  const auto where = code.value.starts_with('/') ? "" : fs::current_path().string();
  return cache_dir() / "loaded" / sha256_hex(fmt::format("{}\n{}\n{}", code.key, where, code.value));
}

bool was_loaded_before(const config::PlannedCode& code) {
  try {
    return fs::exists(memory_of(code));
  } catch (const std::exception&) {
    return false;  // no cache folder, or none that can be read
  }
}

bool has_flag(const config::FlagSet& flags, std::string_view name) {
  return std::ranges::find(flags.settings, name, &config::RawSetting::name) != flags.settings.end();
}

std::vector<config::PlannedCode> code_to_ask_about(const config::FlagSet& flags, const config::PlanText& plan,
                                                   bool stored) {
  auto code = config::code_in_plan(plan);
  std::erase_if(code, [&](const config::PlannedCode& one) {
    return (one.key == "plugin" && has_flag(flags, "plugin")) || (stored && was_loaded_before(one));
  });
  return code;
}

}  // namespace

void check_trust(const config::FlagSet& flags, const config::Settings& options,
                 const std::optional<config::PlanText>& plan) {
  const auto path = plan_path(flags, options);
  if (!plan || !path || options.flag("trust")) return;
  const bool stored = options.has("resume");
  const std::string why = stored ? "no run of yours on this machine has loaded it" : why_foreign(*path);
  if (why.empty()) return;
  std::vector<config::Diagnostic> mistakes;
  for (const auto& code : code_to_ask_about(flags, *plan, stored))
    mistakes.push_back(config::diagnostic(
        code.place, fmt::format("{} '{}' runs code, and {}; nothing was loaded: look at it, then add --trust",
                                code.key, shown_path(code.value), why)));
  if (!mistakes.empty()) throw config::ConfigErrors(mistakes, ErrorCode::kUsage);
}

void remember_code(const config::Plan& plan) {
  try {
    for (const auto& code : config::code_in_plan({config::effective_yaml(plan), "plan"})) {
      const auto memory = memory_of(code);
      if (fs::exists(memory)) continue;
      fs::create_directories(memory.parent_path());
      replace_file(memory, "");
    }
  } catch (const std::exception&) {  // --resume will ask
  }
}

}  // namespace paceline::cli
