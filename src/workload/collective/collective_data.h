// SPDX-License-Identifier: MIT
// Data that ranks send when collectives are checked, and what they must get. The values are small integers,
// so that the results are exact in every element type, or nearly so where a backend adds them one after the
// other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/communicator.h"

namespace paceline::workload {

// One rank of several.
struct RankOf {
  std::int64_t rank = 0;
  std::int64_t world = 1;
};

// Data that `of` sends, as bytes of the call's element type.
std::vector<std::byte> sent_data(const plugin::CollectiveCall& call, RankOf of);

// How many elements of what `of` received are not as they must be. None where nothing is defined: a barrier,
// a reduce on any rank but the root.
std::int64_t count_wrong(const plugin::CollectiveCall& call, RankOf of,
                         const std::vector<std::byte>& received);

}  // namespace paceline::workload
