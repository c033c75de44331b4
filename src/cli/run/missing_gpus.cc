// SPDX-License-Identifier: MIT
#include "cli/run/missing_gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "run/case/case_settings.h"

namespace paceline::cli {

void check_gpus(const config::Plan& plan, const std::vector<config::Case>& cases,
                const config::FlagSet& flags, const run::GpusHere& here) {
  for (const auto& c : cases) {
    const auto why = run::missing_devices(c, here);
    if (why.empty()) continue;
    const std::string option = run::device_numbers(c.settings).empty() ? "gpus" : "devices";
    const auto asked = plan.workloads.at(c.workload).settings.texts(option);
    const auto typed = std::ranges::find(flags.settings, option, &config::RawSetting::name);
    const auto words = typed == flags.settings.end() ? fmt::format("{}: [{}]", option, join(asked, ", "))
                                                     : typed->written + " " + join(asked, ",");
    throw Error(ErrorCode::kUsage, fmt::format("'{}': {}", words, why));
  }
}

}  // namespace paceline::cli
