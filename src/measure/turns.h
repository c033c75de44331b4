// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/handle.h"
#include "measure/shared_mapping.h"

// Turns of processes that are compared: one works while the others are stopped (SIGSTOP), so that a drift of
// the machine meets all alike and no waiting thread takes a CPU (methodology: turns within a pair). The state
// lies in a memory file, and waiting is a shared futex.
namespace paceline::measure {

class Turns {
 public:
  static constexpr int kMostProcesses = 16;

  explicit Turns(int processes);         // for the parent: a new memory file
  Turns(FileDescriptor file, int seat);  // for a process: the file that it inherited, and its number
  [[nodiscard]] int file() const { return file_.get(); }  // for the processes to inherit

  // For the parent.
  [[nodiscard]] bool ready(int seat) const;  // it waits for its first turn, or has left
  void leave(int seat);                      // on behalf of a process that has ended
  [[nodiscard]] int holder() const;          // whose turn it is; -1: not all are ready

  // For a process. Those that sleep return with the turn; whoever has it stops all others.
  void get_ready();                     // returns at once; only now may the turn come to it
  void begin();                         // sleeps until all are ready, and it is its turn
  [[nodiscard]] bool is_alone() const;  // no other one measures
  void hand_over();                     // lets the others work once each
  void end();                           // has measured: sleeps until all have
  void leave() { leave(seat_); }        // returns without the turn
  [[nodiscard]] std::vector<int> other_processes() const;  // ids of those that are ready or have measured

 private:
  enum State : std::uint32_t { kAbsent, kMeasures, kHasMeasured, kLeft };
  struct Seat {
    std::atomic<std::uint32_t> state;
    std::atomic<std::int32_t> process;
  };
  struct Control {
    std::atomic<std::uint32_t> turn;  // turn_of the seat whose turn it is, or kNobodys
    std::uint32_t seats;
    std::array<Seat, kMostProcesses> seat;
  };
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  static constexpr std::uint32_t kNobodys = 0;  // not all are ready
  static std::uint32_t turn_of(int seat) { return static_cast<std::uint32_t>(seat) + 1; }

  [[nodiscard]] Control& control() const { return *static_cast<Control*>(mapping_.data()); }
  [[nodiscard]] State state(int seat) const;
  void set_state(int seat, State state) const;
  [[nodiscard]] bool any(State state, int besides) const;
  // The seat after `seat`, itself last, in this state; -1: none is.
  [[nodiscard]] int next_after(int seat, State state) const;
  void start_if_all_ready() const;
  void pass_on(int from) const;
  void give_to(int seat, std::uint32_t from) const;  // nothing if the turn is not `from`
  void wait() const;
  void stop_others() const;
  void signal(int seat, int signal) const;

  FileDescriptor file_;
  SharedMapping mapping_;
  int seat_ = -1;
};

}  // namespace paceline::measure
