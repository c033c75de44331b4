// SPDX-License-Identifier: MIT
#include "cluster/roll_call.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "base/ask_until.h"
#include "base/bounded_json.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cluster/plan_print.h"

namespace paceline::cluster {
namespace {

using std::chrono::milliseconds;

constexpr Pauses kRollPauses{milliseconds(2), milliseconds(200)};
constexpr double kAcknowledgeS = 2;  // how long the serving rank waits until a refusal was read
constexpr double kWaitPartS = 0.5;   // between two looks at the interrupt
// Who has come, or why nobody goes on: the first word counts for all ranks.
constexpr std::string_view kVerdictKey = "roll/verdict";
constexpr std::string_view kLateKey = "roll/late";  // who names the missing ranks where rank 0 does not

std::string member_key(int rank) {
  return fmt::format("roll/{}", rank);
}
std::string acknowledged_key(int rank) {
  return fmt::format("roll/heard/{}", rank);
}

std::string to_text(const Member& m) {
  return nlohmann::json{{"rank", m.rank},           {"world", m.world},     {"host", m.host},
                        {"pid", m.process_id},      {"version", m.version}, {"plan", m.plan_hash},
                        {"machine", m.machine},     {"attempt", m.attempt}, {"cpus", m.cpus},
                        {"variables", m.variables}, {"print", m.print}}
      .dump();
}

Member from_text(const std::string& text) {
  const auto json = json_or_discarded(text);
  if (!json.is_object())
    throw Error(
        ErrorCode::kConfig,
        fmt::format(
            "another program uses this store: it holds '{}' where a rank should be; choose another port",
            text.substr(0, 40)));
  return {json.value("rank", -1),
          json.value("world", 0),
          json.value("host", ""),
          json.value("pid", 0),
          json.value("version", ""),
          json.value("plan", ""),
          json.value("machine", ""),
          json.value("attempt", 0),
          json.value("cpus", std::vector<int>{}),
          json.value("variables", Environment{}),
          json.value("print", "")};
}

// Why no rank continues: a mistake that waiting does not heal (kConfig), ranks that did not come (kTimeout),
// or one that cannot (kUnavailable).
struct Refusal {
  ErrorCode code = ErrorCode::kConfig;
  std::string sentence;
};
constexpr std::array<std::pair<std::string_view, ErrorCode>, 3> kRefusals{
    {{"mistake", ErrorCode::kConfig}, {"late", ErrorCode::kTimeout}, {"cannot", ErrorCode::kUnavailable}}};

std::string to_text(const Refusal& r) {
  const auto* row =
      std::find_if(kRefusals.begin(), kRefusals.end(), [&](const auto& one) { return one.second == r.code; });
  return nlohmann::json{{"refusal", row->first}, {"sentence", r.sentence}}.dump();
}
// Nullopt for a roster.
std::optional<Refusal> refusal_in(const std::string& text) {
  const auto json = json_or_discarded(text);
  if (!json.is_object()) return Refusal{ErrorCode::kConfig, text};
  if (!json.contains("sentence")) return std::nullopt;
  const auto* row = std::find_if(kRefusals.begin(), kRefusals.end() - 1,
                                 [&](const auto& one) { return one.first == json.value("refusal", ""); });
  return Refusal{row->second, json.at("sentence")};
}

bool is_refusal(const std::string& text) {
  const auto json = json_or_discarded(text);
  return json.is_object() && json.contains("sentence");
}

// Values that many ranks share, each once.
struct Shared {
  nlohmann::json all = nlohmann::json::array();
  std::map<nlohmann::json, std::size_t> known{};

