// SPDX-License-Identifier: MIT
#include "stats/student_t.h"

#include <boost/math/distributions/students_t.hpp>

#include "stats/interval.h"

namespace paceline::stats {

double student_t(double degrees_of_freedom, double confidence) {
  const boost::math::students_t_distribution<double> t(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(t, tail(confidence)));
}

}  // namespace paceline::stats
