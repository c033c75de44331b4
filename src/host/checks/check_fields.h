// SPDX-License-Identifier: MIT
// Words of verdicts in JSON about machines.
#pragma once
#include "answer/verdict.h"
#include "base/archive.h"

namespace paceline::archive {

template <>
struct EnumNames<answer::Verdict> {
  static constexpr auto kValue = [] {
    std::array<std::pair<answer::Verdict, std::string_view>, answer::kVerdicts.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i)
      names[i] = {answer::kVerdicts[i].verdict, answer::kVerdicts[i].of_machine};
    return names;
  }();
};

}  // namespace paceline::archive
