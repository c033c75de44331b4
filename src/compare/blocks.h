// SPDX-License-Identifier: MIT
// Order in which the processes of two sides run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paceline::compare {

// Sides (0, 1) of each process: blocks of two pairs, ABBA or BAAB by a coin flip; an odd last pair is AB or
// BA. `first`: number of the first pair, so that more pairs continue the order.
std::vector<std::size_t> block_order(std::size_t pairs, std::uint64_t seed, std::size_t first = 0);

// "ABBA BAAB AB"
std::string order_words(const std::vector<std::size_t>& order);

}  // namespace paceline::compare
