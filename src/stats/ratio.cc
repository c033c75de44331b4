// SPDX-License-Identifier: MIT
#include "stats/ratio.h"

#include <cmath>

namespace paceline::stats {

Bracketed ratio_of(const Bracketed& numerator, const Bracketed& denominator) {
  const auto below = [](const Bracketed& e) { return std::log(e.value / e.ci.low); };
  const auto above = [](const Bracketed& e) { return std::log(e.ci.high / e.value); };
  const double ratio = numerator.value / denominator.value;
  return {ratio,
          {ratio * std::exp(-std::hypot(below(numerator), above(denominator))),
           ratio * std::exp(std::hypot(above(numerator), below(denominator)))}};
}

}  // namespace paceline::stats
