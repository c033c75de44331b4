// SPDX-License-Identifier: MIT
#include "host/machine/memory_budget.h"

#include <fmt/format.h>

#include "base/units.h"
#include "host/machine/memory.h"

namespace paceline::host {
namespace {

constexpr double kBudgetShare = 0.75;  // the rest is for what else this process and the system hold

}  // namespace

void require_memory(double bytes, const std::string& what) {
  const auto usable = usable_bytes(read_memory(SystemFiles{}));
  if (!usable || bytes <= kBudgetShare * static_cast<double>(*usable)) return;
  throw OutOfMemory(
      fmt::format("out of memory: {} would take {}, and {} are available (at most {:.0f} % of them are "
                  "used); use smaller inputs or batches, or raise the memory limit",
                  what, format_bytes(bytes), format_bytes(static_cast<double>(*usable)), kBudgetShare * 100));
}

}  // namespace paceline::host
