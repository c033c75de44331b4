// SPDX-License-Identifier: MIT
#include "compare/blocks.h"

#include "base/random.h"

namespace paceline::compare {
namespace {

constexpr std::size_t kBlock = 4;  // processes

}  // namespace

std::vector<std::size_t> block_order(std::size_t pairs, std::uint64_t seed, std::size_t first) {
  const CounterRng coin(seed, hash64("block order"));
  std::vector<std::size_t> order;
  for (std::size_t pair = first; pair < first + pairs; ++pair) {
    const bool flipped = (coin.bits(pair / 2) & 1U) != (pair % 2);
    order.push_back(flipped ? 1 : 0);
    order.push_back(flipped ? 0 : 1);
  }
  return order;
}

std::string order_words(const std::vector<std::size_t>& order) {
  std::string words;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && i % kBlock == 0) words += ' ';
    words += order[i] == 0 ? 'A' : 'B';
  }
  return words;
}

}  // namespace paceline::compare
