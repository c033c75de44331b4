// SPDX-License-Identifier: MIT
#include "monitor/answers.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "base/display_text.h"
#include "base/lower_case.h"
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

// The value of a key behind '?', as it was sent.
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

// The host of "localhost:9400" or "[::1]:9400"; empty for anything else.
std::string_view host_in(std::string_view header) {
  const auto end = header.starts_with('[') ? header.find(']') : std::min(header.find(':'), header.size());
  if (end == std::string_view::npos) return {};
  const bool bracketed = header.starts_with('[');
  const auto rest = header.substr(bracketed ? end + 1 : end);
  const bool port = rest.empty() || (rest.starts_with(':') &&
                                     rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return port ? header.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0)) : std::string_view();
}

// "a%2Fb" is "a/b".
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const bool escape =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3;
    plain += escape ? static_cast<char>(code) : text[i];
    if (escape) i += 2;
  }
  return plain;
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

// Figures that the page draws.
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
  return {200, "application/json",
          json_without_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace))};
}

}  // namespace

bool is_loopback(std::string_view host) {
  std::string name(host);
  std::ranges::transform(name, name.begin(), [](char c) { return lower_case(c); });
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == IN_LOOPBACKNET;
  if (::inet_pton(AF_INET6, name.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return name == "localhost";
}

bool is_token(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
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
  if (token_.empty()) return is_loopback(host_in(question.host));
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = question.authorization;
  return equal_secrets(decoded(query_of(question.target, "token")), token_) ||
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
