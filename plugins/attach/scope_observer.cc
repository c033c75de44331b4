// SPDX-License-Identifier: MIT
#include "attach/scope_observer.h"

#include <ATen/record_function.h>
#include <pthread.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "attach/capture_mode.h"
#include "attach/context_pool.h"
#include "attach/device_times.h"
#include "attach/process_counters.h"
#include "attach/step_writer.h"

namespace paceline::attach {
namespace {

using Scopes = std::unordered_set<at::RecordScope, std::hash<at::RecordScope>>;

struct Library {
  std::string_view prefix;
  bool queued;  // its scopes end when the work was queued on a device
};
constexpr std::array kLibraries{Library{"gloo:", false}, Library{"nccl:", true}, Library{"mpi:", false},
                                Library{"ucc:", false}, Library{"xccl:", true}};

// Scopes around which the device is asked, too; those inside them are many.
constexpr std::array<std::string_view, 2> kOnDevice{"DistributedDataParallel.forward", "Optimizer.step#"};

struct Begun final : at::ObserverContext {
  StepRecord record{};
  DeviceTimes::Ticket device = DeviceTimes::kNone;
  static void* operator new(std::size_t bytes) noexcept;
  static void operator delete(void* object);
};

struct Observer {
  StepWriter writer;
  ContextPool<sizeof(Begun)> pool;
  BlockSchedule schedule;
  BlockSchedule::Block block;
  at::CallbackHandle scopes = at::INVALID_CALLBACK_HANDLE, backward = at::INVALID_CALLBACK_HANDLE;
  std::atomic<bool> on{false};
  std::array<const void*, StepClock::kOptimizers> optimizers{};
  std::array<std::uint64_t, StepClock::kOptimizers> steps{};
  StepClock clock;
  // Backward call that is under way.
  std::atomic<std::int64_t> backward_begin_ns{0};
  std::atomic<std::uint16_t> backward_thread{0};
  std::atomic<DeviceTimes::Ticket> backward_device{DeviceTimes::kNone};
  std::int64_t backward_at_step_ns = 0;  // backward_begin_ns at the latest step of an optimizer
  std::unique_ptr<DeviceTimes> device;   // null without one
  ProcessCounters counters;
  bool tracing = false;  // the step under way
  int traced = 0;        // steps to mark, among them the one in which the trace is written
};

// Never destroyed: threads of PyTorch may call until the process is gone.
Observer& observer() {
  static auto* const kObserver = new Observer;
  return *kObserver;
}

void* Begun::operator new(std::size_t) noexcept {
  return observer().pool.take();
}
void Begun::operator delete(void* object) {
  observer().pool.give_back(object);
}

std::uint64_t bytes_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::uint64_t bytes = 0;
  for (const auto& input : inputs)
    if (input.isTensor() && input.toTensor().defined()) bytes += input.toTensor().nbytes();
  return bytes;
}

// DistributedDataParallel exchanges its map of used parameters so, behind the last bucket of gradients.
bool is_of_integers(c10::ArrayRef<const c10::IValue> inputs) {
  const auto first = std::find_if(inputs.begin(), inputs.end(), [](const c10::IValue& one) {
    return one.isTensor() && one.toTensor().defined();
  });
  return first != inputs.end() && first->toTensor().scalar_type() == at::kInt;
}

// A profiler's schedule numbers its steps, and each name takes a slot.
std::string_view without_number(std::string_view name) {
  constexpr std::string_view kNumbered = "ProfilerStep#";
  return name.substr(0, kNumbered.size()) == kNumbered ? kNumbered.substr(0, kNumbered.size() - 1) : name;
}

std::unique_ptr<at::ObserverContext> scope_began(const at::RecordFunction& scope) {
  auto& me = observer();
  if (!me.on.load(std::memory_order_relaxed)) return nullptr;
  std::unique_ptr<Begun> begun(new Begun);
  if (!begun) {
    me.writer.lose();
    return nullptr;
  }
  const auto name = without_number(scope.name());
  auto& record = begun->record;
  record.kind = static_cast<std::uint8_t>(StepKind::kScope);
  for (const auto& library : kLibraries) {
    if (name.substr(0, library.prefix.size()) != library.prefix) continue;
    record.kind = static_cast<std::uint8_t>(StepKind::kCommunication);
    record.value = bytes_of(scope.inputs());
    record.group = kNoGroup;
    record.flags = static_cast<std::uint8_t>((library.queued ? kQueued : 0) |
                                             (is_of_integers(scope.inputs()) ? kIntegers : 0));
  }
  record.name = me.writer.name(name);
  record.thread = thread_number();
  if (me.device && std::any_of(kOnDevice.begin(), kOnDevice.end(),
                               [&](auto prefix) { return name.substr(0, prefix.size()) == prefix; }))
    begun->device = me.device->begin(record.name);
  record.begin_ns = monotonic_ns();
  return begun;
}

void scope_ended(const at::RecordFunction&, at::ObserverContext* context) {
  if (!context) return;
  auto record = static_cast<Begun*>(context)->record;
  record.end_ns = monotonic_ns();
  if (observer().device) observer().device->end(static_cast<Begun*>(context)->device);
  if (thread_number() != record.thread) record.flags |= kAsynchronous;
  observer().writer.add(record);
}

void watch_backward(bool watch) {
  const auto handle = observer().backward;
  if (watch)
    at::reenableCallback(handle);
  else
    at::disableCallback(handle);
}

// Called behind the callbacks that were there when all nodes had run: DDP waits and copies gradients in one.
void backward_returned(StepRecord record) {
  record.value = static_cast<std::uint64_t>(monotonic_ns());
  observer().writer.add(record);
}

// Called when all nodes of a backward call have run, before callbacks that wait for other ranks: those were
// queued later.
void backward_ended() {
  auto& me = observer();
  const auto begin_ns = me.backward_begin_ns.exchange(0);
  if (begin_ns == 0) return;
  StepRecord record{};
  record.begin_ns = begin_ns;
  record.end_ns = monotonic_ns();
  record.name = kNoName;
  record.thread = me.backward_thread;
  record.kind = static_cast<std::uint8_t>(StepKind::kBackward);
  if (me.device) me.device->end(me.backward_device.exchange(DeviceTimes::kNone));
  if (me.on) watch_backward(true);
  try {
    torch::autograd::Engine::get_default_engine().queue_callback([record] { backward_returned(record); });
  } catch (...) {
    me.writer.add(record);
  }
}

// Called for the first node of a backward call. The others are not watched: a callback at every node costs
// more than all else together.
std::unique_ptr<at::ObserverContext> node_began(const at::RecordFunction&) {
  auto& me = observer();
  std::int64_t none = 0;
  if (!me.on.load(std::memory_order_relaxed) ||
      !me.backward_begin_ns.compare_exchange_strong(none, monotonic_ns()))
    return nullptr;
  me.backward_thread = thread_number();
  if (me.device) me.backward_device = me.device->begin(kNoName);
  try {
    torch::autograd::Engine::get_default_engine().queue_callback(backward_ended);
    watch_backward(false);
  } catch (...) {  // a node that is run outside of a backward call
    me.backward_begin_ns = 0;
  }
  return nullptr;
}

// Forgets a backward call that an exception ended, which calls nothing: two steps outside of backward calls
// find it under way. Optimizers that step within one are left alone.
void forget_failed_backward() {
  auto& me = observer();
  auto begin_ns = me.backward_begin_ns.load();
  const bool before = begin_ns == std::exchange(me.backward_at_step_ns, begin_ns);
  if (begin_ns == 0 || !before || torch::autograd::get_current_graph_task_id() >= 0) return;
  if (me.backward_begin_ns.compare_exchange_strong(begin_ns, 0) && me.on) watch_backward(true);
}

void mark(StepKind kind, std::uint64_t value, std::uint16_t group, std::uint8_t flags = 0) {
  StepRecord record{};
  record.begin_ns = record.end_ns = monotonic_ns();
  record.value = value;
  record.name = kNoName;
  record.thread = thread_number();
  record.group = group;
  record.flags = flags;
  record.kind = static_cast<std::uint8_t>(kind);
  observer().writer.add(record);
}

// Adds what disturbs the process. The thread that trains calls it, between steps.
void count() {
  auto& me = observer();
  const auto now_ns = monotonic_ns();
  if (!me.counters.due(now_ns)) return;
  StepRecord record{};
  record.begin_ns = record.end_ns = now_ns;
  record.name = kNoName;
  record.thread = thread_number();
  record.kind = static_cast<std::uint8_t>(StepKind::kCounter);
  for (const auto& one : me.counters.read(now_ns)) {
    record.group = static_cast<std::uint16_t>(one.counter), record.value = one.value;
    me.writer.add(record);
  }
}

void switch_to(BlockSchedule::Block block) {
  auto& me = observer();
  const bool was_on = me.on.exchange(block.on);
  if (was_on != block.on) {
    if (block.on)
      at::reenableCallback(me.scopes);
    else
      at::disableCallback(me.scopes);
    me.backward_begin_ns = 0;
    watch_backward(block.on);
  }
  me.block = block;
  mark(block.on ? StepKind::kObserverOn : StepKind::kObserverOff, block.number, 0);
}

void stop() {
  auto& me = observer();
  if (!me.on.exchange(false)) return;
  at::disableCallback(me.scopes);
  watch_backward(false);
}

// Number of an optimizer, in the order of first steps; the last one stands for all that found no place.
std::size_t optimizer_number(const void* optimizer) {
  auto& all = observer().optimizers;
  const auto* const found =
      std::find_if(all.begin(), all.end() - 1, [&](const void* one) { return one == optimizer || !one; });
  const auto number = static_cast<std::size_t>(found - all.begin());
  all[number] = optimizer;
  return number;
}

// Whether the next step is to be traced.
bool goes_on_traced() {
  constexpr int kToMark = 2;
  auto& me = observer();
  me.tracing = me.writer.wants_trace(me.clock.now());
  if (me.tracing)
    me.traced = kToMark;
  else
    me.traced = std::max(0, me.traced - 1);
  return me.tracing;
}

// Leaves the file to the parent. The child may make its own.
void forked() {
  auto& me = observer();
  me.on = false;
  me.writer.abandon();
  me.optimizers = {};
  me.steps = {};
  me.clock = {};
  me.backward_begin_ns = 0;
  me.counters = ProcessCounters();
  me.tracing = false, me.traced = 0;
  if (me.device) me.device->give_up();
}

// The device that the header names, if PACELINE_ATTACH_DEVICE asks for its times.
std::unique_ptr<DeviceTimes> device_of(const StepHeader& header) try {
  const std::string_view text = header.device;
  if (text.empty() || !std::getenv("PACELINE_ATTACH_DEVICE")) return nullptr;
  const c10::Device device(std::string(text.substr(0, text.find(' '))));
  const auto relax = device.is_cuda() ? find_capture_mode() : nullptr;
  if (device.is_cuda() && !relax) return nullptr;
  return std::make_unique<DeviceTimes>(observer().writer, device, relax);
} catch (const std::exception&) {
  return nullptr;
}

void install() {
  auto& me = observer();
  if (me.scopes != at::INVALID_CALLBACK_HANDLE) return;
  me.scopes = at::addGlobalCallback(
      at::RecordFunctionCallback(scope_began, scope_ended).scopes(Scopes{at::RecordScope::USER_SCOPE}));
  me.backward = at::addGlobalCallback(
      at::RecordFunctionCallback(node_began, nullptr).scopes(Scopes{at::RecordScope::BACKWARD_FUNCTION}));
  at::disableCallback(me.scopes);
  at::disableCallback(me.backward);
  ::pthread_atfork(nullptr, nullptr, forked);
}

}  // namespace

