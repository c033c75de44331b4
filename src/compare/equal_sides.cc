// SPDX-License-Identifier: MIT
#include "compare/equal_sides.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "stats/median.h"

namespace paceline::compare {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kKept = 20;

// An array of {host, pairing, halfwidth}, the oldest first; empty where the file is missing or damaged.
Json kept_in(const std::filesystem::path& file) {
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return Json::array();
  try {
    auto json = parsed_json(read_foreign(file, Foreign::kResult));
    return json.is_array() ? json : Json::array();
  } catch (const std::exception&) {
    return Json::array();
  }
}

bool is_of(const Json& entry, const std::string& host, Pairing pairing) {
  return entry.is_object() && entry.value("host", Json()) == host &&
         entry.value("pairing", Json()) == std::string(pairing_name(pairing)) &&
         entry.value("halfwidth", Json()).is_number();
}

}  // namespace

void keep_equal_sides(const std::filesystem::path& file, const std::string& host,
                      const Comparison& comparison) {
  auto kept = kept_in(file);
  for (const auto& one : comparison.cases) {
    const auto figures = deciding(one);
    if (figures.empty() || !figures.front()->ci) continue;
    const auto& ci = *figures.front()->ci;
    kept.push_back({{"host", host},
                    {"pairing", pairing_name(one.pairing)},
                    {"halfwidth", (std::log(ci.high) - std::log(ci.low)) / 2}});
  }
  for (const auto pairing : {Pairing::kInTurns, Pairing::kAlternating}) {
    auto count = std::ranges::count_if(kept, [&](const Json& one) { return is_of(one, host, pairing); });
    for (auto one = kept.begin(); one != kept.end() && count > static_cast<std::ptrdiff_t>(kKept);) {
      if (!is_of(*one, host, pairing)) {
        ++one;
        continue;
      }
      one = kept.erase(one);
      --count;
    }
  }
  make_directories(file.parent_path());
  replace_file(file, kept.dump(1) + "\n");
}

std::optional<double> equal_halfwidth(const std::filesystem::path& file, const std::string& host,
                                      Pairing pairing) {
  std::vector<double> widths;
  for (const auto& one : kept_in(file))
    if (is_of(one, host, pairing)) widths.push_back(one.at("halfwidth").get<double>());
  if (widths.empty()) return std::nullopt;
  return std::expm1(stats::median(widths));
}

}  // namespace paceline::compare
