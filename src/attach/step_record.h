// SPDX-License-Identifier: MIT
// Format of a step file: what a training process that paceline is attached to writes. Plain data, and C++17,
// because the library inside the process is compiled against old PyTorch headers too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Layout: the header, kNameSlots names, then `capacity` records. Every number is little-endian. The file is
// mapped and written in place, so that a process which is killed leaves all records but those of scopes that
// were open.
namespace paceline::attach {

inline constexpr char kStepMagic[8] = {'P', 'A', 'C', 'E', 'S', 'T', 'E', 'P'};
inline constexpr std::uint32_t kStepVersion = 1;
inline constexpr std::size_t kHeaderBytes = 4096, kNameBytes = 96, kNameSlots = 512, kRecordBytes = 32;
// Name of a record that has none, or whose name found no room in the table.
inline constexpr std::uint16_t kNoName = 0xffff;
// Group of a communication whose process group is not known.
inline constexpr std::uint16_t kNoGroup = 0xffff;

enum class StepKind : std::uint8_t {
  kUnwritten = 0,  // a slot that was handed out and not filled: its writer is at work, or was killed
  // A named scope of PyTorch (RecordScope::USER_SCOPE), such as "Optimizer.step#SGD.step",
  // "DistributedDataParallel.forward" or "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__".
  kScope = 1,
  // One backward call: from its first node until all its nodes have run, that is until the gradients of this
  // rank are ready. Waiting for other ranks is not in it, except where a node itself waits (FSDP). value:
  // when the call returned, behind waiting for them; 0 if not known.
  kBackward = 2,
  // A collective of c10d, such as "gloo:all_reduce": from the moment it was handed over (for a bucket of
  // DistributedDataParallel: its last gradient was ready) until it was complete. value: bytes of its inputs,
  // 0 if not known. group: kNoGroup if not known.
  kCommunication = 3,
  // Work of a device for the scope or backward call of this name. begin_ns and end_ns: device time, on the
  // monotonic clock up to a constant per device; value: monotonic time at which the host asked for it.
  kDevice = 4,
  // One optimizer has stepped: begin_ns == end_ns, a moment just before its scope ends, whose record
  // follows. group: the optimizer, from 0 in the order of first steps; value: the number of steps of this
  // optimizer so far. Written while the observer is off, too.
  kStep = 5,
  kObserverOn = 6,   // scopes are recorded from here on. value: number of the block, from 0
  kObserverOff = 7,  // from here on only steps are
  kOutOfRoom = 8,    // the last record of a full file
  // A counter of the process or of the CPUs that it may use, read between steps: begin_ns == end_ns, equal
  // for counters that were read together. group: StepCounter; value: the count.
  kCounter = 9,
};

// Counters of proc(5), getrusage(2) and cgroup v2 since the process, the machine or the group began.
enum class StepCounter : std::uint16_t {
  // Time that the thread which waited longest waited for a CPU, in ns, since the reading before; 0 in the
  // first one.
  kRunQueueWait,
  kCpuTime,      // of all threads, in ns
  kSystemTime,   // the part of it in the kernel
  kMinorFaults,  // pages that the kernel had to map
  kMajorFaults,  // pages that were read from a disk
  kThrottled,    // time in which the quota of the control group stopped threads, in ns
  // Time of the CPUs that it may use, summed over them, in ns.
  kBusyCpus,
  kStolenCpus,  // kept by the hypervisor
  kAllCpus,
  kCpuSet,  // which CPUs: equal for processes that may use the same ones
  kCount,
};

enum StepFlag : std::uint8_t {
  kAsynchronous = 1,  // it ended on another thread than it began
  kQueued = 2,        // its end is the moment at which it was queued on a device, not that of its completion
  kTraced = 4,        // of kStep: PyTorch's profiler ran in this step, or its trace was written
  kIntegers = 8,      // of kCommunication: its first input has 32-bit integers, which no gradient has
};

struct StepRecord {
  std::int64_t begin_ns, end_ns;  // CLOCK_MONOTONIC
  std::uint64_t value;            // its meaning: see StepKind
  std::uint16_t name;             // slot of the name table, or kNoName
  std::uint16_t thread;           // number within the process, from 0; the thread on which it began
  std::uint16_t group;            // its meaning: see StepKind; else 0
  std::uint8_t flags;             // of StepFlag
  std::uint8_t kind;              // StepKind, written last
};

// A name: UTF-8, cut to the room, the rest zero.
struct StepName {
  char text[kNameBytes];
};

struct StepHeader {
  char magic[8];
  std::uint32_t version, header_bytes, name_bytes, name_slots, record_bytes, reserved;
  std::uint64_t capacity;  // records
  // Slots handed out so far; beyond capacity: the file is full. Written while the job runs, by the __atomic
  // builtins.
  std::uint64_t used;
  std::uint64_t names;                     // names in use
  std::uint64_t lost;                      // scopes without a free context, or without room
  std::uint64_t block_steps;               // steps of a block
  std::uint64_t blocks_per_off;            // the observer is off in one of this number of blocks; 0: never
  std::int64_t rank, world, local_rank;    // world 1 and rank 0 without ranks
  std::int64_t process, parent;            // process ids
  std::int64_t realtime_ns, monotonic_ns;  // one moment on both clocks
  std::int64_t closed_ns;              // monotonic time of an orderly exit; 0: still running, or it was ended
  std::int64_t restart;                // TORCHELASTIC_RESTART_COUNT, or 0
  std::uint8_t rank_known, unused[7];  // 1: a launcher or torch.distributed said the rank
  char host[256];
  char torch[64];       // "2.15.0+cpu"
  char backend[64];     // "gloo"; empty without torch.distributed
  char launcher[64];    // how the rank was known
  char job[128];        // the launcher's id of the job
  char device[128];     // "cuda:0 NVIDIA H100"; empty on CPUs
  char command[2048];   // words of the command line, joined by blanks, cut to the room
  std::uint64_t clock;  // steps so far; at the same step, equal in all ranks
  // Steps to trace: how many, the number of this trace, and after which `clock`; 0: none. Written by who
  // watches while the job runs.
  std::uint64_t trace_steps, trace_number, trace_after;
  char exception[64];  // type of the one that ended the process; empty: none, or it is not known
};

static_assert(sizeof(StepRecord) == kRecordBytes && std::is_trivial<StepRecord>::value);
static_assert(sizeof(StepName) == kNameBytes);
static_assert(sizeof(StepHeader) <= kHeaderBytes && std::is_standard_layout<StepHeader>::value);

// Where the first record stands, and the length of a file with room for this number of records.
inline constexpr std::size_t kRecordsAt = kHeaderBytes + kNameSlots * kNameBytes;
constexpr std::uint64_t step_file_bytes(std::uint64_t capacity) {
  return kRecordsAt + capacity * kRecordBytes;
}

}  // namespace paceline::attach
