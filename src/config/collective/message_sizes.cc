// SPDX-License-Identifier: MIT
#include "config/collective/message_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace paceline::config {
namespace {
constexpr std::size_t kMostSizes = 100'000;
}

std::vector<std::int64_t> message_sizes(const Settings& s) {
  const auto last = s.integer("max_bytes");
  std::vector<std::int64_t> sizes;
  for (auto size = s.integer("min_bytes"); size <= last;) {
    if (sizes.size() == kMostSizes)
      throw Error(ErrorCode::kConfig,
                  fmt::format("a sweep from {} to {} bytes has more than {} sizes; make its steps larger",
                              sizes.front(), last, kMostSizes));
    sizes.push_back(size);
    const auto next = s.has("step_bytes") ? size + s.integer("step_bytes")
                                          : std::llround(static_cast<double>(size) * s.number("step_factor"));
    size = std::max<std::int64_t>(next, size + 1);
  }
  return sizes;
}

}  // namespace paceline::config