  std::size_t add(const nlohmann::json& value) {
    const auto [it, fresh] = known.try_emplace(value, known.size());
    if (fresh) all.push_back(value);
    return it->second;
  }
};

// The roster as every rank reads it: what all agree on once, and what many ranks share once.
std::string to_text(const std::vector<Member>& roster) {
  Shared places, shells;
  auto members = nlohmann::json::array();
  for (const auto& m : roster)
    members.push_back(
        {places.add({m.host, m.machine, m.cpus}), m.process_id, m.attempt, shells.add(m.variables)});
  return nlohmann::json{{"places", places.all}, {"shells", shells.all}, {"members", members}}.dump();
}

// `self` has what all agree on.
std::vector<Member> roster_in(const std::string& text, const Member& self) {
  const auto json = parsed_json(text);
  std::vector<Member> roster;
  for (const auto& m : json.at("members")) {
    const auto& place = json.at("places").at(m.at(0).get<std::size_t>());
    roster.push_back({static_cast<int>(roster.size()), self.world, place.at(0), m.at(1), self.version,
                      self.plan_hash, place.at(1), m.at(2), place.at(2).get<std::vector<int>>(),
                      json.at("shells").at(m.at(3).get<std::size_t>()).get<Environment>()});
  }
  return roster;
}

// A value that must be equal on all ranks, and the message if it is not.
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

// The key in which the plans of the two differ first, one of whom is this process; empty: it is not known.
std::string differing_key(const Member& a, const Member& b) {
  const auto key = first_difference(a.plan, b.print);
  return key.empty() ? first_difference(b.plan, a.print) : key;
}

// The lower rank comes first, so that both sides give the same message.
std::string disagreement(const Member& a, const Member& b) {
  const Member &low = a.rank < b.rank ? a : b, &high = a.rank < b.rank ? b : a;
  for (const auto& row : kAgreements)
    if (row.value(low) != row.value(high)) {
      const auto key = differing_key(low, high);
      if (&row == &kAgreements.back() && !key.empty())
        return fmt::format("{}: {} and {} differ in {}; {}", row.what, words(low), words(high), key,
                           row.advice);
      return fmt::format("{}: {} has {}, {} has {}; {}", row.what, words(low), row.value(low), words(high),
                         row.value(high), row.advice);
    }
  return {};
}

// Rank 0 collects the members and publishes the roster, the others register and wait for it: each rank asks
// the store a few questions, however many ranks there are.
class RollCall {
 public:
  RollCall(plugin::Store& store, const Member& self, double timeout_s, int ranks,
           const std::atomic<bool>* interrupt)
      : store_(store),
        self_(self),
        timeout_s_(timeout_s),
        deadline_(deadline_in(timeout_s)),
        ranks_(ranks),
        interrupt_(interrupt) {}

  std::vector<Member> run() {
    register_self();
    const auto verdict = self_.rank == 0 ? lead() : follow();
    if (const auto refusal = refusal_in(verdict)) end_refused(*refusal);
    return roster_in(verdict, self_);
  }