std::string begin_recording(const std::string& path, const StepHeader& header,
                            const BlockSchedule& schedule) try {
  auto& me = observer();
  if (auto why = me.writer.open(path, header); !why.empty()) return why;
  install();
  if (!me.device) me.device = device_of(header);
  me.schedule = schedule;
  switch_to(schedule.block_of(0, 0));
  return "";
} catch (const std::exception& e) {
  return e.what();
}

Next optimizer_stepped(const void* optimizer) {
  auto& me = observer();
  const auto number = optimizer_number(optimizer);
  mark(StepKind::kStep, ++me.steps[number], static_cast<std::uint16_t>(number),
       me.traced > 0 ? std::uint8_t{kTraced} : std::uint8_t{0});
  forget_failed_backward();
  if (!me.writer.make_room()) {
    stop();
    return Next::kNothing;
  }
  if (!me.clock.stepped(number, me.schedule.block_steps())) return Next::kSame;
  if (me.device && me.on) me.device->step();
  if (me.on) count();
  const auto block = me.schedule.block_of(me.clock.now(), me.writer.used());
  if (block.number != me.block.number) switch_to(block);
  return goes_on_traced() ? Next::kTraced : Next::kStep;
}

std::uint64_t trace_number() {
  return observer().writer.trace_number();
}

void end_recording(const char* exception) {
  stop();
  observer().writer.close(exception ? exception : "");
}

}  // namespace paceline::attach
