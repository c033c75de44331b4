// SPDX-License-Identifier: MIT
#include "monitor/snapshot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"

namespace paceline::monitor {
namespace {

using Json = nlohmann::json;

bool has_labels(const Point& point, const Labels& wanted) {
  return std::ranges::all_of(
      wanted, [&](const auto& one) { return std::ranges::find(point.labels, one) != point.labels.end(); });
}

Json points_json(const std::vector<Point>& points) {
  Json all = Json::array();
  for (const auto& point : points) {
    Json labels = Json::object();
    for (const auto& [name, value] : point.labels) labels[name] = value;
    all.push_back({{"labels", std::move(labels)}, {"value", point.value}});
  }
  return all;
}

Point point_of(const Json& json) {
  Point point{{}, json.at("value").get<double>()};
  for (const auto& [name, value] : json.at("labels").items())
    point.labels.emplace_back(name, value.get<std::string>());
  return point;
}

Snapshot read(const Json& json) {
  Snapshot read;
  read.utc_ms = json.at("utc_ms").get<std::int64_t>();
  constexpr std::int64_t kLastOfYear9999 = 253'402'300'799'999;  // later years have no form of dates
  if (read.utc_ms < 0 || read.utc_ms > kLastOfYear9999)
    throw Error(ErrorCode::kData,
                fmt::format("utc_ms {} is not between the years 1970 and 9999", read.utc_ms));
  read.steady_ns = json.at("steady_ns").get<std::int64_t>();
  for (const auto& [name, points] : json.at("families").items()) {
    Family family{name, "", {}};
    if (points.size() > kMostPoints)
      throw Error(ErrorCode::kData,
                  fmt::format("{} has more than {} points", shown_value(name), kMostPoints));
    for (const auto& point : points) family.points.push_back(point_of(point));
    read.families.push_back(std::move(family));
  }
  for (const auto& run : json.at("runs")) read.runs.push_back(live_run_of(run));
  read.absent = json.at("absent").get<std::vector<std::string>>();
  return read;
}

}  // namespace

void Snapshot::add(std::string_view name, std::string_view help, Labels labels, double value) {
  auto found = std::ranges::find(families, name, &Family::name);
  if (found == families.end())
    found = families.insert(found, Family{std::string(name), std::string(help), {}});
  found->points.push_back({std::move(labels), value});
}

const Family* Snapshot::find(std::string_view name) const {
  const auto found = std::ranges::find(families, name, &Family::name);
  return found == families.end() ? nullptr : &*found;
}

std::optional<double> Snapshot::value(std::string_view name, const Labels& labels) const {
  const auto* family = find(name);
  if (!family) return std::nullopt;
  const auto found =
      std::ranges::find_if(family->points, [&](const Point& point) { return has_labels(point, labels); });
  return found == family->points.end() ? std::nullopt : std::optional(found->value);
}

std::string label_of(const Point& point, std::string_view name) {
  const auto found = std::ranges::find(point.labels, name, [](const auto& one) { return one.first; });
  return found == point.labels.end() ? "" : found->second;
}

std::optional<double> rate(const Snapshot& before, const Snapshot& now, std::string_view counter,
                           const Labels& labels) {
  const auto from = before.value(counter, labels), to = now.value(counter, labels);
  const auto elapsed_s = static_cast<double>(now.steady_ns - before.steady_ns) * 1e-9;
  if (!from || !to || *to < *from || elapsed_s <= 0) return std::nullopt;
  return (*to - *from) / elapsed_s;
}

Json to_json(const Snapshot& snapshot) {
  Json families = Json::object(), runs = Json::array();
  for (const auto& family : snapshot.families) families[family.name] = points_json(family.points);
  for (const auto& run : snapshot.runs) runs.push_back(to_json(run));
  return {{"utc_ms", snapshot.utc_ms},
          {"steady_ns", snapshot.steady_ns},
          {"families", std::move(families)},
          {"runs", std::move(runs)},
          {"absent", snapshot.absent}};
}

Snapshot snapshot_of(const Json& json) {
  try {
    return read(json);
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kData, "not a snapshot of the monitor: " + plain_reason(e));
  }
}

}  // namespace paceline::monitor
