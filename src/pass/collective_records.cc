// SPDX-License-Identifier: MIT
#include "pass/collective_records.h"

#include <array>

#include "base/bounded_json.h"
#include "pass/record_type.h"
#include "pass/report.h"
#include "result/stored/case_fields.h"

namespace paceline::pass {
namespace {

using archive::Writer;

// Joins the ranks' measurements of one size into the times of all.
result::CollectiveTimes joined(const std::vector<result::CollectiveTimes>& of_ranks) {
  if (of_ranks.empty()) throw Error(ErrorCode::kData, "a 'collective_times' record of no rank");
  auto all = of_ranks.front();
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    const auto& one = of_ranks[rank];
    if (one.bytes != all.bytes || one.in_place != all.in_place)
      throw Error(ErrorCode::kData, fmt::format("rank {} has timed {} bytes where rank 0 has timed {}", rank,
                                                one.bytes, all.bytes));
    all.wrong += one.wrong;
    all.batch_ns.insert(all.batch_ns.end(), one.batch_ns.begin(), one.batch_ns.end());
    all.sync_ns.insert(all.sync_ns.end(), one.sync_ns.begin(), one.sync_ns.end());
    all.stream_ns.insert(all.stream_ns.end(), one.stream_ns.begin(), one.stream_ns.end());
  }
  return all;
}

void take_times(PassReport& report, const Json& json) {
  std::vector<result::CollectiveTimes> of_ranks;
  read(json, "ranks", of_ranks);
  report.fill<SweepReport>().times.push_back(joined(of_ranks));
}

void take_rounds(PassReport& report, const Json& json) {
  std::vector<result::RoundTimes> of_round;
  read(json, "subsets", of_round);
  auto& rounds = report.fill<SweepReport>().rounds;
  rounds.insert(rounds.end(), of_round.begin(), of_round.end());
}

constexpr std::array kCollectiveTypes{
    RecordType{
        "collective",
        [](PassReport& r, const Json& j) { read(j, "collective", r.fill<SweepReport>().known.emplace()); }},
    RecordType{"collective_times", take_times, true},
    RecordType{"round_times", take_rounds, true},
};

}  // namespace

std::span<const RecordType> collective_records() {
  return kCollectiveTypes;
}

Json collective_record(const result::CollectiveResult& known) {
  return record("collective", "collective", Writer::write(known));
}
std::string collective_times_text(const result::CollectiveTimes& of_one_rank) {
  return Writer::write(of_one_rank).dump();
}
Json collective_times_record(const std::vector<std::string>& of_ranks) {
  Json all = Json::array();
  for (const auto& text : of_ranks) all.push_back(parsed_json(text));
  return record("collective_times", "ranks", std::move(all));
}
Json round_times_record(const std::vector<result::RoundTimes>& of_round) {
  return record("round_times", "subsets", Writer::write(of_round));
}

}  // namespace paceline::pass
