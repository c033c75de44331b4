// SPDX-License-Identifier: MIT
#include <algorithm>

#include "analysis/difference/difference_words.h"
#include "compare/comparison_answer.h"
#include "compare/words.h"

namespace paceline::compare {
namespace {

using Json = nlohmann::json;

void put(Json& json, const char* name, const Number& number) {
  json[name] = number ? Json(*number) : Json();
  if (!number) json[std::string(name) + "_reason"] = number.reason();
}

Json figure_json(const Figure& figure, const Comparison& comparison, Pairing pairing) {
  Json json{{"metric", figure.name},
            {"title", figure.title},
            {"unit", figure.unit},
            {"better", figure.better == stats::Better::kLower ? "lower" : "higher"},
            {"decides", figure.decides},
            {"verdict", stats::verdict_name(figure.verdict)},
            {"shows", stats::verdict_name(figure.shows)},
            {"doubt", figure.doubt},
            {"delta", figure.delta},
            {"confidence", figure.confidence},
            {"pairs", pairing == Pairing::kApart ? 0 : figure.pairs},
            {"block_order", comparison.block_order}};
  const bool ratio = figure.scale == Scale::kRatio;
  put(json, "a", figure.a), put(json, "b", figure.b);
  put(json, ratio ? "estimate_ratio" : "estimate_difference", figure.change);
  json[ratio ? "ci_ratio" : "ci_difference"] =
      figure.ci ? Json::array({figure.ci->low, figure.ci->high}) : Json();
  put(json, "p_sign", figure.p), put(json, "p_holm", figure.p_holm);
  return json;
}

Json case_json(const ComparedCase& one, const Comparison& comparison) {
  Json json{{"label", one.label},      {"side", comparison.sides[one.side].name},
            {"case_a", one.id_a},      {"case_b", one.id_b},
            {"differs", one.differs},  {"pairing", pairing_name(one.pairing)},
            {"figures", Json::array()}};
  if (!one.failed_a.empty()) json["failed_a"] = one.failed_a;
  if (!one.failed_b.empty()) json["failed_b"] = one.failed_b;
  for (const auto& figure : one.figures)
    json["figures"].push_back(figure_json(figure, comparison, one.pairing));
  if (one.why) json["why"] = analysis::difference::json_of(*one.why);
  for (const auto& [of, why] : one.further) {
    auto further = analysis::difference::json_of(why);
    further["of"] = of;
    json["further_why"].push_back(std::move(further));
  }
  return json;
}

// The worst of all; null where none is allowed.
Json whole_verdict(const Comparison& comparison) {
  using stats::Verdict;
  if (!blocked_by(comparison).empty()) return {};
  const auto any = [&](Verdict wanted) {
    return std::ranges::any_of(comparison.cases, [&](const auto& one) {
      return std::ranges::any_of(deciding(one),
                                 [&](const auto* figure) { return figure->verdict == wanted; });
    });
  };
  for (const auto verdict : {Verdict::kRegression, Verdict::kInconclusive, Verdict::kImprovement})
    if (any(verdict)) return stats::verdict_name(verdict);
  return any(Verdict::kEquivalent) ? Json(stats::verdict_name(Verdict::kEquivalent)) : Json();
}

}  // namespace

nlohmann::json comparison_json(const Comparison& comparison) {
  Json json{{"verdict", whole_verdict(comparison)},
            {"exit_code", static_cast<int>(answer::exit_code_of(checks_of(comparison)))},
            {"pairing", pairing_name(comparison.pairing)},
            {"block_order", comparison.block_order},
            {"allow_env_diff", comparison.allow_env_diff},
            {"sides", Json::array()},
            {"environment", Json::array()},
            {"control", Json()},
            {"cases", Json::array()},
            {"unmatched", Json::array()}};
  if (json["verdict"].is_null()) json["verdict_reason"] = blocked_by(comparison);
  for (const auto& side : comparison.sides)
    json["sides"].push_back({{"name", side.name}, {"what", side.what}, {"run_id", side.run_id}});
  for (const auto& one : comparison.environment)
    json["environment"].push_back({{"name", one.name},
                                   {"a", one.a},
                                   {"b", one.b},
                                   {"side", comparison.sides[one.side].name},
                                   {"blocks", one.blocks}});
  if (comparison.control) {
    json["control"] = figure_json(comparison.control->figure, comparison, comparison.pairing);
    json["control"]["moved"] = comparison.control->moved;
  }
  for (const auto& one : comparison.cases) json["cases"].push_back(case_json(one, comparison));
  for (const auto& one : comparison.unmatched)
    json["unmatched"].push_back({{"side", comparison.sides[one.side].name}, {"label", one.label}});
  return json;
}

}  // namespace paceline::compare
