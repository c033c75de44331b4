// SPDX-License-Identifier: MIT
#include "base/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

using Kind = Fault::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 8> kKinds{{{"kill", Kind::kKill},
                                                                   {"stop", Kind::kStop},
                                                                   {"slow", Kind::kSlow},
                                                                   {"nan", Kind::kNan},
                                                                   {"throttle", Kind::kThrottle},
                                                                   {"slow_save", Kind::kSlowSave},
                                                                   {"slow_load", Kind::kSlowLoad},
                                                                   {"slow_link", Kind::kSlowLink}}};
constexpr double kLongestDelayS = 86'400;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(
      ErrorCode::kUsage,
      fmt::format("inject '{}': use kill:rank=1,step=50, stop:rank=1,step=50, nan:rank=1,step=50, "
                  "slow=200ms:rank=1, slow_save=5s:rank=1, slow_load=20ms, slow_link=5ms or throttle:rank=1",
                  text));
}

Kind kind_of(const std::string& word, const std::string& text) {
  const auto row =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) { return known.first == word; });
  if (row == kKinds.end()) refuse(text);
  return row->second;
}

// "200ms", "0.2s"
double seconds_of(const std::string& value, const std::string& text) {
  const bool milli = value.ends_with("ms");
  if (!milli && !value.ends_with("s")) refuse(text);
  const auto number = parse_double(value.substr(0, value.size() - (milli ? 2 : 1)));
  if (!number || *number <= 0 || *number * (milli ? 1e-3 : 1) > kLongestDelayS) refuse(text);
  return milli ? *number * 1e-3 : *number;
}

void read_place(const std::string& word, Fault& fault, const std::string& text) {
  const auto equals = word.find('=');
  const auto number = equals == std::string::npos ? std::nullopt : parse_int(word.substr(equals + 1));
  if (!number || *number < 0) refuse(text);
  if (word.substr(0, equals) == "rank")
    fault.rank = *number;
  else if (word.substr(0, equals) == "step")
    fault.step = *number;
  else
    refuse(text);
}

void read_places(const std::string& words, Fault& fault, const std::string& text) {
  std::set<std::string> seen;
  for (const auto& word : split(words, ',')) {
    if (!seen.insert(word.substr(0, word.find('='))).second) refuse(text);
    read_place(word, fault, text);
  }
}

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  if (text.empty()) return fault;
  const auto colon = text.find(':');
  const std::string what = text.substr(0, colon);
  const auto equals = what.find('=');
  fault.kind = kind_of(what.substr(0, equals), text);
  const bool everywhere = fault.kind == Kind::kSlowLoad || fault.kind == Kind::kSlowLink;
  const bool takes_time = everywhere || fault.kind == Kind::kSlow || fault.kind == Kind::kSlowSave;
  if (everywhere) fault.rank = Fault::kEveryRank;
  if (takes_time != (equals != std::string::npos)) refuse(text);
  if (takes_time) fault.seconds = seconds_of(what.substr(equals + 1), text);
  if (colon != std::string::npos) read_places(text.substr(colon + 1), fault, text);
  if (fault.kind == Kind::kSlowLink && fault.rank != Fault::kEveryRank) refuse(text);  // it has two ends
  return fault;
}

}  // namespace paceline
