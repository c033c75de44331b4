// SPDX-License-Identifier: MIT
#include "workload/training/data/pickled_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/error.h"

namespace paceline::workload {
namespace {

constexpr std::size_t kMostValues = 4'000'000;  // CIFAR-100 has 200,000
constexpr std::int64_t kRowBytes = 3 * 32 * 32;

enum class PickleKind { kNone, kNumber, kText, kTuple, kList, kMap, kGlobal, kType, kArray };

// A value of the pickle. What is in a tuple, list, map or array stands in the reader's groups.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  std::int64_t number = 0;  // of a number; of a tuple, list, map, type or array: its group
  std::string_view text{};  // of a text, bytes, or the name of a global
};

class PickleReader {
 public:
  PickleReader(std::span<const unsigned char> file, std::string path) : file_(file), path_(std::move(path)) {}

  PickledBatch read(std::string_view label_key) {
    run();
    PickledBatch batch;
    const auto& array = group_of(entry("data"), PickleKind::kArray, "data");
    const PickleValue& bytes = array.at(4);
    const auto& shape = group_of(array.at(1), PickleKind::kTuple, "data");
    if (shape.size() != 2 || shape[1].number != kRowBytes || shape[0].number < 1)
      fail(fmt::format("its array 'data' is not N x {}", kRowBytes));
    const auto count = static_cast<std::size_t>(shape[0].number);
    if (count > kMostValues || bytes.text.size() != count * kRowBytes)
      fail(fmt::format("its array of {} x {} has {} bytes", count, kRowBytes, bytes.text.size()));
    batch.labels = labels(label_key, count);
    if (owned_.empty())
      batch.pixels = {reinterpret_cast<const unsigned char*>(bytes.text.data()), bytes.text.size()};
    else
      take_copy(bytes.text, batch);
    return batch;
  }

