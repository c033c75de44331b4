// SPDX-License-Identifier: MIT
#include "analysis/step_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <set>

#include "analysis/case_query.h"
#include "base/units.h"
#include "result/judged/training_scaling.h"

namespace paceline::analysis {
namespace {

constexpr double kMostError = 0.10;    // of a prediction that was checked
constexpr double kLeastBand = 0.02;    // relative half-width: what the model leaves out
constexpr std::int64_t kFarthest = 4;  // times the largest world measured

double steps_of_ring(std::int64_t world) {
  return 2 * static_cast<double>(world - 1);
}

double share_of_ring(std::int64_t world) {
  return steps_of_ring(world) / static_cast<double>(world);
}

// Attributes waiting beyond jitter at the largest world to a persistent straggler.
double lasting_wait(const ScalePoint& point) {
  return std::max(0.0, point.straggler_wait_ns - point.own_sd_ns * expected_largest(point.world));
}

// From points in order of their worlds.
Prediction predicted(const std::vector<ScalePoint>& points, const RingCost& link, std::int64_t world) {
  const ScalePoint& largest = points.back();
  Prediction p;
  p.world = world;
  p.own_ns = largest.own_ns;
  p.straggler_wait_ns = lasting_wait(largest) + largest.own_sd_ns * expected_largest(world);
  p.communication_ns = exposed_communication(largest.buckets, link, world);
  p.step_ns = p.own_ns + p.straggler_wait_ns + p.communication_ns;
  p.model_only = world > kFarthest * largest.world;
  return p;
}

// Largest relative error over the points themselves.
double fit_error(const std::vector<ScalePoint>& points, const RingCost& link) {
  double most = 0;
  for (const auto& point : points)
    if (point.world > 1)
      most = std::max(most, std::abs(predicted({point}, link, point.world).step_ns / point.step_ns() - 1));
  return most;
}

bool has_transfers(const ScalePoint& point) {
  return point.world > 1 &&
         std::ranges::any_of(point.buckets, [](const auto& b) { return b.transfer_ns > 0; });
}

std::string obstacle_of(const std::vector<ScalePoint>& points) {
  const auto several = std::ranges::count_if(points, [](const auto& p) { return p.world > 1; });
  if (several < 2)
    return "a prediction needs two measured numbers of ranks above 1: one to predict from, one to check it";
  if (!std::ranges::all_of(points, [](const auto& p) { return p.world == 1 || has_transfers(p); }))
    return "the ends of all-reduces were not heard of, so their cost is not known";
  return {};
}

// Predicts the largest world from those up to half of it.
double held_out(const std::vector<ScalePoint>& points) {
  std::vector<ScalePoint> smaller;
  for (const auto& point : points)
    if (2 * point.world <= points.back().world) smaller.push_back(point);
  if (smaller.empty() || smaller.back().world < 2) smaller.assign(points.begin(), points.end() - 1);
  return predicted(smaller, fit_ring(smaller), points.back().world).step_ns / points.back().step_ns() - 1;
}

}  // namespace

double exposed_communication(const std::vector<ReadyBucket>& buckets, const RingCost& link,
                             std::int64_t world) {
  double through = -1e18;
  for (const auto& bucket : buckets)
    through = std::max(through, -bucket.before_last_ns) + link.of(bucket.bytes, world);
  return buckets.empty() ? 0 : std::max(0.0, through);
}

double RingCost::of(double bytes, std::int64_t world) const {
  return world < 2 ? 0 : steps_of_ring(world) * alpha_ns + share_of_ring(world) * bytes * ns_per_byte;
}

RingCost fit_ring(const std::vector<ScalePoint>& points) {
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const auto& point : points)
    for (const auto& bucket : point.buckets) {
      if (point.world < 2 || bucket.transfer_ns <= 0) continue;
      const double x = steps_of_ring(point.world) / bucket.transfer_ns;
      const double y = share_of_ring(point.world) * bucket.bytes / bucket.transfer_ns;
      aa += x * x, ab += x * y, bb += y * y, a += x, b += y;
    }
  const double determinant = aa * bb - ab * ab;
  RingCost cost;
  if (determinant > 1e-12 * aa * bb) {
    cost.alpha_ns = (a * bb - b * ab) / determinant;
    cost.ns_per_byte = (b * aa - a * ab) / determinant;
  }
  if (cost.alpha_ns <= 0) cost = {0, bb > 0 ? b / bb : 0};
  if (cost.ns_per_byte <= 0) cost = {aa > 0 ? a / aa : 0, 0};
  return cost;
}

