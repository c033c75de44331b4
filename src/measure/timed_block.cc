// SPDX-License-Identifier: MIT
#include "measure/timed_block.h"

namespace paceline::measure {

void prepare(std::vector<Sample>& samples, std::int64_t count) {
  const auto size = samples.size();
  const auto wanted = static_cast<std::size_t>(count);
  if (wanted <= size) return;
  samples.resize(wanted);  // touches the new pages, so that they are not faulted in while measuring
  samples.resize(size);
}

}  // namespace paceline::measure
