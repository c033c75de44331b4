// SPDX-License-Identifier: MIT
#include "measure/turns.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>

#include "base/ask_until.h"
#include "base/error.h"

namespace paceline::measure {
namespace {

constexpr double kStopsWithinS = 0.05;

// A process stops when a thread of it takes the signal: its first one, which needs a CPU for that.
bool is_stopped(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return true;  // it is gone
  const char state = stat[name_end + 2];
  return state != 'R' && state != 'S' && state != 'D';
}

}  // namespace

Turns::Turns(int processes) {
  if (processes < 1 || processes > kMostProcesses)
    throw Error(ErrorCode::kInternal,
                fmt::format("{} processes in turns; 1 to {} are possible", processes, kMostProcesses));
  file_ = shared_memory_file("paceline-turns", sizeof(Control));
  mapping_ = SharedMapping(file_.get(), 0, sizeof(Control));
  control().seats = static_cast<std::uint32_t>(processes);
}

Turns::Turns(FileDescriptor file, int seat)
    : file_(std::move(file)), mapping_(file_.get(), 0, sizeof(Control)), seat_(seat) {
  if (seat < 0 || seat >= static_cast<int>(control().seats))
    throw Error(ErrorCode::kInternal, fmt::format("seat {} of {}", seat, control().seats));
}

Turns::State Turns::state(int seat) const {
  return static_cast<State>(
      control().seat[static_cast<std::size_t>(seat)].state.load(std::memory_order_acquire));
}

void Turns::set_state(int seat, State state) const {
  control().seat[static_cast<std::size_t>(seat)].state.store(state, std::memory_order_release);
}

int Turns::next_after(int seat, State state) const {
  const int seats = static_cast<int>(control().seats);
  for (int step = 1; step <= seats; ++step)
    if (const int next = (seat + step) % seats; this->state(next) == state) return next;
  return -1;
}

bool Turns::any(State state, int besides) const {
  const int next = next_after(besides, state);
  return next >= 0 && next != besides;
}

bool Turns::ready(int seat) const {
  return state(seat) != kAbsent;
}

bool Turns::is_alone() const {
  return !any(kMeasures, seat_);
}

std::vector<int> Turns::other_processes() const {
  std::vector<int> ids;
  for (int seat = 0; seat < static_cast<int>(control().seats); ++seat)
    if (seat != seat_ && (state(seat) == kMeasures || state(seat) == kHasMeasured))
      ids.push_back(control().seat[static_cast<std::size_t>(seat)].process.load(std::memory_order_acquire));
  return ids;
}

void Turns::signal(int seat, int signal) const {
  const int process = control().seat[static_cast<std::size_t>(seat)].process.load(std::memory_order_acquire);
  if (process > 0 && process != ::getpid()) ::kill(process, signal);
}

// Pools spin after their work, for up to 50 ms.
void Turns::stop_others() const {
  for (int seat = 0; seat < static_cast<int>(control().seats); ++seat)
    if (seat != seat_ && (state(seat) == kMeasures || state(seat) == kHasMeasured)) signal(seat, SIGSTOP);
  const auto deadline = deadline_in(kStopsWithinS);
  for (const int process : other_processes())
    if (process != ::getpid())
      ask_until(deadline, {std::chrono::milliseconds(1), std::chrono::milliseconds(1)},
                [&] { return is_stopped(process); });
}

// Only who holds the turn stops processes, so that none is stopped after this woke it.
void Turns::give_to(int seat, std::uint32_t from) const {
  if (!control().turn.compare_exchange_strong(from, turn_of(seat), std::memory_order_acq_rel)) return;
  wake_all(control().turn);
  signal(seat, SIGCONT);
}

// Processes that have measured work again when none measures, so that they disturb nobody.
void Turns::pass_on(int from) const {
  int next = next_after(from, kMeasures);
  if (next < 0) next = next_after(from, kHasMeasured);
  if (next >= 0) give_to(next, turn_of(from));
}

void Turns::start_if_all_ready() const {
  if (next_after(0, kAbsent) >= 0) return;
  // Several may come here at once; the turn is given once.
  if (const int first = next_after(static_cast<int>(control().seats) - 1, kMeasures); first >= 0)
    give_to(first, kNobodys);
}

void Turns::wait() const {
  const auto mine = turn_of(seat_);
  for (auto turn = control().turn.load(std::memory_order_acquire); turn != mine;
       turn = control().turn.load(std::memory_order_acquire))
    sleep_while(control().turn, turn);
  stop_others();
}

void Turns::get_ready() {
  control().seat[static_cast<std::size_t>(seat_)].process = ::getpid();
  set_state(seat_, kMeasures);
}

void Turns::begin() {
  start_if_all_ready();
  wait();
}

void Turns::hand_over() {
  if (is_alone()) return;
  pass_on(seat_);
  wait();
}

void Turns::end() {
  set_state(seat_, kHasMeasured);
  if (next_after(seat_, kMeasures) < 0) return;
  pass_on(seat_);
  wait();
}

int Turns::holder() const {
  return static_cast<int>(control().turn.load(std::memory_order_acquire)) - 1;
}

void Turns::leave(int seat) {
  const bool absent = state(seat) == kAbsent;
  set_state(seat, kLeft);
  if (absent) start_if_all_ready();
  if (control().turn.load(std::memory_order_acquire) == turn_of(seat)) pass_on(seat);
}

}  // namespace paceline::measure
