// SPDX-License-Identifier: MIT
#include "cluster/roll_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::cluster {
namespace {

using std::chrono::milliseconds;

constexpr Pauses kRollPauses{milliseconds(2), milliseconds(200)};
constexpr double kHearingS = 2;  // how long the serving rank waits until a refusal was read
constexpr std::string_view kRefusedKey = "roll/refused";

std::string member_key(int rank) {
  return fmt::format("roll/{}", rank);
}
std::string heard_key(int rank) {
  return fmt::format("roll/heard/{}", rank);
}

std::string to_text(const Member& m) {
  return nlohmann::json{{"rank", m.rank},       {"world", m.world},     {"host", m.host},
                        {"pid", m.process_id},  {"version", m.version}, {"plan", m.plan_hash},
                        {"machine", m.machine}, {"attempt", m.attempt}, {"cpus", m.cpus}}
      .dump();
}

Member from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object())
    throw Error(
        ErrorCode::kConfig,
        fmt::format(
            "another program uses this store: it holds '{}' where a rank should be; choose another port",
            text.substr(0, 40)));
  return {json.value("rank", -1),    json.value("world", 0),    json.value("host", ""),
          json.value("pid", 0),      json.value("version", ""), json.value("plan", ""),
          json.value("machine", ""), json.value("attempt", 0),  json.value("cpus", std::vector<int>{})};
}

// Why no rank continues: a mistake that waiting does not heal, or ranks that did not come.
struct Refusal {
  ErrorCode code = ErrorCode::kConfig;
  std::string sentence;
};

std::string to_text(const Refusal& r) {
  return nlohmann::json{{"late", r.code == ErrorCode::kTimeout}, {"sentence", r.sentence}}.dump();
}
Refusal refusal_in(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return {ErrorCode::kConfig, text};
  return {json.value("late", false) ? ErrorCode::kTimeout : ErrorCode::kConfig, json.value("sentence", text)};
}

// What must be equal on all ranks, and the message when it is not.
struct Agreement {
  std::string_view what, advice;
  std::string (*value)(const Member&);
};
const std::array<Agreement, 3> kAgreements{{
    {"worlds of different sizes", "start every process with the same number of ranks",
     [](const Member& m) { return fmt::format("{} ranks", m.world); }},
    {"different versions of Paceline", "install the same one everywhere",
     [](const Member& m) { return m.version; }},
    {"different plans", "give every process the same plan and options",
     [](const Member& m) { return m.plan_hash.substr(0, 12); }},
}};

// The lower rank comes first, so that both sides give the same message.
std::string disagreement(const Member& a, const Member& b) {
  const Member &low = a.rank < b.rank ? a : b, &high = a.rank < b.rank ? b : a;
  for (const auto& row : kAgreements)
    if (row.value(low) != row.value(high))
      return fmt::format("{}: {} has {}, {} has {}; {}", row.what, words(low), row.value(low), words(high),
                         row.value(high), row.advice);
  return {};
}

class RollCall {
 public:
  RollCall(plugin::Store& store, const Member& self, double timeout_s, int ranks,
           const std::atomic<bool>* interrupt)
      : store_(store), self_(self), timeout_s_(timeout_s), ranks_(ranks), interrupt_(interrupt) {}

  std::vector<Member> run() {
    register_self();
    ask_until(deadline_in(timeout_s_), kRollPauses, [&] { return interrupted() || look() || refused(); });
    if (interrupted()) throw Error(ErrorCode::kUnavailable, "interrupted");
    if (!refusal_.sentence.empty()) refuse(refusal_);
    if (!complete()) refuse({ErrorCode::kTimeout, missing()});
    std::vector<Member> roster;
    for (const auto& [rank, member] : present_) roster.push_back(member);
    return roster;
  }

 private:
  void register_self() {
    for (int i = 0; i < ranks_; ++i) {
      Member mine = self_;
      mine.rank += i;
      const auto text = to_text(mine);
      const auto there = store_.set_if_absent(member_key(mine.rank), text);
      if (there != text) refuse_twin(from_text(there), mine);
      present_[mine.rank] = mine;
    }
  }

