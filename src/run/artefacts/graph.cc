// SPDX-License-Identifier: MIT
#include "run/artefacts/graph.h"

namespace paceline::run {

const pass::PassReport& Graph::want(const Target& target) {
  const auto [entry, first] = made_.try_emplace(target.key);
  auto& made = entry->second;
  if (first) {
    try {
      for (const auto& input : target.inputs) want(input);
      made.report = target.make();
    } catch (...) {
      made.failure = std::current_exception();
    }
  }
  if (made.failure) std::rethrow_exception(made.failure);
  return made.report;
}

}  // namespace paceline::run
