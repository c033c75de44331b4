// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_json.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paceline::analysis::traces {
namespace {

using ProblemKind = JsonProblem::Kind;

constexpr std::array<std::pair<int, char>, 8> kEscapes{
    {{'"', '"'}, {'\\', '\\'}, {'/', '/'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}}};
constexpr std::array<std::string_view, 3> kWords{"true", "false", "null"};
constexpr std::array<std::string_view, 4> kNoNumbers{"nan", "inf", "infinity", "nan(ind)"};
constexpr std::size_t kLongestScalar = 400;  // digits of the largest double, and more

bool is_blank(int byte) {
  return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}
bool is_digit(int byte) {
  return byte >= '0' && byte <= '9';
}
// Accepts characters of numbers and words.
bool is_plain(int byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '+' ||
         byte == '-' || byte == '.' || byte == '(' || byte == ')';
}

bool is_json_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty()) return false;
  if (is_digit(text.front())) return text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  std::string letters(text);
  std::ranges::transform(letters, letters.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::ranges::find(kNoNumbers, letters) != kNoNumbers.end();
}

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

class JsonReader {
 public:
  JsonReader(TraceBytes& bytes, JsonEvents& events) : bytes_(bytes), events_(events) {}

  void document() {
    for (const int byte : {0xEF, 0xBB, 0xBF})  // the mark of UTF-8 that Windows writes
      if (bytes_.peek() == byte) bytes_.get();
    do {
      if (opens()) continue;
      while (!open_.empty() && ends()) close();
    } while (!open_.empty());
    if (next() != TraceBytes::kEnd) stop(ProblemKind::kUnexpected, 1);
  }

 private:
  [[noreturn]] void stop(ProblemKind kind, std::int64_t beyond = 0) const {
    throw JsonProblem{kind, bytes_.position() + beyond};
  }
  // The next byte that is no blank; it is not taken.
  int next() {
    while (is_blank(bytes_.peek())) bytes_.get();
    return bytes_.peek();
  }
  void expect(char wanted) {
    const int byte = next();
    if (byte == TraceBytes::kEnd) stop(ProblemKind::kEndsEarly);
    if (byte != wanted) stop(ProblemKind::kUnexpected, 1);
    bytes_.get();
  }
  void close() {
    open_.pop_back();
    events_.close();
  }
  void key() {
    expect('"');
    string();
    events_.key(buffer_);
    expect(':');
  }

  // Takes a value. Whether it is an object or a list with members, whose first one is ahead.
  bool opens() {
    const int byte = next();
    if (byte == '{' || byte == '[') return opens_with_members(byte == '{');
    if (byte == TraceBytes::kEnd) stop(ProblemKind::kEndsEarly);
    if (byte == '"') {
      bytes_.get();
      string();
      events_.text(buffer_);
    } else {
      scalar();
    }
    return false;
  }

  bool opens_with_members(bool object) {
    bytes_.get();
    if (open_.size() == kDeepest) stop(ProblemKind::kTooDeep);
    open_.push_back(object);
    events_.open(object);
    if (next() == (object ? '}' : ']')) {
      bytes_.get();
      close();
      return false;
    }
    if (object) key();
    return true;
  }

  // Whether what is open ends here; else its next member is ahead.
  bool ends() {
    if (next() == (open_.back() ? '}' : ']')) {
      bytes_.get();
      return true;
    }
    expect(',');
    if (open_.back()) key();
    return false;
  }

  void scalar() {
    buffer_.clear();
    while (is_plain(bytes_.peek())) {
      buffer_.push_back(static_cast<char>(bytes_.get()));
      if (buffer_.size() > kLongestScalar) stop(ProblemKind::kUnexpected);
    }
    if (is_json_number(buffer_)) return events_.number(buffer_);
    if (std::ranges::find(kWords, buffer_) != kWords.end()) return events_.word(buffer_);
    if (bytes_.peek() == TraceBytes::kEnd) stop(ProblemKind::kEndsEarly);
    stop(ProblemKind::kUnexpected, buffer_.empty() ? 1 : 0);
  }

  // Behind its first quotation mark, into the buffer.
  void string() {
    buffer_.clear();
    for (;;) {
      const auto ready = bytes_.ready();
      const auto plain = std::min(ready.find_first_of("\"\\"), ready.size());
      buffer_.append(ready.substr(0, plain));
      bytes_.skip(plain);
      if (buffer_.size() > kLongestString) stop(ProblemKind::kLongString);
      const int byte = bytes_.peek();
      if (byte == TraceBytes::kEnd) stop(ProblemKind::kEndsEarly);
      if (plain == ready.size()) continue;
      bytes_.get();
      if (byte == '"') return;
      escape();
    }
  }

  // Keeps an unknown escape as it is: Windows paths in Python's frames.
  void escape() {
    const int byte = bytes_.peek();
    const auto known = std::ranges::find(kEscapes, byte, &std::pair<int, char>::first);
    if (known != kEscapes.end()) {
      bytes_.get();
      return buffer_.push_back(known->second);
    }
    if (byte != 'u') return buffer_.push_back('\\');
    bytes_.get();
    std::string digits;
    unsigned code = 0;
    for (; digits.size() < 4; digits.push_back(static_cast<char>(bytes_.get()))) {
      const int digit = bytes_.peek();
      const int letter = digit | 0x20;
      if (!is_digit(digit) && (letter < 'a' || letter > 'f')) break;
      code = code * 16 + static_cast<unsigned>(is_digit(digit) ? digit - '0' : letter - 'a' + 10);
    }
    if (digits.size() == 4) return append_utf8(buffer_, code);
    buffer_ += "\\u" + digits;
  }

  TraceBytes& bytes_;
  JsonEvents& events_;
  std::vector<bool> open_;  // whether each is an object, else a list
  std::string buffer_;
};

}  // namespace

std::optional<JsonProblem> read_json(TraceBytes& bytes, JsonEvents& events) {
  try {
    JsonReader(bytes, events).document();
  } catch (const JsonProblem& problem) {
    return problem;
  }
  return std::nullopt;
}

}  // namespace paceline::analysis::traces
