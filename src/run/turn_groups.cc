// SPDX-License-Identifier: MIT
#include "run/turn_groups.h"

#include <algorithm>

#include "host/machine/memory.h"
#include "result/figures/pair_ratio.h"
#include "run/case/kind_rules.h"

namespace paceline::run {
namespace {

constexpr std::size_t kMostInTurns = 8;  // each waits for all others

bool switched_off(const CaseRun& c) {
  const auto& settings = c.definition.settings;
  return settings.has("turns") && !settings.flag("turns");
}

}  // namespace

std::string why_not_in_turns(const std::vector<const CaseRun*>& cases, const RunSetup& setup) {
  if (cases.size() < 2) return "there is no other case";
  if (cases.size() > kMostInTurns) return "there are more than 8 cases";
  if (setup.in_process || setup.launch) return "its processes are started by others";
  double bytes = 0;
  for (const auto* c : cases) {
    if (switched_off(*c)) return "turns is false";
    // Checks would come before the first figure, and nothing is claimed.
    if (c->result.repetitions_planned < result::kPairsForClaim) return "there are fewer than six pairs";
    const auto waiting = kind_rules(c->definition.kind).waiting(*c);
    if (!waiting.refused.empty()) return waiting.refused;
    bytes += waiting.bytes;
  }
  const auto usable = host::usable_bytes(host::read_memory(host::SystemFiles{}));
  if (!usable || bytes > static_cast<double>(*usable)) return "their models may not fit into memory together";
  return {};
}

}  // namespace paceline::run
