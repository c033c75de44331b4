// SPDX-License-Identifier: MIT
#include "measure/shared_queue.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace paceline::measure {
namespace {

using detail::Control;
using detail::Slot;

constexpr std::size_t kPage = std::size_t{1} << 16;  // a multiple of the page size on any machine
constexpr std::size_t kSlotsOffset = (sizeof(Control) + kPage - 1) / kPage * kPage;

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::kInternal, fmt::format("{} of the instances: {}", what, std::strerror(errno)));
}

RequestState state_of(const Slot& slot) {
  return static_cast<RequestState>(slot.state.load(std::memory_order_acquire));
}

void set_state(Slot& slot, RequestState state) {
  slot.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

// The mutex is shared by all processes and released by the kernel when its holder dies.
void make_shared_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  errno = ::pthread_mutex_init(&mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  if (errno != 0) fail("cannot make the lock");
}

void count(ClaimTally& tally, RequestState state) {
  ++tally.claimed;
  tally.done += state == RequestState::kDone;
  tally.timed_out += state == RequestState::kTimedOut;
  tally.unfinished += state == RequestState::kUnfinished;
  tally.failed += state == RequestState::kFailed;
}

}  // namespace

namespace detail {

Turn::Turn(pthread_mutex_t& mutex) : mutex_(mutex) {
  if (::pthread_mutex_lock(&mutex_) == EOWNERDEAD) ::pthread_mutex_consistent(&mutex_);
}
Turn::~Turn() {
  ::pthread_mutex_unlock(&mutex_);
}

}  // namespace detail

SharedQueue::SharedQueue(int instances) : instances_(instances) {
  if (instances < 1 || instances > kMaxInstances)
    throw Error(ErrorCode::kUsage,
                fmt::format("{} instances; 1 to {} are possible", instances, kMaxInstances));
  file_ = shared_memory_file("paceline-queue", kSlotsOffset);
  control_ = SharedMapping(file_.get(), 0, sizeof(Control));
  make_shared_mutex(control().intake);
}

SharedQueue::SharedQueue(FileDescriptor file) : file_(std::move(file)) {
  control_ = SharedMapping(file_.get(), 0, sizeof(Control));
}

std::span<Slot> SharedQueue::slots() const {
  return {static_cast<Slot*>(slots_.data()), count_};
}

void SharedQueue::map_slots(std::int64_t count) {
  count_ = static_cast<std::size_t>(count);
  slots_ = {};
  if (count_ > 0) slots_ = SharedMapping(file_.get(), kSlotsOffset, count_ * sizeof(Slot));
}

