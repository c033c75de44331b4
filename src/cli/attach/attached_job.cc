// SPDX-License-Identifier: MIT
#include "cli/attach/attached_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/display_text.h"
#include "base/error.h"
#include "plugin/registry.h"

namespace paceline::cli {
namespace {

constexpr std::array kPassedOn{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
std::atomic<pid_t> attached_pid{0};
std::atomic<int> asked_by{0};
std::atomic<pid_t> slurm_step{0};  // the parent, if it is slurmstepd, which signals every process of a step

// A terminal sends its signals to the whole group, and so to the job, too.
void pass_on(int signal, siginfo_t* info, void*) {
  const auto job = attached_pid.load();
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) asked_by = signal;
  const bool has_it = info->si_code == SI_KERNEL || (slurm_step > 0 && info->si_pid == slurm_step);
  if (job > 0 && !has_it) ::kill(job, signal);
}

// Under srun; of a batch script slurmstepd signals the shell alone, which may have become this process.
bool is_slurm_step(pid_t process) {
  if (!std::getenv("SLURM_STEP_ID") || !std::getenv("SLURM_SRUN_COMM_HOST")) return false;
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  return std::getline(file, name) && name == "slurmstepd";
}

// While it lives, signals are passed on; one that was ignored stays ignored, here and in the job.
class PassedSignals {
 public:
  PassedSignals() {
    slurm_step = is_slurm_step(::getppid()) ? ::getppid() : 0;
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) {
      ::sigaction(kPassedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_sigaction = pass_on;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      ::sigaction(kPassedOn[i], &action, nullptr);
    }
  }
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;
  ~PassedSignals() {
    for (std::size_t i = 0; i < kPassedOn.size(); ++i) ::sigaction(kPassedOn[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kPassedOn.size()> before_{};
};

// Signals that this program ignores for itself (main.cc), as a shell's child has them.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::filesystem::path attach_folder() {
  return plugin::plugin_dir().parent_path() / "attach";
}

Environment attach_variables(const Environment& now, const std::filesystem::path& hook,
                             const std::filesystem::path& steps) {
  const auto path = now.find("PYTHONPATH");
  const bool has_path = path != now.end() && !path->second.empty();
  return {{"PACELINE_ATTACH", steps.string()},
          {"PYTHONPATH", has_path ? hook.string() + ":" + path->second : hook.string()}};
}

JobEnd run_attached(const std::vector<std::string>& command, const Environment& variables) {
  auto all = own_environment();
  for (const auto& [name, value] : variables) all[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  auto words = command;
  const PassedSignals passed;
  const SpawnAttributes attributes;
  pid_t job = 0;
  asked_by = 0;
  if (const int problem = ::posix_spawnp(&job, words.front().c_str(), nullptr, attributes.get(),
                                         pointers(words).data(), pointers(entries).data()))
    throw Error(ErrorCode::kUsage, fmt::format("attach: '{}' cannot be started: {}; check its name and PATH",
                                               shown_value(words.front()), std::strerror(problem)));
  attached_pid = job;
  int status = 0;
  pid_t ended = 0;
  do ended = ::waitpid(job, &status, 0);
  while (ended < 0 && errno == EINTR);
  attached_pid = 0;
  if (ended < 0)
    throw Error(ErrorCode::kIo, fmt::format("attach: the exit code of '{}' is not known: {}",
                                            shown_value(words.front()), std::strerror(errno)));
  return {status, asked_by};
}

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalBase + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace paceline::cli
