// SPDX-License-Identifier: MIT
// Any text is a plan or an Error; a plan written out with its defaults loads again to the same plan.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/plan.h"

namespace {

constexpr std::size_t kMaxExpanded = 2000;  // more cases cost time and show nothing new

void check_round_trip(const paceline::config::Plan& plan) {
  const auto again = paceline::config::load_plan_text(paceline::config::effective_yaml(plan), "effective");
  if (!same_plan(plan, again)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<paceline::config::Plan> plan;
  try {
    plan = paceline::config::load_plan_text(text, "fuzzed.yaml");
    if (count_cases(*plan) <= kMaxExpanded) expand(*plan);
  } catch (const paceline::Error&) {
    return 0;
  }
  check_round_trip(*plan);
  return 0;
}
