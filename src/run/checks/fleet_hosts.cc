// SPDX-License-Identifier: MIT
#include "run/checks/fleet_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/units.h"
#include "host/checks/fleet_answer.h"
#include "process/tool_process.h"

namespace paceline::run {
namespace {

constexpr std::size_t kAtOnce = 64;
constexpr std::string_view kSafeInNames =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:@%/+";

// A shell at the other end must take it as one word.
bool is_safe(const std::string& word) {
  return !word.empty() && word.find_first_not_of(kSafeInNames) == std::string::npos;
}

// "[fe80::1]" and "[fe80::1]:2" are fe80::1.
std::string in_brackets(const std::string& written) {
  const auto end = std::min(written.find(']'), written.size());
  const auto rest = written.substr(std::min(end + 1, written.size()));
  const bool slots = rest.starts_with(':') && parse_int(rest.substr(1));
  if (end == written.size() || !(rest.empty() || slots))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--hosts: '{}' {}; write [fe80::1] or, with slots, [fe80::1]:2", shown_value(written),
                    end == written.size() ? "has no closing bracket" : "goes on behind its bracket"));
  return written.substr(1, end - 1);
}

// "a:2" is a; an address with colons and without brackets stays.
std::string without_slots(const std::string& written) {
  if (written.starts_with('[')) return in_brackets(written);
  const auto colon = written.find(':');
  const bool one = colon != std::string::npos && written.find(':', colon + 1) == std::string::npos;
  return one && parse_int(written.substr(colon + 1)) ? written.substr(0, colon) : written;
}

std::string last_log_line(const std::filesystem::path& log) {
  const auto text = file_tail(log, 2000);
  const auto trimmed = trim(text);
  const auto line = trim(trimmed.substr(trimmed.find_last_of('\n') + 1));
  return line.empty() ? "it printed nothing" : shown_value(std::string(line), 300);
}

// This program, or the launcher that a package starts it with: where hosts share a file system, or are
// installed alike, it is at the same place.
std::string program() {
  const char* const launcher = std::getenv("PACELINE_LAUNCHER");
  auto path = launcher && *launcher ? launcher : std::filesystem::read_symlink("/proc/self/exe").string();
  return is_safe(path) ? path : "paceline";
}

std::string no_answer(const std::string& end, const std::filesystem::path& log) {
  if (end.starts_with("exit code 127"))
    return fmt::format("has no paceline at {}: install it there at the same place ({})", program(),
                       last_log_line(log));
  if (end == "exit code 255") return fmt::format("cannot be reached: {}", last_log_line(log));
  return fmt::format("gave no answer ({}): {}", end.empty() ? "no JSON" : end, last_log_line(log));
}

// One answer at a time is in memory: JSON takes up to 25 times its size.
std::optional<host::FleetAnswer> answer_in(const std::filesystem::path& file, const std::string& host) {
  static std::mutex one_at_a_time;
  const std::lock_guard alone(one_at_a_time);
  return host::fleet_answer(read_foreign(file, Foreign::kAnswer), host);
}

host::HostReply ask(const std::string& host, const HostQuestion& question,
                    const std::filesystem::path& folder, const std::atomic<bool>& interrupt) {
  host::HostReply answer{host, {}, {}, {}};
  process::ToolProcess tool;
  tool.argv = question.rsh;
  for (const auto& word :
       {host, program(), std::string("validate"), std::string("--json"), std::string("--quiet")})
    tool.argv.push_back(word);
  tool.argv.insert(tool.argv.end(), question.arguments.begin(), question.arguments.end());
  std::filesystem::create_directory(folder);
  tool.log = folder / "log", tool.output = folder / "answer";
  tool.timeout_s = question.timeout_s;
  tool.most_bytes = limit_of(Foreign::kAnswer).bytes;
  try {
    const auto end = process::run_tool(tool, interrupt);
    if (process::prints_too_much(tool)) {
      answer.reason = fmt::format("printed more than {}, the most that an answer may have",
                                  format_bytes(static_cast<double>(tool.most_bytes)));
      return answer;
    }
    auto found = answer_in(tool.output, host);
    if (!found)
      answer.reason = no_answer(end, tool.log);
    else if (!found->machine)
      answer.reason =
          fmt::format("runs a Paceline whose validate knows no machine: install {} there", question.version);
    else
      answer.machine = std::move(found->machine), answer.checks = std::move(found->checks);
  } catch (const std::exception& e) {
    answer.machine.reset();
    answer.reason = fmt::format("gave an answer that cannot be read: {}", on_one_line(plain_reason(e)));
  }
  return answer;
}

}  // namespace

std::vector<std::string> host_names(const std::vector<std::string>& written) {
  std::vector<std::string> names;
  for (const auto& word : written) {
    auto name = without_slots(word);
    if (!is_safe(name) || name.starts_with('-'))
      throw Error(ErrorCode::kUsage,
                  fmt::format("--hosts: '{}' is no name of a host; write node0,node1", shown_value(word)));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<host::HostReply> ask_hosts(const std::vector<std::string>& hosts, const HostQuestion& given,
                                       const std::atomic<bool>& interrupt) {
  auto question = given;
  const auto found = process::find_program(question.rsh.empty() ? "" : question.rsh.front());
  if (found.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("--rsh: there is no program '{}' that can be started",
                            question.rsh.empty() ? "" : shown_value(question.rsh.front())));
  question.rsh.front() = found.string();
  const auto folder = ScratchFolder::below_temp("paceline-fleet-");
  std::vector<host::HostReply> answers(hosts.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < hosts.size(); i = next++)
      answers[i] = ask(hosts[i], question, folder.path() / std::to_string(i), interrupt);
  };
  std::vector<std::jthread> others;
  while (others.size() < std::min(hosts.size(), kAtOnce)) others.emplace_back(work);
  others.clear();
  return answers;
}

}  // namespace paceline::run
