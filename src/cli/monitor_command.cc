// SPDX-License-Identifier: MIT
// The command `monitor`.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "answer/text_layout.h"
#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "cli/interrupts.h"
#include "cli/version.h"
#include "config/flags.h"
#include "monitor/answers.h"
#include "monitor/recording.h"
#include "monitor/screen.h"
#include "monitor/server.h"
#include "monitor/source.h"
#include "monitor/view.h"
#include "plugin/registry.h"

namespace paceline::cli {
namespace {

using monitor::Snapshot;
using Shared = std::shared_ptr<const Snapshot>;

// One way in which snapshots leave the program.
class Output {
 public:
  virtual ~Output() = default;
  virtual void take(const Shared& now, const Shared& before) = 0;
};

class Lines : public Output {
 public:
  explicit Lines(const Console& console) : console_(console) {}
  void take(const Shared& now, const Shared& before) override {
    for (const auto& line : monitor::plain_lines(*now, before.get()))
      print(console_.text(), for_terminal(console_.ascii ? answer::to_ascii(line) : line) + "\n");
  }

 private:
  const Console& console_;
};

class JsonLines : public Output {
 public:
  void take(const Shared& now, const Shared& /*before*/) override {
    print(stdout, json_without_controls(
                      monitor::to_json(*now).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) +
                      "\n");
  }
};

class Drawing : public Output {
 public:
  explicit Drawing(bool ascii) : ascii_(ascii) {}
  void take(const Shared& now, const Shared& before) override {
    now_ = now, before_ = before;
    draw();
  }
  // False: the user wants to leave.
  bool keys() {
    for (auto key = screen_.key(); key != monitor::Screen::Key::kNone; key = screen_.key()) {
      if (key == monitor::Screen::Key::kQuit) return false;
      draw();
    }
    return true;
  }

 private:
  void draw() {
    if (!now_) return;
    auto lines = monitor::view(*now_, before_.get(), monitor::Screen::columns());
    if (ascii_)
      for (auto& line : lines) line.text = answer::to_ascii(line.text);
    screen_.draw(lines);
  }

  monitor::Screen screen_;
  bool ascii_;
  Shared now_, before_;
};

class Recorded : public Output {
 public:
  explicit Recorded(const std::string& file) : recorder_(file) {}
  void take(const Shared& now, const Shared& /*before*/) override { recorder_.add(*now); }

 private:
  monitor::Recorder recorder_;
};

class Served : public Output {
 public:
  explicit Served(const std::string& address) : server_({monitor::address_of(address), token()}) {}
  void take(const Shared& now, const Shared& /*before*/) override { server_.show(now); }
  [[nodiscard]] std::string url() const { return server_.url(); }

 private:
  // From the environment, since others can read command lines.
  static std::string token() {
    const char* token = std::getenv("PACELINE_MONITOR_TOKEN");
    if (token && !monitor::is_token(token))
      throw Error(
          ErrorCode::kUsage,
          "PACELINE_MONITOR_TOKEN: a token has no spaces and no control characters; for example the output "
          "of: openssl rand -hex 16");
    return token ? token : "";
  }
  monitor::Server server_;
};

// Waits for a moment, a key or a signal. False: the user wants to leave.
bool wait_until(std::int64_t due_ns, Drawing* drawing) {
  while (!InterruptGuard::flag()) {
    const auto left_ns = due_ns - SteadyClock{}.now_ns();
    if (left_ns <= 0) return true;
    constexpr std::int64_t kNsPerMs = 1'000'000;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&input, drawing ? 1 : 0, static_cast<int>((left_ns + kNsPerMs - 1) / kNsPerMs));
    if (drawing && ready != 0 && !drawing->keys()) return false;
    if (ready > 0 && (input.revents & (POLLHUP | POLLERR)) != 0) return false;
  }
  return false;
}

class Monitor {
 public:
  Monitor(const config::Settings& options, const Console& console) : options_(options), console_(console) {
    if (options.has("serve")) serve(options.text("serve"));
    if (options.has("record")) add<Recorded>(options.text("record"));
    if (console.json)
      add<JsonLines>();
    else if (console.terminal && ::isatty(STDIN_FILENO) != 0)
      draw();
    else if (!console.quiet)
      add<Lines>(console);
  }

  // Reads until it is asked to end, or has read as often as it shall.
  // A reader of the output that went away ends it, too.
  void watch() {
    const auto period_ns = static_cast<std::int64_t>(options_.number("interval_s") * 1e9);
    auto sources = monitor::all_sources(
        host::SystemFiles{}, plugin::plugin_dir(),
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(period_ns)));
    sources.push_back(monitor::build_source(suite().version, suite().git_sha));
    const auto most = options_.integer("count");
    auto due = SteadyClock{}.now_ns();
    for (std::int64_t n = 0; (most == 0 || n < most) && std::ferror(stdout) == 0 && wait_until(due, drawing_);
         ++n) {
      show(std::make_shared<const Snapshot>(monitor::take_snapshot(sources)));
      const auto late = SteadyClock{}.now_ns() - due;
      due += period_ns * (1 + late / period_ns);  // readings that it missed are left out
    }
  }

  // Shows a recording in the time in which it was made.
  void replay(const monitor::Recording& recording) {
    auto due = SteadyClock{}.now_ns();
    const auto most = options_.integer("count");
    for (std::int64_t n = 0; const auto& one : recording.snapshots) {
      if (most > 0 && n++ == most) return;
      if (before_ && (drawing_ || served_))
        due += std::max<std::int64_t>(0, one.steady_ns - before_->steady_ns);
      if (std::ferror(stdout) != 0 || !wait_until(due, drawing_)) return;
      show(std::make_shared<const Snapshot>(one));
    }
  }

 private:
  template <class T, class... Arguments>
  T* add(Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    auto* const one = made.get();
    outputs_.push_back(std::move(made));
    return one;
  }

  void serve(const std::string& address) {
    served_ = add<Served>(address);
    console_.say("serving " + served_->url() + " and " + served_->url() + "metrics");
  }

  // Plain lines where the terminal cannot be drawn on.
  void draw() {
    try {
      drawing_ = add<Drawing>(console_.ascii);
    } catch (const Error& e) {
      console_.warn(e.what());
      add<Lines>(console_);
    }
  }

  void show(Shared now) {
    for (const auto& output : outputs_) output->take(now, before_);
    before_ = std::move(now);
  }

  const config::Settings& options_;
  const Console& console_;
  std::vector<std::unique_ptr<Output>> outputs_;
  Drawing* drawing_ = nullptr;
  Served* served_ = nullptr;
  Shared before_;
};

}  // namespace

ExitCode monitor_command(const Context& context) {
  const auto options = config::command_settings(config::parse_flags(context.arguments, config::kMonitor));
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  if (options.has("record") && options.has("replay"))
    throw Error(ErrorCode::kUsage, "--record and --replay exclude each other; a recording is a file already");
  std::optional<monitor::Recording> recording;
  if (options.has("replay")) recording = monitor::read_recording(options.text("replay"));
  if (recording && recording->cut)
    console.warn(
        fmt::format("{}: its last line is not whole, and is left out", shown_path(options.text("replay"))));
  const InterruptGuard interrupts;
  Monitor monitor(options, console);
  if (recording)
    monitor.replay(*recording);
  else
    monitor.watch();
  return ExitCode::kOk;
}

}  // namespace paceline::cli
