// SPDX-License-Identifier: MIT
#include "measure/open_loop.h"

namespace paceline::measure {

OpenLoop::OpenLoop(const OpenLoopConfig& config, std::int64_t start_ns, const std::atomic<bool>* interrupt)
    : config_(config),
      deadline_ns_(start_ns + (config.arrivals_ns.empty() ? 0 : config.arrivals_ns.back()) + config.drain_ns),
      interrupt_(interrupt) {
  requests_.reserve(config_.arrivals_ns.size());
  for (const auto arrival : config_.arrivals_ns) requests_.push_back({.scheduled_ns = start_ns + arrival});
}

// Nothing is started after the drain.
bool OpenLoop::give_up(std::int64_t now) {
  if (now <= deadline_ns_) return false;
  for (; next_ < requests_.size(); ++next_) requests_[next_].state = RequestState::kUnfinished;
  return true;
}

bool OpenLoop::expired(Request& request, std::int64_t now) {
  if (config_.timeout_ns <= 0 || now - request.scheduled_ns <= config_.timeout_ns) return false;
  request.state = RequestState::kTimedOut;
  return true;
}

void OpenLoop::complete(std::span<Request> batch, std::int64_t now) {
  for (auto& request : batch) {
    request.end_ns = now;
    request.state = now > deadline_ns_ ? RequestState::kUnfinished : RequestState::kDone;
  }
  done_.fetch_add(static_cast<std::int64_t>(batch.size()), std::memory_order_relaxed);
}

}  // namespace paceline::measure