double expected_largest(std::int64_t n) {
  if (n < 2) return 0;
  const auto ranks = static_cast<double>(n);
  return boost::math::quantile(boost::math::normal(), (ranks - 0.375) / (ranks + 0.25));
}

PredictionStudy predict_steps(std::vector<ScalePoint> points, const std::vector<std::int64_t>& worlds) {
  std::ranges::sort(points, {}, &ScalePoint::world);
  PredictionStudy study;
  study.refused = obstacle_of(points);
  if (!study.refused.empty()) return study;
  study.held_out_world = points.back().world;
  study.held_out_error = held_out(points);
  if (std::abs(study.held_out_error) > kMostError) {
    study.refused = fmt::format(
        "from fewer ranks the model predicts the step of {} ranks {} wrong; at most {} "
        "is accepted",
        study.held_out_world, format_percent(std::abs(study.held_out_error)), format_percent(kMostError));
    return study;
  }
  study.link = fit_ring(points);
  const ScalePoint& largest = points.back();
  const double relative = std::hypot(largest.half_width_ns / largest.step_ns(), kLeastBand) +
                          std::max(std::abs(study.held_out_error), fit_error(points, study.link));
  for (const std::int64_t world : worlds) {
    auto& p = study.predictions.emplace_back(predicted(points, study.link, world));
    p.low_ns = p.step_ns * (1 - relative), p.high_ns = p.step_ns * (1 + relative);
  }
  return study;
}

std::vector<ScalePoint> point_of(const result::CaseResult& one) {
  if (!one.training() || !one.training()->costs.step_ns.value) return {};
  const auto& t = *one.training();
  const auto& c = t.costs;
  ScalePoint point;
  point.world = one.benchmark.world_size;
  point.straggler_wait_ns = *c.straggler_wait_ns.value;
  point.communication_ns = *c.communication_ns.value;
  point.own_ns = *c.step_ns.value - point.straggler_wait_ns - point.communication_ns;
  point.own_sd_ns = c.own_sd_ns.value.value().value_or(0);
  if (c.step_ns.ci_low && c.step_ns.ci_high)
    point.half_width_ns = (*c.step_ns.ci_high - *c.step_ns.ci_low) / 2;
  double last = 0;
  for (const auto& bucket : t.buckets) last = std::max(last, bucket.launched_ns.value().value_or(0));
  for (const auto& bucket : t.buckets)
    point.buckets.push_back({static_cast<double>(bucket.bytes), last - bucket.launched_ns.value().value_or(0),
                             bucket.transfer_ns.value().value_or(0)});
  return {point};
}

bool is_on_hosts(const result::CaseResult& one) {
  if (!one.training()) return false;
  const auto& ranks = one.training()->ranks;
  return std::ranges::any_of(ranks, [&](const auto& rank) { return rank.host != ranks.front().host; });
}

PredictionStudy predict_beyond(const result::RunResult& run, const std::string& base_case_id) {
  std::vector<ScalePoint> points;
  std::string doubt;
  std::set<bool> on_hosts;  // of the cases with several ranks
  const auto* base = find_case(run, base_case_id);
  for (const auto& one : run.cases) {
    const bool compared = one.scaling && one.scaling->base_case_id == base_case_id;
    if (one.case_id != base_case_id && !compared) continue;
    if (compared && doubt.empty()) doubt = result::scaling_doubt(one);
    for (auto& point : point_of(one)) points.push_back(std::move(point));
    if (one.benchmark.world_size > 1) on_hosts.insert(is_on_hosts(one));
  }
  PredictionStudy nothing;
  if (base != nullptr && base->benchmark.params.contains("training.scaling"))
    nothing.refused = "with strong scaling the work of a rank is another one with every number of ranks";
  else if (points.empty())
    nothing.refused = "no step was measured";
  else if (on_hosts.size() > 1)
    nothing.refused =
        "some cases have their ranks on one host and others on several, which have another link between them";
  if (!nothing.refused.empty()) return nothing;
  const std::int64_t largest = std::ranges::max(points, {}, &ScalePoint::world).world;
  auto study = predict_steps(std::move(points), {2 * largest, 4 * largest, 8 * largest});
  study.doubt = doubt;
  for (auto& p : study.predictions) p.model_only = p.model_only || !doubt.empty();
  return study;
}

}  // namespace paceline::analysis
