// SPDX-License-Identifier: MIT
#include "monitor/answers.h"

#include <algorithm>

#include "base/text.h"
#include "monitor/exposition.h"
#include "monitor/page.h"
#include "monitor/usage.h"

namespace paceline::monitor {
namespace {

using Json = nlohmann::json;
constexpr const char* kText = "text/plain; charset=utf-8";

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

// The value of a key behind '?'; tokens have no characters that would be escaped.
std::string_view query_of(std::string_view target, std::string_view key) {
  const auto begin = target.find('?');
  if (begin == std::string_view::npos) return {};
  auto rest = target.substr(begin + 1);
  while (!rest.empty()) {
    const auto part = rest.substr(0, rest.find('&'));
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
      return part.substr(key.size() + 1);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return {};
}

// In a time that does not depend on where they differ.
bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

// Without port and brackets: "[::1]:80" is "::1".
std::string_view name_in(std::string_view header) {
  if (header.starts_with('[')) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json traffic_json(const std::vector<Traffic>& all) {
  Json list = Json::array();
  for (const auto& one : all)
    list.push_back({{"name", one.name},
                    {"in", or_null(one.in)},
                    {"out", or_null(one.out)},
                    {"busy", or_null(one.busy)}});
  return list;
}

// What the page draws.
Json usage_json(const Snapshot& now, const Snapshot& before) {
  Json each = Json::array();
  for (const auto& cpu : cpus(now, before)) each.push_back({{"name", cpu.name}, {"busy", or_null(cpu.busy)}});
  const auto all = all_cpus(now, before);
  return {{"cpu", {{"busy", or_null(all.busy)}, {"steal", or_null(all.steal)}, {"each", std::move(each)}}},
          {"network", traffic_json(links(now, before))},
          {"disk", traffic_json(disks(now, before))},
          {"own", or_null(rate(before, now, "paceline_monitor_cpu_seconds_total"))}};
}

constexpr std::size_t kMostKept = 300;

Json live_json(const Snapshot& now, const Snapshot& before) {
  auto json = to_json(now);
  json["usage"] = usage_json(now, before);
  return json;
}

Answer json_answer(const Json& json) {
  return {200, "application/json", json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

void Answers::show(std::shared_ptr<const Snapshot> now) {
  const std::scoped_lock lock(mutex_);
  kept_.push_back(std::move(now));
  if (kept_.size() > kMostKept) kept_.pop_front();
}

Answers::Kept Answers::newest(std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  return {kept_.end() - static_cast<std::ptrdiff_t>(std::min(most, kept_.size())), kept_.end()};
}

bool Answers::may_read(const Question& question) const {
  if (token_.empty()) return is_loopback(name_in(question.host));
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = question.authorization;
  return equal_secrets(query_of(question.target, "token"), token_) ||
         (header.starts_with(kBearer) && equal_secrets(header.substr(kBearer.size()), token_));
}

Answer Answers::answer(const Question& question) const {
  if (question.method != "GET" && question.method != "HEAD") return {405, kText, "only GET is answered\n"};
  if (!may_read(question))
    return token_.empty()
               ? Answer{403, kText, "without a token, only localhost is answered\n"}
               : Answer{401, kText, "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN\n"};
  const auto path = path_of(question.target);
  if (path == "/") return {200, "text/html; charset=utf-8", std::string(page())};
  if (path != "/metrics" && path != "/live.json" && path != "/readings.json")
    return {404, kText, "there are: / (the page), /metrics (Prometheus), /live.json, /readings.json\n"};
  const auto all = newest(path == "/readings.json" ? kMostKept : 2);
  if (all.empty()) return {503, kText, "nothing was read yet\n"};
  if (path == "/metrics") return {200, kExpositionType, exposition(*all.back())};
  if (path == "/live.json") return json_answer(live_json(*all.back(), *all.front()));
  const auto since = parse_int(query_of(question.target, "since")).value_or(0);
  Json readings = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]->utc_ms > since) readings.push_back(live_json(*all[i], *all[i > 0 ? i - 1 : 0]));
  return json_answer(readings);
}

}  // namespace paceline::monitor
