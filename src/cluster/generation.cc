// SPDX-License-Identifier: MIT
#include "cluster/generation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/text.h"
#include "cluster/roll_call.h"

namespace paceline::cluster {
namespace {

constexpr std::chrono::milliseconds kAnswerEvery{50};
constexpr int kRanksAtOnce = 64;  // the store has others to serve
constexpr Pauses kWelcomePauses{std::chrono::milliseconds(10), std::chrono::milliseconds(200)};

std::string hello_key(int rank) {
  return fmt::format("hello/{}", rank);
}
std::string welcome_key(int rank) {
  return fmt::format("welcome/{}", rank);
}

// A word without blanks that was never used before.
std::string fresh_word() {
  static std::atomic<int> used{0};
  return fmt::format("{}:{}:{}:{}", host_name(), ::getpid(),
                     std::chrono::system_clock::now().time_since_epoch().count(), used++);
}

int take_number(plugin::Store& store) {
  const auto mine = fresh_word();
  for (int number = 0;; ++number)
    if (store.set_if_absent(fmt::format("generation/{}", number), mine) == mine) return number;
}

// "3 <the word that it answers>"
std::string welcome_text(const Generation& generation, const std::string& word) {
  return fmt::format("{} {}", generation.number, word);
}

std::optional<Generation> read_welcome(const std::string& text, const std::string& word) {
  const auto parts = split(text, ' ');
  if (parts.size() != 2 || parts[1] != word) return std::nullopt;
  return Generation{static_cast<int>(parse_int(parts[0]).value_or(0))};
}

}  // namespace

std::string Generation::folder() const {
  return fmt::format("generation_{}", number);
}

GenerationLeader::GenerationLeader(plugin::Store& store, int world)
    : store_(store), world_(world), generation_{take_number(store)}, thread_([this] { answer(); }) {}

GenerationLeader::~GenerationLeader() {
  over_ = true;
  thread_.join();
}

// Words left by earlier ranks are answered too, but nobody reads the answers.
void GenerationLeader::answer() {
  std::map<int, std::string> answered;
  try {
    for (int rank = 1; !over_; std::this_thread::sleep_for(kAnswerEvery))
      for (int asked = 0; asked < std::min(kRanksAtOnce, world_ - 1);
           ++asked, rank = rank % (world_ - 1) + 1) {
        const auto word = store_.get(hello_key(rank));
        if (!word || answered[rank] == *word) continue;
        store_.set(welcome_key(rank), welcome_text(generation_, *word));
        answered[rank] = *word;
      }
  } catch (const std::exception&) {
    return;  // the store is gone, which those who wait on it find out themselves
  }
}

Generation join_generation(plugin::Store& store, int rank, double timeout_s,
                           const std::atomic<bool>* interrupt) {
  const auto word = fresh_word();
  store.set(hello_key(rank), word);
  std::optional<Generation> found;
  ask_until(deadline_in(timeout_s), kWelcomePauses, [&] {
    const auto text = store.get(welcome_key(rank));
    if (text) found = read_welcome(*text, word);
    return found.has_value() || (interrupt && *interrupt);
  });
  if (interrupt && *interrupt) throw Error(ErrorCode::kUnavailable, "interrupted");
  if (!found)
    throw Error(ErrorCode::kTimeout,
                fmt::format("missing ranks: 0 (it has not answered rank {} within {:g} s); see that it "
                            "starts and reaches the store, or give it longer with --rdzv-timeout",
                            rank, timeout_s));
  return *found;
}

}  // namespace paceline::cluster