  [[noreturn]] void refuse_twin(const Member& first, const Member& mine) {
    if (mine.rank == 0 && !disagreement(first, mine).empty())
      throw Error(
          ErrorCode::kConfig,
          fmt::format("another training meets at this address: {} keeps its store there; choose another port",
                      words(first)));
    refuse({ErrorCode::kConfig,
            fmt::format("two processes are rank {}: {} and {}; give every process a rank of its own",
                        mine.rank, words(first), words(mine))});
  }

  [[nodiscard]] bool interrupted() const { return interrupt_ && *interrupt_; }
  [[nodiscard]] bool complete() const { return present_.size() == static_cast<std::size_t>(self_.world); }

  // Notes which ranks have come. True when all are here or one does not fit.
  bool look() {
    for (int rank = 0; rank < self_.world; ++rank) {
      if (present_.contains(rank)) continue;
      const auto member = registered(store_, rank);
      if (!member) continue;
      refusal_.sentence = disagreement(self_, *member);
      if (!refusal_.sentence.empty()) return true;
      present_[rank] = *member;
    }
    return complete();
  }

  bool refused() {
    const auto text = store_.get(std::string(kRefusedKey));
    if (text) refusal_ = refusal_in(*text);
    return text.has_value();
  }

  [[nodiscard]] std::string missing() const {
    std::vector<std::string> absent, hosts;
    for (int rank = 0; rank < self_.world; ++rank)
      if (!present_.contains(rank)) absent.push_back(std::to_string(rank));
    for (const auto& [rank, member] : present_) hosts.push_back(fmt::format("{} on {}", rank, member.host));
    return fmt::format(
        "missing ranks: {} (of {}, after {:g} s; here are {}); see that they start and reach the store, or "
        "give them longer with --rdzv-timeout",
        join(absent, ", "), self_.world, timeout_s_, join(hosts, ", "));
  }

  // The first refusal counts for all ranks.
  [[noreturn]] void refuse(const Refusal& refusal) {
    const auto first = refusal_in(store_.set_if_absent(std::string(kRefusedKey), to_text(refusal)));
    try {
      for (int i = 0; i < ranks_; ++i) store_.set(heard_key(self_.rank + i), "yes");
      if (self_.rank == 0) wait_until_heard();
    } catch (const Error&) {
      throw Error(first.code, first.sentence);  // the rank that serves the store has read it and may be gone
    }
    throw Error(first.code, first.sentence);
  }

  // The store may end with this process, so registered ranks, and a twin of one of them, get time to read.
  void wait_until_heard() {
    std::this_thread::sleep_for(kRollPauses.longest * 2);
    ask_until(deadline_in(kHearingS), kRollPauses, [&] {
      for (int rank = 1; rank < self_.world; ++rank)
        if (store_.get(member_key(rank)) && !store_.get(heard_key(rank))) return false;
      return true;
    });
  }

  plugin::Store& store_;
  Member self_;
  double timeout_s_;
  int ranks_;
  const std::atomic<bool>* interrupt_;
  std::map<int, Member> present_;
  Refusal refusal_;
};

}  // namespace

std::optional<Member> registered(plugin::Store& store, int rank) {
  const auto text = store.get(member_key(rank));
  return text ? std::optional(from_text(*text)) : std::nullopt;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

Member this_process(int rank, int world, const std::string& plan_hash) {
  return {rank, world, host_name(), ::getpid(), PACELINE_VERSION, plan_hash};
}

std::string words(const Member& member) {
  return fmt::format("rank {} on {} (process {})", member.rank, member.host, member.process_id);
}

std::vector<Member> roll_call(plugin::Store& store, const Member& self, double timeout_s, int ranks,
                              const std::atomic<bool>* interrupt) {
  return RollCall(store, self, timeout_s, ranks, interrupt).run();
}

}  // namespace paceline::cluster
