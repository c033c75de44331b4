// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/traces/trace_bytes.h"
#include "analysis/traces/trace_json.h"
#include "analysis/traces/trace_roles.h"
#include "analysis/traces/trace_time.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::int64_t kLongest = 31'536'000'000'000'000;  // ns; a year
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::int64_t kMostElements = 1'000'000'000'000'000;  // of the inputs of an operator

struct Category {
  std::string_view name;
  EventKind kind;
};
// Kineto's words; the ones with capitals are those of PyTorch up to 1.11.
constexpr std::array<Category, 14> kCategories{{{"cpu_op", EventKind::kOperator},
                                                {"Operator", EventKind::kOperator},
                                                {"user_annotation", EventKind::kAnnotation},
                                                {"kernel", EventKind::kKernel},
                                                {"Kernel", EventKind::kKernel},
                                                {"gpu_memcpy", EventKind::kCopy},
                                                {"Memcpy", EventKind::kCopy},
                                                {"gpu_memset", EventKind::kCopy},
                                                {"Memset", EventKind::kCopy},
                                                {"cuda_runtime", EventKind::kLaunch},
                                                {"cuda_driver", EventKind::kLaunch},
                                                {"Runtime", EventKind::kLaunch},
                                                {"xpu_runtime", EventKind::kLaunch},
                                                {"privateuse1_runtime", EventKind::kLaunch}}};

// A time as the event has it.
struct RawTime {
  std::string_view field;
  std::string written;
  bool is_text = false;
};

// Fields read so far of the current event.
struct RawEvent {
  std::string name, category, phase;
  RawTime begin{"ts", {}, false}, duration{"dur", {}, false};
  TraceThread thread;
  std::int64_t correlation = -1;
  EventDetails details;
  std::string ranks, group;  // of an exchange: which ranks take part, the name of their group

  void clear() {  // keeps the memory of its texts
    for (std::string* text : {&name, &category, &phase, &begin.written, &duration.written, &ranks, &group})
      text->clear();
    begin.is_text = duration.is_text = false;
    thread = {};
    correlation = -1;
    details = {};
  }
};

// Takes a trace from the reader's calls. The list of events is the file itself or its member traceEvents;
// depths within it: 1 an event, 2 its args, 3 "Input Dims", 4 one input, 5 a tensor in a list of them.
class TraceBuilder : public JsonEvents {
 public:
  TraceBuilder(Trace& trace, std::int64_t memory) : trace_(trace), memory_(memory) {}
  bool has_events = false;
  void finish();

  void open(bool object) override;
  void close() override;
  void key(std::string_view text) override;
  void text(std::string_view text) override;
  void number(std::string_view digits) override;
  void word(std::string_view) override {}

 private:
  [[nodiscard]] int in_event() const { return events_at_ > 0 ? depth_ - events_at_ : 0; }
  [[noreturn]] void refuse(std::string_view field, std::string_view value, std::string_view rule) const;
  void header(std::string_view value, bool is_text);
  std::int64_t whole(std::string_view field, std::string_view value, std::int64_t least,
                     std::int64_t most) const;
  void keep();
  std::optional<EventKind> kind_of_event();
  std::int64_t time_of(const RawTime& time) const;
  void account(std::int64_t bytes);
  std::uint32_t index_of(const std::string& name);
  std::uint32_t index_of(const TraceThread& thread);
  void end_of_shape();
  void argument(std::string_view text);
  std::uint32_t details_of_event(EventKind kind);

  Trace& trace_;
  std::int64_t memory_, used_ = 0;
  int depth_ = 0, events_at_ = 0;         // events_at_: depth of the list of events; 0: outside it
  std::int64_t event_number_ = 0;         // of the file, from 1
  std::string section_, field_, key_;     // the last keys: of the file, of an event, of all
  std::int64_t elements_ = 1, dims_ = 0;  // of the shape that is open
  RawEvent event_;
  bool has_categories_ = false, has_device_ = false;
  std::vector<TraceEvent> by_name_;  // events without a category, as their names say
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> threads_;
};

void TraceBuilder::refuse(std::string_view field, std::string_view value, std::string_view rule) const {
  throw Error(ErrorCode::kData,
              fmt::format("{}: {} of event {} ('{}') is {}: {}", trace_.file, field, event_number_,
                          shown_value(event_.name, 48), shown_value(value, 40), rule));
}

std::int64_t TraceBuilder::whole(std::string_view field, std::string_view value, std::int64_t least,
                                 std::int64_t most) const {
  const auto read = parse_int(value);
  if (read && *read >= least && *read <= most) return *read;
  throw Error(ErrorCode::kData, fmt::format("{}: {} is {}: it is a whole number from {} to {}", trace_.file,
                                            field, shown_value(value, 40), least, most));
}

