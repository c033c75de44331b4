// SPDX-License-Identifier: MIT
#include "process/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/process_limit.h"

extern char** environ;

namespace paceline::process {
namespace {

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& extra) {
  std::vector<std::string> env;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!extra.contains(text.substr(0, text.find('=')))) env.push_back(text);
  }
  for (const auto& [name, value] : extra) env.push_back(fmt::format("{}={}", name, value));
  return env;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (auto& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Tells the parent why there is no worker. Only async-signal-safe calls.
[[noreturn]] void give_up(int error_fd) {
  const int why = errno;
  (void)!::write(error_fd, &why, sizeof why);
  ::_exit(127);
}

// Between fork and exec only async-signal-safe calls are allowed.
[[noreturn]] void exec_child(int null_fd, int output_fd, int log_fd, int spec_fd, int record_fd, int extra_fd,
                             int error_fd, const cpu_set_t* cpus, pid_t parent, bool no_terminal,
                             char* const* argv, char* const* env) {
  if (no_terminal)
    ::setsid();
  else
    ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Sources are all above the targets (see ChildProcess), so no dup2 overwrites one that is still needed.
  ::dup2(null_fd, STDIN_FILENO);
  ::dup2(output_fd, STDOUT_FILENO);
  ::dup2(log_fd, STDERR_FILENO);
  if (spec_fd >= 0) ::dup2(spec_fd, kSpecFd);
  if (record_fd >= 0) ::dup2(record_fd, kRecordFd);
  if (extra_fd >= 0) ::dup2(extra_fd, kExtraFd);
  if (cpus && ::sched_setaffinity(0, sizeof *cpus, cpus) != 0) give_up(error_fd);
  ::execve(argv[0], argv, env);
  give_up(error_fd);
}

[[noreturn]] void too_few_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  throw Error(ErrorCode::kIo, fmt::format("cannot start a worker process: only {} files may be open at a "
                                          "time; raise the limit, e.g. with 'ulimit -n 1024'",
                                          limit.rlim_cur));
}

FileDescriptor above_targets(int fd) {
  if (fd < 0) return {};
  FileDescriptor copy(::fcntl(fd, F_DUPFD_CLOEXEC, 10));
  if (!copy) too_few_descriptors();
  return copy;
}

// Closed without a word when the worker's program has started.
void check_started(int error_fd, const std::string& program) {
  int why = 0;
  ssize_t n = 0;
  while ((n = ::read(error_fd, &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (n != sizeof why) return;
  if (why == E2BIG)
    throw Error(ErrorCode::kConfig,
                fmt::format("'{}' could not be started: its environment variables are longer than the system "
                            "takes (128 KiB each, about 2 MiB in all); shorten those of 'env'",
                            program));
  throw Error(ErrorCode::kInternal,
              fmt::format("'{}' could not be started: {}", program, std::strerror(why)));
}

FileDescriptor appended(const std::filesystem::path& log) {
  FileDescriptor file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file && errno == EMFILE) too_few_descriptors();
  if (!file)
    throw Error(ErrorCode::kIo, fmt::format("cannot write log '{}': {}", log.string(), std::strerror(errno)));
  return file;
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

}  // namespace

ChildProcess::ChildProcess(const SpawnRequest& request) {
  const FileDescriptor null_file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto log_file = appended(request.log);
  const auto output_file = appended(request.output.empty() ? request.log : request.output);
  const auto output_fd = above_targets(output_file.get());
  const auto null_fd = above_targets(null_file.get()), log_fd = above_targets(log_file.get());
  const auto spec_fd = above_targets(request.spec_fd), record_fd = above_targets(request.record_fd);
  const auto extra_fd = above_targets(request.extra_fd);
  Pipe errors = record_pipe();
  ::fcntl(errors.read_end.get(), F_SETFL, 0);
  auto error_fd = above_targets(errors.write_end.get());
  errors.write_end.reset();
  const cpu_set_t cpus = set_of(request.cpus);
  auto argv_text = request.argv;
  auto env_text = merged_environment(request.env);
  const auto argv = pointers(argv_text);
  const auto env = pointers(env_text);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0)
    throw Error(ErrorCode::kInternal,
                fmt::format("cannot start a worker process: {}",
                            errno == EAGAIN ? process_limit_words() : std::strerror(errno)));
  if (pid_ == 0)
    exec_child(null_fd.get(), output_fd.get(), log_fd.get(), spec_fd.get(), record_fd.get(), extra_fd.get(),
               error_fd.get(), request.cpus.empty() ? nullptr : &cpus, parent, request.no_terminal,
               argv.data(), env.data());
  if (!request.no_terminal) ::setpgid(pid_, pid_);  // also here: whoever comes first
  error_fd.reset();
  try {
    check_started(errors.read_end.get(), request.argv.front());
  } catch (...) {
    wait();  // no destructor runs after this
    throw;
  }
}

ChildProcess::~ChildProcess() {
  signal_group(SIGKILL);
  wait();
}

void ChildProcess::signal_group(int signal) const {
  if (pid_ <= 0) return;
  ::kill(-pid_, signal);
  ::kill(-pid_, SIGCONT);  // a process that waits for its turn is stopped, and would not hear of it
}

bool ChildProcess::ended() {
  if (!reaped_ && ::wait4(pid_, &status_, WNOHANG, &usage_) == pid_) reaped_ = true;
  return reaped_;
}

void ChildProcess::wait() {
  while (!reaped_) {
    if (::wait4(pid_, &status_, 0, &usage_) == pid_ || errno != EINTR) reaped_ = true;
  }
}

std::vector<std::string> worker_command_line() {
  return {std::filesystem::read_symlink("/proc/self/exe").string(), "worker"};
}

Pipe record_pipe() {
  int ends[2];
  const bool made = ::pipe2(ends, O_CLOEXEC) == 0;
  if (!made && errno == EMFILE) too_few_descriptors();
  if (!made) throw Error(ErrorCode::kInternal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

FileDescriptor memory_file(const std::string& content) {
  FileDescriptor fd(::memfd_create("paceline-pass", MFD_CLOEXEC));
  if (!fd && errno == EMFILE) too_few_descriptors();
  if (!fd || ::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::lseek(fd.get(), 0, SEEK_SET) != 0)
    throw Error(ErrorCode::kInternal,
                fmt::format("cannot hand the pass to a worker: {}", std::strerror(errno)));
  return fd;
}

}  // namespace paceline::process
