// SPDX-License-Identifier: MIT
#include "config/collective/bandwidth_limit.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/text.h"
#include "config/option_table.h"
#include "config/value.h"

namespace paceline::config {

BandwidthLimit parse_bandwidth_limit(std::string_view text) {
  const auto colon = text.find(':');
  const auto refuse = [&](std::string_view why) {
    throw Error(ErrorCode::kConfig,
                fmt::format("min_busbw '{}': {}; write SIZE:GBps, e.g. 64M:1.5", text, why));
  };
  if (colon == std::string_view::npos) refuse("no ':'");
  const auto size = convert(*find_option("min_bytes", kind_bit(WorkloadKind::kCollective)),
                            {std::string(trim(text.substr(0, colon))), {}, false});
  const auto rate = parse_double(trim(text.substr(colon + 1)));
  if (!size.problem.empty()) refuse(size.problem);
  if (!rate || *rate <= 0) refuse("no bandwidth above 0");
  return {std::get<std::int64_t>(*size.value), *rate};
}

}  // namespace paceline::config
