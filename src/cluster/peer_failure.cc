// SPDX-License-Identifier: MIT
#include "cluster/peer_failure.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <thread>

#include "base/ask_until.h"
#include "base/display_text.h"

namespace paceline::cluster {
namespace {

constexpr std::string_view kKey = "failed";
constexpr Pauses kFailurePauses{std::chrono::milliseconds(50), std::chrono::milliseconds(50)};
constexpr double kPatienceS = 1;  // for the failed rank to report first
constexpr std::chrono::seconds kStoreAnswers{3};

// Returns the answer of `ask`, or nullopt when there is none in time: a read from a host that is cut off may
// last for minutes, and is left to a thread that ends with the process.
template <class Ask>
auto soon(const std::shared_ptr<plugin::Store>& store, const Ask& ask) {
  std::packaged_task<decltype(ask(*store))()> task([store, ask] { return ask(*store); });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  return answer.wait_for(kStoreAnswers) == std::future_status::ready ? std::optional(answer.get())
                                                                     : std::nullopt;
}

}  // namespace

void report_failure(plugin::Store& store, const std::string& sentence) noexcept {
  try {
    store.set_if_absent(std::string(kKey), sentence);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the header
  }
}

std::string reported_failure(plugin::Store& store, double patience_s) noexcept {
  std::string told;
  try {
    ask_until(deadline_in(patience_s), kFailurePauses, [&] {
      told = store.get(std::string(kKey)).value_or("");
      return !told.empty();
    });
  } catch (const std::exception&) {
    return {};
  }
  return told;
}

void work_as_member(const std::shared_ptr<plugin::Store>& store, const Member& self,
                    const std::function<void()>& work) {
  const auto tell = [&](const std::string& reason) {
    soon(store, [sentence = fmt::format("{}: {}", words(self), reason)](plugin::Store& s) {
      report_failure(s, sentence);
      return true;
    });
  };
  try {
    work();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnavailable || self.world == 1) {
      tell(e.what());
      throw;
    }
    const auto told =
        soon(store, [](plugin::Store& s) { return reported_failure(s, kPatienceS); }).value_or("");
    throw PeerFailure(told.empty() ? fmt::format("a peer of rank {} is gone: {}", self.rank, e.what())
                                   : told);
  } catch (const std::exception& e) {
    tell(plain_reason(e));
    throw;
  }
}

}  // namespace paceline::cluster
