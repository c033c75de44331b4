// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline::monitor {

// The page with live charts: one document, embedded at build time, that asks /live.json.
std::string_view page();

}  // namespace paceline::monitor
