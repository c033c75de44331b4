// SPDX-License-Identifier: MIT
#include "measure/open_loop.h"

namespace paceline::measure {

namespace {

// Publishes the state of a request after all else of it, for a thread that collects meanwhile.
void set_state(Request& request, RequestState state) {
  std::atomic_ref(request.state).store(state, std::memory_order_release);
}

bool is_final(Request& request) {
  return std::atomic_ref(request.state).load(std::memory_order_acquire) != RequestState::kWaiting;
}

}  // namespace

OpenLoop::OpenLoop(const OpenLoopConfig& config, std::int64_t start_ns, const std::atomic<bool>* interrupt)
    : config_(config),
      deadline_ns_(start_ns + (config.arrivals_ns.empty() ? 0 : config.arrivals_ns.back()) + config.drain_ns),
      interrupt_(interrupt) {
  requests_.reserve(config_.arrivals_ns.size());
  for (const auto arrival : config_.arrivals_ns) {
    Request request{.scheduled_ns = start_ns + arrival};
    request.index = std::ssize(requests_);
    requests_.push_back(request);
  }
}

// Nothing is started after the drain.
bool OpenLoop::give_up(std::int64_t now) {
  if (now <= deadline_ns_) return false;
  for (; next_ < requests_.size(); ++next_) set_state(requests_[next_], RequestState::kUnfinished);
  return true;
}

bool OpenLoop::expired(Request& request, std::int64_t now) {
  if (config_.timeout_ns <= 0 || now - request.scheduled_ns <= config_.timeout_ns) return false;
  set_state(request, RequestState::kTimedOut);
  return true;
}

std::vector<Request> OpenLoop::collect() {
  for (const std::size_t end = next_; seen_ < end; ++seen_) pending_.push_back(seen_);
  std::vector<Request> final;
  std::erase_if(pending_, [&](std::size_t index) {
    if (!is_final(requests_[index])) return false;
    final.push_back(requests_[index]);
    return true;
  });
  return final;
}

void OpenLoop::complete(std::span<Request> batch, std::int64_t now) {
  for (auto& request : batch) {
    request.end_ns = now;
    set_state(request, now > deadline_ns_ ? RequestState::kUnfinished : RequestState::kDone);
  }
  done_.fetch_add(static_cast<std::int64_t>(batch.size()), std::memory_order_relaxed);
}

}  // namespace paceline::measure
