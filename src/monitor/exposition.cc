// SPDX-License-Identifier: MIT
#include "monitor/exposition.h"

#include <prometheus/text_serializer.h>

#include <utility>

namespace paceline::monitor {
namespace {

prometheus::ClientMetric metric_of(const Point& point, bool counter) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : point.labels) {
    prometheus::ClientMetric::Label label;
    label.name = name, label.value = value;
    metric.label.push_back(std::move(label));
  }
  if (counter)
    metric.counter.value = point.value;
  else
    metric.gauge.value = point.value;
  return metric;
}

}  // namespace

std::string exposition(const Snapshot& snapshot) {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& family : snapshot.families) {
    const bool counter = family.is_counter();
    prometheus::MetricFamily made;
    made.name = family.name, made.help = family.help;
    made.type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    for (const auto& point : family.points) made.metric.push_back(metric_of(point, counter));
    families.push_back(std::move(made));
  }
  return prometheus::TextSerializer{}.Serialize(families);
}

}  // namespace paceline::monitor