void TraceBuilder::header(std::string_view value, bool is_text) {
  if (depth_ == 1 && key_ == "host_name" && is_text) trace_.host = is_utf8(value) ? value : "?";
  if (depth_ == 1 && key_ == "baseTimeNanoseconds")
    trace_.base_ns = whole(key_, value, 0, 4'000'000'000'000'000'000);
  if (depth_ != 2 || section_ != "distributedInfo") return;
  if (key_ == "rank") trace_.rank = whole("distributedInfo.rank", value, 0, kMostRanks - 1);
  if (key_ == "world_size") trace_.world = whole("distributedInfo.world_size", value, 1, kMostRanks);
}

void TraceBuilder::open(bool object) {
  ++depth_;
  if (events_at_ == 0 && !object && (depth_ == 1 || (depth_ == 2 && section_ == "traceEvents"))) {
    events_at_ = depth_;
    has_events |= depth_ == 2;  // a bare list is one of events only with an event in it
  } else if (in_event() == 1) {
    event_.clear();
    ++event_number_;
  } else if (in_event() >= 4) {
    elements_ = 1;
    dims_ = 0;
  }
}

void TraceBuilder::close() {
  if (in_event() == 1) keep();
  if (in_event() >= 4) end_of_shape();
  if (--depth_ < events_at_) events_at_ = 0;
}

void TraceBuilder::key(std::string_view text) {
  key_ = text;
  if (depth_ == 1) section_ = text;
  if (in_event() == 1) field_ = text;
}

void TraceBuilder::text(std::string_view text) {
  if (events_at_ == 0) return header(text, true);
  if (in_event() == 2 && field_ == "args") return argument(text);
  if (in_event() != 1) return;
  if (key_ == "ph") event_.phase = text;
  if (key_ == "cat") event_.category = text;
  if (key_ == "name") event_.name = text;
  if (key_ == "pid") event_.thread.process = std::hash<std::string_view>{}(text);
  if (key_ == "tid") event_.thread.thread = std::hash<std::string_view>{}(text);
  for (RawTime* time : {&event_.begin, &event_.duration})
    if (key_ == time->field) time->written = text, time->is_text = true;
}

void TraceBuilder::argument(std::string_view text) {
  if (key_ == "Collective name") event_.details.call = kind_of_call(text);
  if (key_ == "Process Group Ranks") event_.ranks = text;
  if (key_ == "Process Group Name") event_.group = text;
}

void TraceBuilder::number(std::string_view digits) {
  if (events_at_ == 0) return header(digits, false);
  const int at = in_event();
  if (at >= 4 && field_ == "args" && key_ == "Input Dims") {
    const auto dim = parse_int(digits).value_or(0);
    if (dims_++ == 0 && event_.details.first_dim == 0) event_.details.first_dim = dim;
    if (dim < 0 || __builtin_mul_overflow(elements_, dim, &elements_)) elements_ = kMostElements;
  }
  if (at == 2 && field_ == "args" && key_ == "correlation")
    event_.correlation = parse_int(digits).value_or(-1);
  if (at != 1) return;
  if (key_ == "pid") event_.thread.process = static_cast<std::uint64_t>(parse_int(digits).value_or(0));
  if (key_ == "tid") event_.thread.thread = static_cast<std::uint64_t>(parse_int(digits).value_or(0));
  for (RawTime* time : {&event_.begin, &event_.duration})
    if (key_ == time->field) time->written = digits;
}

void TraceBuilder::end_of_shape() {
  if (dims_ > 0)
    event_.details.elements =
        std::min(kMostElements, event_.details.elements + std::min(elements_, kMostElements));
  dims_ = 0;
}

std::int64_t TraceBuilder::time_of(const RawTime& time) const {
  if (time.is_text)
    refuse(time.field, fmt::format("the text \"{}\"", time.written),
           "a trace has its times as numbers of µs");
  const auto ns = ns_of_us(time.written);
  if (!ns || (&time == &event_.duration && *ns > kLongest))
    refuse(time.field, time.written, "that is no time in µs that a training takes");
  return *ns;
}

void TraceBuilder::account(std::int64_t bytes) {
  used_ += bytes;
  if (used_ > memory_)
    throw Error(
        ErrorCode::kData,
        fmt::format("{} needs more than the {} of memory that one trace may take: record fewer steps, or "
                    "without Python's stacks and shapes",
                    trace_.file, format_bytes(static_cast<double>(memory_))));
}

std::uint32_t TraceBuilder::index_of(const std::string& name) {
  const auto [at, is_new] = names_.try_emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
  if (!is_new) return at->second;
  account(static_cast<std::int64_t>(2 * (name.size() + 64)));
  std::string shown = name;
  if (!is_utf8(shown))
    std::ranges::replace_if(
        shown, [](char c) { return static_cast<signed char>(c) < 0; }, '?');
  trace_.names.push_back(std::move(shown));
  return at->second;
}