 private:
  void register_self() {
    for (int i = 0; i < ranks_; ++i) {
      Member mine = self_;
      mine.rank += i;
      const auto text = to_text(mine);
      const auto there = store_.set_if_absent(member_key(mine.rank), text);
      if (is_refusal(there)) end_refused(*refusal_in(there));
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
    const Refusal twins{ErrorCode::kConfig,
                        fmt::format("two processes are rank {}: {} and {}; give every process its own rank",
                                    mine.rank, words(first), words(mine))};
    end_refused(refusal_in(publish(to_text(twins))).value_or(twins));
  }

  void check_interrupt() const {
    if (interrupt_ && *interrupt_) throw Error(ErrorCode::kUnavailable, "interrupted");
  }

  std::string publish(const std::string& verdict) {
    return store_.set_if_absent(std::string(kVerdictKey), verdict);
  }

  // Rank 0. It asks for one rank after the other, so that waiting for one costs no questions about the
  // others.
  std::string lead() {
    std::optional<std::string> verdict;
    const bool over = ask_until(deadline_, kRollPauses, [&] {
      check_interrupt();
      if (collect()) verdict = publish(to_text(roster()));
      if (!verdict) verdict = store_.get(std::string(kVerdictKey));
      return verdict.has_value();
    });
    return over ? *verdict : publish(to_text(late()));
  }

  // True when all are here.
  bool collect() {
    for (; next_ < self_.world; ++next_) {
      if (present_.contains(next_)) continue;
      const auto member = registered(store_, next_);
      if (!member) return false;
      if (auto words = disagreement(self_, *member); !words.empty()) {
        publish(to_text(Refusal{ErrorCode::kConfig, std::move(words)}));
        return false;
      }
      present_[next_] = *member;
    }
    return true;
  }

  [[nodiscard]] std::vector<Member> roster() const {
    std::vector<Member> all;
    for (const auto& [rank, member] : present_) all.push_back(member);
    return all;
  }

  // Rank 0 may wait for a rank below this one, so that mistakes of this one are found out here.
  std::string follow() {
    const auto leader = wait_for(member_key(0));
    if (leader && is_refusal(*leader)) return *leader;
    if (leader)
      if (auto words = disagreement(self_, from_text(*leader)); !words.empty())
        return publish(to_text(Refusal{ErrorCode::kConfig, std::move(words)}));
    if (auto verdict = wait_for(std::string(kVerdictKey))) return *verdict;
    const auto mine = std::to_string(self_.rank);
    if (store_.set_if_absent(std::string(kLateKey), mine) != mine)  // another one names the missing ranks
      if (auto verdict = store_.wait_for(std::string(kVerdictKey), kAcknowledgeS)) return *verdict;
    return publish(to_text(late()));
  }

  // Until the deadline; nullopt then.
  std::optional<std::string> wait_for(const std::string& key) {
    for (;;) {
      check_interrupt();
      const std::chrono::duration<double> left = deadline_ - std::chrono::steady_clock::now();
      auto value = store_.wait_for(key, std::clamp(left.count(), 0.0, interrupt_ ? kWaitPartS : timeout_s_));
      if (value || left.count() <= 0) return value;
    }
  }

  // Looks for every rank once more.
  Refusal late() {
    std::vector<std::string> absent, hosts;
    for (int rank = 0; rank < self_.world; ++rank) {
      if (!present_.contains(rank))
        if (const auto member = registered(store_, rank)) present_[rank] = *member;
      if (!present_.contains(rank)) absent.push_back(std::to_string(rank));
    }
    for (const auto& [rank, member] : present_) hosts.push_back(fmt::format("{} on {}", rank, member.host));
    return {
        ErrorCode::kTimeout,
        fmt::format("missing ranks: {} (of {}, after {:g} s; here are {}); see that they start and reach the "
                    "store, or give them longer with --rdzv-timeout",
                    join(absent, ", "), self_.world, timeout_s_, join(hosts, ", "))};
  }

  [[noreturn]] void end_refused(const Refusal& refusal) {
    try {
      for (int i = 0; i < ranks_; ++i) store_.set(acknowledged_key(self_.rank + i), "yes");
      if (self_.rank == 0) wait_for_acknowledgements();
    } catch (const Error&) {
      throw_as(refusal);  // the rank that serves the store has read it and may be gone
    }
    throw_as(refusal);
  }

  [[noreturn]] static void throw_as(const Refusal& refusal) {
    if (refusal.code == ErrorCode::kUnavailable) throw PeerFailure(refusal.sentence);
    throw Error(refusal.code, refusal.sentence);
  }

  // The store may end with this process, so registered ranks, and a twin of one of them, get time to read.
  void wait_for_acknowledgements() {
    std::this_thread::sleep_for(kRollPauses.longest * 2);
    int rank = 1;
    ask_until(deadline_in(kAcknowledgeS), kRollPauses, [&] {
      for (; rank < self_.world; ++rank)
        if (store_.get(member_key(rank)) && !store_.get(acknowledged_key(rank))) return false;
      return true;
    });
  }

  plugin::Store& store_;
  Member self_;
  double timeout_s_;
  Deadline deadline_;
  int ranks_;
  const std::atomic<bool>* interrupt_;
  std::map<int, Member> present_;
  int next_ = 0;  // rank 0: the lowest rank that it has not seen
};

}  // namespace

std::optional<Member> registered(plugin::Store& store, int rank) {
  const auto text = store.get(member_key(rank));
  return text ? std::optional(from_text(*text)) : std::nullopt;
}

void refuse_to_come(plugin::Store& store, const std::string& sentence) noexcept {
  const auto refusal = to_text(Refusal{ErrorCode::kUnavailable, sentence});
  try {
    store.set_if_absent(std::string(kVerdictKey), refusal);
    store.set_if_absent(member_key(0), refusal);  // for those who still wait for rank 0
  } catch (const std::exception&) {               // NOLINT(bugprone-empty-catch): see the header
  }
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