 private:
  using Group = std::vector<PickleValue>;
  using Step = void (PickleReader::*)();
  struct Instruction {
    unsigned char code;
    Step step;
  };

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::kData, fmt::format("'{}' is no batch of CIFAR's Python version: {}", path_, why));
  }

  // --- the file
  std::string_view take(std::size_t bytes) {
    if (bytes > file_.size() - at_) fail(fmt::format("it ends within a value at byte {}", at_));
    const auto* start = reinterpret_cast<const char*>(file_.data()) + at_;
    at_ += bytes;
    return {start, bytes};
  }
  std::uint64_t take_number(std::size_t bytes) {
    std::uint64_t number = 0;
    const auto text = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      number |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    return number;
  }
  std::string_view take_line() {
    std::size_t length = 0;
    while (at_ + length < file_.size() && file_[at_ + length] != '\n') ++length;
    const auto line = take(length);
    take(1);
    return line;
  }

  // --- the stack
  void push(PickleValue value) {
    if (++pushed_ > kMostValues) fail(fmt::format("it contains more than {} values", kMostValues));
    stack_.push_back(value);
  }
  PickleValue pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) fail("a value is missing");
    const PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Group pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    Group items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  void push_group(PickleKind kind, Group items) {
    groups_.push_back(std::move(items));
    push({kind, static_cast<std::int64_t>(groups_.size()) - 1, {}});
  }
  Group& group_of(const PickleValue& value, PickleKind kind, std::string_view what) {
    if (value.kind != kind) fail(fmt::format("'{}' is of another kind than expected", what));
    return groups_.at(static_cast<std::size_t>(value.number));
  }
  void remember(std::uint64_t place) {
    if (place > pushed_ || stack_.empty()) fail("a remembered value is missing");
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = stack_.back();
  }
  void recall(std::uint64_t place) {
    if (place >= memo_.size()) fail("a remembered value is missing");
    push(memo_[place]);
  }
  void extend(PickleKind kind, const Group& items) {
    const PickleValue into = pop();
    auto& group = group_of(into, kind, "a list");
    group.insert(group.end(), items.begin(), items.end());
    stack_.push_back(into);
  }
  void push_tuple(std::size_t length) {
    Group items(length);
    for (std::size_t i = length; i-- > 0;) items[i] = pop();
    push_group(PickleKind::kTuple, std::move(items));
  }

  // --- instructions
  void protocol() { take(1); }
  void frame() { take(8); }
  void mark() {
    if (marks_.size() > kMostValues) fail(fmt::format("it contains more than {} marks", kMostValues));
    marks_.push_back(stack_.size());
  }
  void none() { push({}); }
  void yes() { push({PickleKind::kNumber, 1, {}}); }
  void no() { push({PickleKind::kNumber, 0, {}}); }
  void byte_number() { push({PickleKind::kNumber, static_cast<std::int64_t>(take_number(1)), {}}); }
  void short_number() { push({PickleKind::kNumber, static_cast<std::int64_t>(take_number(2)), {}}); }
  void whole_number() {
    push({PickleKind::kNumber, static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(4))), {}});
  }
  void long_number() {
    const auto bytes = take_number(1);
    if (bytes > 7) fail("a number is too large");
    push({PickleKind::kNumber, static_cast<std::int64_t>(take_number(bytes)), {}});
  }
  void text(std::size_t length_bytes) { push({PickleKind::kText, 0, take(take_number(length_bytes))}); }
  void short_text() { text(1); }
  void long_text() { text(4); }
  void huge_text() { text(8); }
  void empty_list() { push_group(PickleKind::kList, {}); }
  void empty_map() { push_group(PickleKind::kMap, {}); }
  void empty_tuple() { push_group(PickleKind::kTuple, {}); }
  void tuple() { push_group(PickleKind::kTuple, pop_to_mark()); }
  void tuple1() { push_tuple(1); }
  void tuple2() { push_tuple(2); }
  void tuple3() { push_tuple(3); }
  void append() { extend(PickleKind::kList, {pop()}); }
  void appends() { extend(PickleKind::kList, pop_to_mark()); }
  void set_item() {
    const PickleValue value = pop(), key = pop();
    extend(PickleKind::kMap, {key, value});
  }
  void set_items() { extend(PickleKind::kMap, pop_to_mark()); }
  void put() { remember(take_number(1)); }
  void long_put() { remember(take_number(4)); }
  void memoize() { remember(memo_.size()); }
  void get() { recall(take_number(1)); }
  void long_get() { recall(take_number(4)); }
  void global() {
    const auto module = take_line(), name = take_line();
    push_global(module, name);
  }
  void stack_global() {
    const PickleValue name = pop(), module = pop();
    push_global(module.text, name.text);
  }
  // The classes of numpy's arrays by name; nothing is looked up.
  void push_global(std::string_view module, std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKnown{
        {{"numpy.core.multiarray", "_reconstruct"},
         {"numpy._core.multiarray", "_reconstruct"},
         {"numpy", "ndarray"},
         {"numpy", "dtype"},
         {"_codecs", "encode"}}};
    if (std::ranges::find(kKnown, std::pair(module, name)) == kKnown.end())
      fail(fmt::format("it asks for '{}.{}', which is never loaded", module.substr(0, 60),
                       name.substr(0, 60)));
    push({PickleKind::kGlobal, 0, name});
  }
  void reduce() {
    const PickleValue arguments = pop(), callee = pop();
    const Group& given = group_of(arguments, PickleKind::kTuple, "arguments");
    if (callee.kind != PickleKind::kGlobal || given.empty()) fail("something other than an array is built");
    if (callee.text == "_reconstruct") return push_group(PickleKind::kArray, {});
    if (callee.text == "dtype") return push_group(PickleKind::kType, {given.front()});
    if (callee.text != "encode") fail("something other than an array is built");
    push({PickleKind::kText, 0, as_latin1(given.front().text)});
  }
  // Python 3 writes bytes as text in protocol 2: code points up to 255 in UTF-8.
  std::string_view as_latin1(std::string_view utf8) {
    std::string bytes;
    bytes.reserve(utf8.size());
    for (std::size_t i = 0; i < utf8.size(); ++i) {
      const auto c = static_cast<unsigned char>(utf8[i]);
      if (c >= 0x80 && (c > 0xc3 || i + 1 == utf8.size())) fail("bytes are written in another way");
      bytes.push_back(c < 0x80 ? utf8[i] : static_cast<char>(((c & 3) << 6) | (utf8[++i] & 0x3f)));
    }
    owned_.push_back(std::move(bytes));
    return owned_.back();
  }
  // The state of an array: version, shape, type, order, bytes. That of a type only repeats its name.
  void build() {
    const PickleValue state = pop(), into = pop();
    stack_.push_back(into);
    if (into.kind == PickleKind::kType) return;
    auto& array = group_of(into, PickleKind::kArray, "an object");
    array = group_of(state, PickleKind::kTuple, "the state of an array");
    if (array.size() != 5 || array[4].kind != PickleKind::kText) fail("its array has another form");
    const auto type = group_of(array[2], PickleKind::kType, "the type of an array").front().text;
    if (type != "u1" && type != "|u1")
      fail(fmt::format("its array is of type '{}', not uint8", type.substr(0, 20)));
    if (array[3].number != 0) fail("its array is stored by columns");
  }

  static const std::array<Instruction, 36>& instructions() {
    static constexpr std::array<Instruction, 36> kAll{
        {{0x80, &PickleReader::protocol},    {0x95, &PickleReader::frame},
         {'(', &PickleReader::mark},         {'N', &PickleReader::none},
         {0x88, &PickleReader::yes},         {0x89, &PickleReader::no},
         {'K', &PickleReader::byte_number},  {'M', &PickleReader::short_number},
         {'J', &PickleReader::whole_number}, {0x8a, &PickleReader::long_number},
         {'U', &PickleReader::short_text},   {'C', &PickleReader::short_text},
         {0x8c, &PickleReader::short_text},  {'T', &PickleReader::long_text},
         {'B', &PickleReader::long_text},    {'X', &PickleReader::long_text},
         {0x8d, &PickleReader::huge_text},   {0x8e, &PickleReader::huge_text},
         {']', &PickleReader::empty_list},   {'}', &PickleReader::empty_map},
         {')', &PickleReader::empty_tuple},  {'t', &PickleReader::tuple},
         {0x85, &PickleReader::tuple1},      {0x86, &PickleReader::tuple2},
         {0x87, &PickleReader::tuple3},      {'a', &PickleReader::append},
         {'e', &PickleReader::appends},      {'s', &PickleReader::set_item},
         {'u', &PickleReader::set_items},    {'q', &PickleReader::put},
         {'r', &PickleReader::long_put},     {0x94, &PickleReader::memoize},
         {'h', &PickleReader::get},          {'j', &PickleReader::long_get},
         {'c', &PickleReader::global},       {0x93, &PickleReader::stack_global}}};
    return kAll;
  }
  static constexpr std::array<std::pair<unsigned char, Step>, 2> calls() {
    return {{{'R', &PickleReader::reduce}, {'b', &PickleReader::build}}};
  }
  static std::optional<Step> step_of(unsigned char code) {
    for (const auto& one : instructions())
      if (one.code == code) return one.step;
    for (const auto& [call, step] : calls())
      if (call == code) return step;
    return std::nullopt;
  }

  void run() {
    for (;;) {
      const auto place = at_;
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') return;
      const auto step = step_of(code);
      if (!step) fail(fmt::format("instruction {:#04x} at byte {} is not one of such files", code, place));
      (this->**step)();
    }
  }

  // --- the dictionary
  PickleValue entry(std::string_view key) {
    const auto& map = group_of(pop_root(), PickleKind::kMap, "the file");
    for (std::size_t i = 0; i + 1 < map.size(); i += 2)
      if (map[i].kind == PickleKind::kText && map[i].text == key) return map[i + 1];
    fail(fmt::format("its dictionary has no '{}'", key));
  }
  PickleValue pop_root() {
    if (stack_.size() != 1) fail("it is not one dictionary");
    return stack_.front();
  }
  std::vector<unsigned char> labels(std::string_view key, std::size_t count) {
    const auto& list = group_of(entry(key), PickleKind::kList, key);
    if (list.size() != count)
      fail(fmt::format("{} pictures have {} classes in '{}'", count, list.size(), key));
    std::vector<unsigned char> labels;
    labels.reserve(count);
    for (const PickleValue& label : list) {
      if (label.kind != PickleKind::kNumber || label.number < 0 || label.number > 255)
        fail(fmt::format("'{}' contains something that is no class", key));
      labels.push_back(static_cast<unsigned char>(label.number));
    }
    return labels;
  }
  void take_copy(std::string_view bytes, PickledBatch& batch) const {
    batch.copy = bytes;
    batch.pixels = {reinterpret_cast<const unsigned char*>(batch.copy.data()), batch.copy.size()};
  }

  std::span<const unsigned char> file_;
  std::string path_;
  std::size_t at_ = 0, pushed_ = 0;
  Group stack_, memo_;
  std::vector<std::size_t> marks_;
  std::deque<Group> groups_;
  std::deque<std::string> owned_;
};

}  // namespace

bool is_pickled(std::span<const unsigned char> file) {
  constexpr unsigned char kProtocol = 0x80, kNewest = 5;
  return file.size() > 2 && file[0] == kProtocol && file[1] >= 2 && file[1] <= kNewest;
}

PickledBatch read_pickled_batch(std::span<const unsigned char> file, std::string_view label_key,
                                const std::string& path) {
  return PickleReader(file, path).read(label_key);
}

}  // namespace paceline::workload
