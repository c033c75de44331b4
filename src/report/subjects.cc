// SPDX-License-Identifier: MIT
#include "report/subjects.h"

#include <array>

namespace paceline::report {

std::span<const Subject* const> subjects() {
  static constexpr std::array kSubjects{&kTraining, &kOperators, &kCrossCheck, &kLayers};
  return kSubjects;
}

}  // namespace paceline::report
