// SPDX-License-Identifier: MIT
#include "host/checks/fleet_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"

namespace paceline::host {
namespace {

constexpr std::array<Verdict, 4> kStatuses{Verdict::kYes, Verdict::kReservedly, Verdict::kNo,
                                           Verdict::kNotAsked};

CheckedRow row_from(const nlohmann::json& json) {
  const std::string word = json.at("status");
  const auto status = std::ranges::find(kStatuses, word, answer::machine_word);
  if (status == kStatuses.end())
    throw Error(ErrorCode::kData, "a check has the unknown status " + paceline::shown_value(word));
  const auto text = [&](const char* key) { return on_one_line(json.at(key).get<std::string>()); };
  return {text("name"), {}, {*status, text("text"), text("fix")}};
}

nlohmann::json object_in(std::string_view text) {
  const auto begin = text.starts_with("{\n") ? 0 : text.find("\n{\n");
  return begin == std::string_view::npos ? nlohmann::json(nlohmann::json::value_t::discarded)
                                         : json_or_discarded(text.substr(begin));
}

}  // namespace

std::optional<FleetAnswer> fleet_answer(std::string_view text, const std::string& host) {
  const auto json = object_in(text);
  if (!json.is_object()) return std::nullopt;
  FleetAnswer answer;
  if (!json.contains("machine")) return answer;
  const auto& checks = json.at("checks");
  if (!checks.is_array()) throw Error(ErrorCode::kData, "its checks are no list");
  if (checks.size() > kMostFacts)
    throw Error(ErrorCode::kData, fmt::format("it has more than {} checks", kMostFacts));
  for (const auto& one : checks)
    if (auto row = row_from(one);
        row.result.status == Verdict::kNo || row.result.status == Verdict::kReservedly)
      answer.checks.push_back(std::move(row));
  answer.machine = machine_from_json(json.at("machine"), "the answer of " + host);
  return answer;
}

}  // namespace paceline::host