// Truncating the file and extending it again zeroes every slot without touching it.
void SharedQueue::open(const RoundPlan& plan) {
  const auto count =
      plan.arrivals_ns.empty() ? plan.count : static_cast<std::int64_t>(plan.arrivals_ns.size());
  const auto bytes = kSlotsOffset + static_cast<std::size_t>(count) * sizeof(Slot);
  map_slots(0);
  if (::ftruncate(file_.get(), static_cast<off_t>(kSlotsOffset)) != 0 ||
      ::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
    fail("cannot lengthen the queue");
  map_slots(count);
  for (std::size_t i = 0; i < plan.arrivals_ns.size(); ++i)
    slots()[i].scheduled_ns = plan.start_ns + plan.arrivals_ns[i];
  Control& c = control();
  c.paced = plan.arrivals_ns.empty() ? 0 : 1;
  c.start_ns = plan.start_ns;
  c.count = count;
  c.timeout_ns = plan.timeout_ns;
  c.batching = plan.batching;
  c.deadline_ns = plan.arrivals_ns.empty() ? 0 : plan.start_ns + plan.arrivals_ns.back() + plan.drain_ns;
  c.next = 0;
  c.stopped = 0;
  seen_ = 0;
  pending_.clear();
  round_ = c.round.fetch_add(1, std::memory_order_release) + 1;
  wake_all(c.round);
}

void SharedQueue::stop() {
  control().stopped = 1;
}

void SharedQueue::close() {
  control().over = 1;
  control().round.fetch_add(1, std::memory_order_release);
  wake_all(control().round);
}

void SharedQueue::fail_claims(int instance) {
  const auto owner = static_cast<std::uint32_t>(instance) + 1;
  for (std::size_t i = 0; i < count_ && static_cast<std::int64_t>(i) < claimed(); ++i)
    if (slots()[i].owner.load(std::memory_order_acquire) == owner &&
        state_of(slots()[i]) == RequestState::kWaiting)
      set_state(slots()[i], RequestState::kFailed);
}

bool SharedQueue::ready(int instance) const {
  return control().seats[instance].ready.load(std::memory_order_acquire) != 0;
}

bool SharedQueue::finished(int instance) const {
  return control().seats[instance].finished_round.load(std::memory_order_acquire) == round_;
}

std::int64_t SharedQueue::first_call_ns() const {
  return control().seats[0].first_call_ns.load(std::memory_order_acquire);
}

// A process that died right after its claim leaves `next` behind, so the slots are counted.
std::int64_t SharedQueue::claimed() const {
  auto next = control().next.load(std::memory_order_acquire);
  while (next < control().count &&
         slots()[static_cast<std::size_t>(next)].owner.load(std::memory_order_acquire) != 0)
    ++next;
  return next;
}

Request SharedQueue::request(std::size_t index) const {
  const Slot& slot = slots()[index];
  Request r;
  r.state = state_of(slot);
  r.scheduled_ns = due(slot);
  r.start_ns = slot.start_ns;
  r.end_ns = slot.end_ns;
  r.input_ns = slot.input_ns;
  r.output_ns = slot.output_ns;
  r.batch = slot.batch;
  r.instance = static_cast<int>(slot.owner.load(std::memory_order_acquire)) - 1;
  r.issue_delay_ns = r.instance < 0 ? -1 : slot.issue_delay_ns;
  return r;
}

std::vector<Request> SharedQueue::collect() {
  for (const auto end = static_cast<std::size_t>(claimed()); seen_ < end; ++seen_) pending_.push_back(seen_);
  std::vector<Request> final;
  std::erase_if(pending_, [&](std::size_t index) {
    if (state_of(slots()[index]) == RequestState::kWaiting) return false;
    final.push_back(request(index));
    return true;
  });
  return final;
}

std::vector<Request> SharedQueue::requests() const {
  std::vector<Request> all;
  const auto count = paced() ? count_ : static_cast<std::size_t>(claimed());
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(request(i));
  return all;
}

// A request that was given back when the round was stopped belongs to no instance.
std::vector<ClaimTally> SharedQueue::tally() const {
  std::vector<ClaimTally> tallies(static_cast<std::size_t>(instances_));
  for (std::size_t i = 0; i < static_cast<std::size_t>(claimed()); ++i) {
    const auto r = request(i);
    if (r.instance >= 0 && r.state != RequestState::kWaiting)
      count(tallies.at(static_cast<std::size_t>(r.instance)), r.state);
  }
  return tallies;
}

void SharedQueue::mark_ready(int instance, std::int64_t first_call_ns) {
  auto& seat = control().seats[instance];
  seat.first_call_ns = first_call_ns;
  seat.ready.store(1, std::memory_order_release);
}

bool SharedQueue::wait_for_round() {
  Control& c = control();
  while (c.round.load(std::memory_order_acquire) == round_) sleep_while(c.round, round_);
  round_ = c.round.load(std::memory_order_acquire);
  if (c.over != 0) return false;
  map_slots(c.count);
  return true;
}

void SharedQueue::mark_finished(int instance) {
  map_slots(0);
  control().seats[instance].finished_round.store(round_, std::memory_order_release);
}

// A process that finds a slot taken advances `next`, so that none waits for an owner that died.
Slot* SharedQueue::claim(int instance) {
  Control& c = control();
  for (auto i = c.next.load(std::memory_order_acquire); i < c.count;
       i = c.next.load(std::memory_order_acquire)) {
    if (stopped()) return nullptr;
    Slot& slot = slots()[static_cast<std::size_t>(i)];
    std::uint32_t nobody = 0;
    const bool mine = slot.owner.compare_exchange_strong(nobody, static_cast<std::uint32_t>(instance) + 1,
                                                         std::memory_order_acq_rel);
    auto expected = i;
    c.next.compare_exchange_strong(expected, i + 1, std::memory_order_acq_rel);
    if (!mine) continue;
    slot.issue_delay_ns = -1;
    return &slot;
  }
  return nullptr;
}

std::int64_t SharedQueue::due(const Slot& slot) const {
  return paced() ? slot.scheduled_ns : control().start_ns;
}

bool SharedQueue::is_over(const Slot& slot) {
  return state_of(slot) != RequestState::kWaiting;
}

// Gives back a slot because the round was stopped before its request arrived.
void SharedQueue::give_back(Slot& slot) {
  slot.owner.store(0, std::memory_order_release);
}

// The request has arrived: it is served now, or given up.
void SharedQueue::look_at(Slot& slot, std::int64_t free_since, std::int64_t now) {
  const auto state = fate(slot, now);
  if (state != RequestState::kWaiting) return set_state(slot, state);
  if (free_since <= due(slot)) slot.issue_delay_ns = now - due(slot);
}

RequestState SharedQueue::fate(const Slot& slot, std::int64_t now) const {
  const Control& c = control();
  if (!paced()) return RequestState::kWaiting;
  if (now > c.deadline_ns) return RequestState::kUnfinished;
  const bool expired = c.timeout_ns > 0 && now - slot.scheduled_ns > c.timeout_ns;
  return expired ? RequestState::kTimedOut : RequestState::kWaiting;
}

void SharedQueue::complete(Slot& slot, std::int64_t now) {
  const Control& c = control();
  slot.end_ns = now;
  set_state(slot, paced() && now > c.deadline_ns ? RequestState::kUnfinished : RequestState::kDone);
}

}  // namespace paceline::measure
