// SPDX-License-Identifier: MIT
#include "run/inference/recorded_schedule.h"

#include <map>
#include <utility>

#include "base/arrival_file.h"
#include "base/error.h"
#include "config/inference/arrivals.h"

namespace paceline::run {

std::optional<RecordedSchedule> recorded_schedule(const config::Settings& s) try {
  // A run asks again and again for what a file of millions of lines says.
  static std::map<std::pair<std::string, bool>, RecordedSchedule> known;
  const auto file = config::schedule_file(s);
  if (file.empty()) return std::nullopt;
  const std::pair key{file, s.has("arrival_rate_per_s") || s.has("server.load")};
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const auto schedule = read_arrivals(file);
  return known[key] = {static_cast<double>(schedule.seconds.size()), schedule.rate_per_s(),
                       times_digest(schedule, key.second)};
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace paceline::run
