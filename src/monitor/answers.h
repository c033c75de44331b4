// SPDX-License-Identifier: MIT
// Answers of the server, without a network.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/snapshot.h"

namespace paceline::monitor {

struct Question {
  std::string method, target;  // "GET", "/metrics?token=…"
  std::string host;            // the header; empty: none
  std::string authorization;   // likewise
};
struct Answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class Answers {
 public:
  // `token`: what must be shown; empty: nothing, and the header Host must then be a loopback name, since a
  // page of a stranger could otherwise read the answers through its visitor's browser (DNS rebinding).
  explicit Answers(std::string token) : token_(std::move(token)) {}
  void show(std::shared_ptr<const Snapshot> now);
  // /: the page; /metrics: for Prometheus; /live.json: the newest snapshot with rates;
  // /readings.json?since=MS: all later ones of the last 300. Thread-safe.
  [[nodiscard]] Answer answer(const Question& question) const;

 private:
  using Kept = std::vector<std::shared_ptr<const Snapshot>>;
  [[nodiscard]] Kept newest(std::size_t most) const;
  [[nodiscard]] bool may_read(const Question& question) const;

  std::string token_;
  mutable std::mutex mutex_;                          // protects what follows
  std::deque<std::shared_ptr<const Snapshot>> kept_;  // the newest last
};

// A text that a header and an address can carry as it is: no spaces and no control characters.
bool is_token(std::string_view text);

// "localhost", or a number of the loopback.
bool is_loopback(std::string_view host);

}  // namespace paceline::monitor
