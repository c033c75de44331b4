// SPDX-License-Identifier: MIT
#include "cli/run/plan_trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/error.h"
#include "base/own_file.h"
#include "cli/plugins.h"
#include "config/plan_code.h"

namespace paceline::cli {
namespace {

bool has_flag(const config::FlagSet& flags, std::string_view name) {
  return std::ranges::find(flags.settings, name, &config::RawSetting::name) != flags.settings.end();
}

std::vector<config::PlannedCode> code_to_ask_about(const config::FlagSet& flags,
                                                   const config::PlanText& plan) {
  auto code = config::code_in_plan(plan);
  if (has_flag(flags, "plugin")) std::erase_if(code, [](const auto& one) { return one.key == "plugin"; });
  return code;
}

}  // namespace

void check_trust(const config::FlagSet& flags, const config::Settings& options,
                 const std::optional<config::PlanText>& plan) {
  const auto path = plan_path(flags, options);
  if (!plan || !path || options.flag("trust")) return;
  const auto why = why_foreign(*path == "-" ? "/dev/stdin" : *path);
  if (!why) return;
  std::vector<config::Diagnostic> mistakes;
  for (const auto& code : code_to_ask_about(flags, *plan))
    mistakes.push_back(config::diagnostic(
        code.place, fmt::format("{} '{}' runs code, and {}; nothing was loaded: look at it, then add --trust",
                                code.key, shown_path(code.value), *why)));
  if (!mistakes.empty()) throw config::ConfigErrors(mistakes, ErrorCode::kUsage);
}

}  // namespace paceline::cli
