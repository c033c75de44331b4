// SPDX-License-Identifier: MIT
#include "stats/student_t.h"

#include <boost/math/distributions/students_t.hpp>

#include "stats/interval.h"

namespace paceline::stats {

double student_t(double degrees_of_freedom, double confidence) {
  const boost::math::students_t_distribution<double> t(degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(t, tail(confidence)));
}

double student_t_above(double degrees_of_freedom, double t) {
  const boost::math::students_t_distribution<double> distribution(degrees_of_freedom);
  return boost::math::cdf(boost::math::complement(distribution, t));
}

}  // namespace paceline::stats
