// SPDX-License-Identifier: MIT
#include "monitor/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string_view>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"

namespace paceline::monitor {
namespace {

using Json = nlohmann::json;
constexpr const char* kMark = "paceline_monitor";
constexpr int kVersion = 1;

// "monitor.jsonl", "monitor-2.jsonl", …
std::filesystem::path recording_of_run(const std::filesystem::path& run_dir, int number) {
  return run_dir / (number == 1 ? "monitor.jsonl" : fmt::format("monitor-{}.jsonl", number));
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string text_of(const Json& json) {
  return json_without_controls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

[[noreturn]] void not_a_recording(const std::filesystem::path& file, const std::string& why) {
  throw Error(ErrorCode::kData,
              fmt::format("{}: not a recording of paceline monitor: {}", shown_path(file.string()), why));
}

Snapshot snapshot_in(const std::filesystem::path& file, std::string_view line, std::size_t number) {
  const auto json = json_or_discarded(line);
  if (json.is_discarded()) not_a_recording(file, fmt::format("line {} is no JSON", number));
  try {
    return snapshot_of(json);
  } catch (const Error& e) {
    not_a_recording(file, fmt::format("line {}: {}", number, e.what()));
  }
}

}  // namespace

Recorder::Recorder(const std::filesystem::path& file) : path_(file) {
  if (std::filesystem::exists(file))
    throw Error(ErrorCode::kUsage, fmt::format("{} exists; name another file", shown_path(file.string())));
  check_own_name(file);  // a link to nothing would have it written elsewhere
  file_.open(file, std::ios::binary);
  file_ << text_of({{kMark, kVersion}, {"host", host_name()}}) << std::flush;
  if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot write {}", shown_path(file.string())));
}

void Recorder::add(const Snapshot& snapshot) {
  file_ << text_of(to_json(snapshot)) << std::flush;
  if (!file_) throw Error(ErrorCode::kIo, fmt::format("cannot write {}", shown_path(path_.string())));
}

Recording read_recording(const std::filesystem::path& file) {
  return recording_in(read_foreign(file, Foreign::kRecording), file);
}

Recording recording_in(const std::string& text, const std::filesystem::path& file) {
  Recording recording;
  recording.cut = !text.ends_with('\n');
  std::string_view rest = text;
  const auto next = [&]() -> std::optional<std::string_view> {  // a whole line
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
  };
  const auto first = next();
  const auto head = json_or_discarded(first.value_or(rest));
  if (!head.is_object() || !head.contains(kMark)) not_a_recording(file, "its first line does not say so");
  if (head.at(kMark) != kVersion)
    not_a_recording(file, fmt::format("version {}; this paceline reads {}", head.at(kMark).dump(), kVersion));
  const auto host = head.value("host", Json());
  if (!host.is_string()) not_a_recording(file, "its first line names no host");
  recording.host = host.get<std::string>();
  for (std::size_t number = 2; const auto line = next(); ++number)
    recording.snapshots.push_back(snapshot_in(file, *line, number));
  return recording;
}

std::vector<std::filesystem::path> recordings_of_run(const std::filesystem::path& run_dir) {
  std::vector<std::filesystem::path> files;
  for (int n = 1; std::filesystem::exists(recording_of_run(run_dir, n)); ++n)
    files.push_back(recording_of_run(run_dir, n));
  return files;
}

std::filesystem::path next_recording_of_run(const std::filesystem::path& run_dir) {
  return recording_of_run(run_dir, static_cast<int>(recordings_of_run(run_dir).size()) + 1);
}

bool is_recording(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return false;
  std::ifstream text(file, std::ios::binary);
  std::string begin(512, '\0');  // names of hosts have at most 255 bytes
  text.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(text.gcount()));
  begin.resize(std::min(begin.find('\n'), begin.size()));
  return begin.starts_with('{') && begin.find(fmt::format("\"{}\"", kMark)) != std::string::npos;
}

}  // namespace paceline::monitor
