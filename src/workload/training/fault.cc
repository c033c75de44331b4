// SPDX-License-Identifier: MIT
#include "workload/training/fault.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "base/error.h"
#include "base/text.h"

namespace paceline::workload {
namespace {

using Kind = Fault::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{{{"kill", Kind::kKill},
                                                                   {"stop", Kind::kStop},
                                                                   {"slow", Kind::kSlow},
                                                                   {"nan", Kind::kNan},
                                                                   {"throttle", Kind::kThrottle}}};

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::kUsage,
              fmt::format("inject '{}': use kill:rank=1,step=50, stop:rank=1,step=50, nan:rank=1,step=50, "
                          "slow=200ms:rank=1 or throttle:rank=1",
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
  if (!number || *number <= 0) refuse(text);
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

}  // namespace

Fault parse_fault(const std::string& text) {
  Fault fault;
  if (text.empty()) return fault;
  const auto colon = text.find(':');
  const std::string what = text.substr(0, colon);
  const auto equals = what.find('=');
  fault.kind = kind_of(what.substr(0, equals), text);
  if ((fault.kind == Kind::kSlow) != (equals != std::string::npos)) refuse(text);
  if (fault.kind == Kind::kSlow) fault.seconds = seconds_of(what.substr(equals + 1), text);
  if (colon != std::string::npos)
    for (const auto& word : split(text.substr(colon + 1), ',')) read_place(word, fault, text);
  return fault;
}

FaultMaker::FaultMaker(const Fault& fault, std::int64_t rank)
    : fault_(fault), mine_(fault.kind != Kind::kNone && fault.rank == rank) {}

FaultMaker::~FaultMaker() {
  spinning_ = false;
  if (spinner_.joinable()) spinner_.join();
}

bool FaultMaker::strikes(std::int64_t step) const {
  return mine_ && step == fault_.step && (fault_.kind == Kind::kKill || fault_.kind == Kind::kStop);
}

void FaultMaker::before_step(std::int64_t step) {
  if (!mine_ || step < fault_.step) return;
  if (step == fault_.step && fault_.kind == Kind::kKill) ::kill(::getpid(), SIGKILL);
  if (step == fault_.step && fault_.kind == Kind::kStop) ::kill(::getpid(), SIGSTOP);
  if (fault_.kind != Kind::kThrottle || spinner_.joinable()) return;
  spinning_ = true;
  spinner_ = std::thread([this] {
    while (spinning_) {
    }
  });
}

void FaultMaker::inside_step(std::int64_t step) const {
  if (mine_ && fault_.kind == Kind::kSlow && step >= fault_.step)
    std::this_thread::sleep_for(std::chrono::duration<double>(fault_.seconds));
}

bool FaultMaker::poisons(std::int64_t step) const {
  return mine_ && fault_.kind == Kind::kNan && step == fault_.step;
}

}  // namespace paceline::workload