std::uint32_t TraceBuilder::index_of(const TraceThread& thread) {
  const auto [at, is_new] = threads_.try_emplace(std::pair(thread.process, thread.thread),
                                                 static_cast<std::uint32_t>(trace_.threads.size()));
  if (is_new) {
    account(2 * 64);
    trace_.threads.push_back(thread);
  }
  return at->second;
}

std::optional<EventKind> TraceBuilder::kind_of_event() {
  if (!event_.category.empty()) {
    has_categories_ = true;
    const auto row = std::ranges::find(kCategories, event_.category, &Category::name);
    return row == kCategories.end() ? std::nullopt : std::optional(row->kind);
  }
  ++trace_.uncategorised;
  const auto kind = kind_of_name(event_.name);
  has_device_ |= kind == EventKind::kKernel;
  return kind == EventKind::kKernel ? std::nullopt : kind;
}

// Names suffice for a trace that has no categories at all, and no device: a kernel may be called as an
// operator is.
void TraceBuilder::finish() {
  if (has_categories_ || has_device_) return;
  trace_.events = std::move(by_name_);
  trace_.uncategorised -= static_cast<std::int64_t>(trace_.events.size());
}

// Groups have the same name on all ranks, and new ones a list of their ranks, which says more.
std::uint32_t TraceBuilder::details_of_event(EventKind kind) {
  if (!event_.details.any() || (kind != EventKind::kOperator && kind != EventKind::kKernel)) return 0;
  const std::string& group = event_.ranks.size() > 2 ? event_.ranks : event_.group;
  if (!group.empty())
    event_.details.group = static_cast<std::uint32_t>(std::hash<std::string_view>{}(group)) | 1U;
  account(sizeof(EventDetails));
  trace_.details.push_back(event_.details);
  return static_cast<std::uint32_t>(trace_.details.size() - 1);
}

void TraceBuilder::keep() {
  has_events |= !event_.phase.empty();
  if (event_.phase != "X") return;
  const auto kind = kind_of_event();
  if (!kind) return;
  const bool written = !event_.begin.written.empty() && !event_.duration.written.empty();
  const std::int64_t begin = written ? time_of(event_.begin) : 0,
                     length = written ? time_of(event_.duration) : 0;
  if (!written || length < 0 || (begin == 0 && length == 0)) {
    ++trace_.untimed;
    if (kind != EventKind::kAnnotation) return;
    account(sizeof(std::uint32_t));
    return trace_.untimed_annotations.push_back(index_of(event_.name));
  }
  account(sizeof(TraceEvent));
  TraceEvent kept{.begin = begin,
                  .end = begin + length,
                  .correlation = event_.correlation,
                  .thread = index_of(event_.thread),
                  .name = index_of(event_.name),
                  .kind = *kind};
  kept.details = details_of_event(*kind);
  (event_.category.empty() ? by_name_ : trace_.events).push_back(kept);
}

// Why a file cannot be read to its end.
std::string why_not(const std::string& name, const JsonProblem& problem, const TraceBytes& bytes) {
  if (bytes.damaged())
    return fmt::format("{} is damaged: gzip cannot unpack it beyond byte {} of the trace; copy it again",
                       name, problem.at);
  switch (problem.kind) {
    case JsonProblem::Kind::kEndsEarly:
      return fmt::format(
          "{} ends too early, at byte {}: the trace was cut off; copy it again, or wait until the profiler "
          "has "
          "written all of it",
          name, problem.at);
    case JsonProblem::Kind::kLongString:
      return fmt::format("{} has a text of more than {} at byte {}: no profiler writes one", name,
                         format_bytes(static_cast<double>(kLongestString)), problem.at);
    case JsonProblem::Kind::kTooDeep:
      return fmt::format(
          "{} has more than {} objects or lists inside each other at byte {}: no profiler "
          "writes such a file",
          name, kDeepest, problem.at);
    case JsonProblem::Kind::kUnexpected:
      break;
  }
  return fmt::format(
      "{} is not JSON: byte {} is not expected there; --from takes the files that "
      "export_chrome_trace writes",
      name, problem.at);
}

}  // namespace

TraceReading read_trace(const std::filesystem::path& file, const std::string& name, std::int64_t memory) {
  TraceReading reading;
  Trace& trace = reading.trace.emplace();
  trace.file = name;
  TraceBytes bytes(file, name);
  TraceBuilder builder(trace, memory);
  if (const auto problem = read_json(bytes, builder)) {
    reading.why_none = why_not(name, *problem, bytes);
    if (builder.has_events || bytes.damaged()) throw Error(ErrorCode::kData, reading.why_none);
  } else if (!builder.has_events) {
    reading.why_none = fmt::format("{} is no trace: it has no traceEvents", name);
  }
  if (!reading.why_none.empty()) {
    reading.trace.reset();
    return reading;
  }
  builder.finish();
  std::ranges::sort(trace.events, [](const TraceEvent& a, const TraceEvent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  return reading;
}

}  // namespace paceline::analysis::traces
