// SPDX-License-Identifier: MIT
#include "nvml/own_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace paceline::nvml_plugin {
namespace {

// "4711 (name (with) words) S 4710 …"; 0: there is no such process here.
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

std::filesystem::path program_of(pid_t process) {
  std::error_code error;  // of another user's process
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), error);
}

// The first process of this program among the ancestors: the coordinator; a worker of another parent has
// none.
pid_t first_of_program() {
  const auto program = program_of(::getpid());
  pid_t first = ::getpid();
  for (pid_t parent = parent_of(first); parent > 1 && program_of(parent) == program;
       parent = parent_of(parent))
    first = parent;
  return first;
}

}  // namespace

OwnProcesses::OwnProcesses() : root_(first_of_program()) {}

bool OwnProcesses::has(pid_t process) {
  const auto [known, fresh] = known_.try_emplace(process, false);
  if (!fresh) return known->second;
  for (pid_t one = process; one > 1 && !known->second; one = parent_of(one)) known->second = one == root_;
  return known->second;
}

}  // namespace paceline::nvml_plugin
