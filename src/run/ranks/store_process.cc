// SPDX-License-Identifier: MIT
#include "run/ranks/store_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "process/messages.h"
#include "process/record_reader.h"

namespace paceline::run {
namespace {

using Json = nlohmann::json;

constexpr int kAnswerPollMs = 200;
constexpr double kWaitPartS = 2;
constexpr double kAnswerS = 30;  // an answer takes microseconds, or the network is down
constexpr const char* kMute = "the store does not answer: its host or the network is down";

pass::PassSpec store_pass(const StoreRequest& request) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kStore;
  spec.use(plugin::Role::kBackend, request.backend, request.plugin_file.string());
  spec.ranks.rendezvous = request.where;
  return spec;
}

}  // namespace

// Messages keep their bounds, and a closed end is noticed.
StoreProcess::Sockets StoreProcess::message_sockets() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::kInternal, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

StoreProcess::StoreProcess(const StoreRequest& request, const std::atomic<bool>& interrupt)
    : interrupt_(interrupt),
      sockets_(message_sockets()),
      spec_file_(process::memory_file(pass::to_json(store_pass(request)).dump())),
      records_(process::record_pipe()),
      child_({process::worker_command_line(),
              {{"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}},
              request.log,
              spec_file_.get(),
              records_.write_end.get(),
              sockets_.theirs.get()}) {
  sockets_.theirs.reset();
  records_.write_end.reset();
  const auto opened = answer(std::numeric_limits<double>::infinity());  // it limits itself
  if (!opened) throw final_error();
  port_ = opened->at("port");
}

std::optional<Json> StoreProcess::answer(double timeout_s) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    pollfd waiting{sockets_.ours.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kAnswerPollMs) > 0) return process::receive_message(sockets_.ours.get());
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (interrupt_ || waited.count() > timeout_s) return std::nullopt;
  }
}

Error StoreProcess::final_error() {
  const Error ended{ErrorCode::kTimeout, "the process that keeps the store has ended"};
  if (interrupt_) return {ErrorCode::kUnavailable, "interrupted"};
  try {
    process::RecordReader reader({}, {});
    while (reader.drain(records_.read_end.get()) && !child_.ended()) ::poll(nullptr, 0, 1);
    reader.drain(records_.read_end.get());
    const auto& report = reader.report();
    const bool mistake = report.error_code == "config";
    return report.error.empty() ? ended
                                : Error{mistake ? ErrorCode::kConfig : ErrorCode::kTimeout, report.error};
  } catch (const Error&) {
    return ended;  // what it said is no record
  }
}

Json StoreProcess::ask(const Json& question) {
  const std::lock_guard lock(mutex_);
  if (mute_) throw Error(ErrorCode::kUnavailable, kMute);
  const auto reply = process::send_message(sockets_.ours.get(), question) ? answer(kAnswerS) : std::nullopt;
  mute_ = !reply && !child_.ended();
  if (!reply) throw Error(ErrorCode::kUnavailable, mute_ ? kMute : final_error().what());
  if (reply->contains("error")) throw Error(ErrorCode::kUnavailable, reply->at("error"));
  return *reply;
}

void StoreProcess::set(const std::string& key, const std::string& value) {
  ask({{"ask", "set"}, {"key", key}, {"value", value}});
}

std::optional<std::string> StoreProcess::get(const std::string& key) {
  const auto reply = ask({{"ask", "get"}, {"key", key}});
  return reply.contains("value") ? std::optional(reply.at("value").get<std::string>()) : std::nullopt;
}

// Other threads ask between two parts of the wait.
std::optional<std::string> StoreProcess::wait_for(const std::string& key, double timeout_s) {
  for (double left_s = timeout_s;; left_s -= kWaitPartS) {
    const auto reply =
        ask({{"ask", "wait"}, {"key", key}, {"timeout_s", std::clamp(left_s, 0.0, kWaitPartS)}});
    if (reply.contains("value")) return reply.at("value").get<std::string>();
    if (left_s <= kWaitPartS) return std::nullopt;
  }
}

std::string StoreProcess::set_if_absent(const std::string& key, const std::string& value) {
  return ask({{"ask", "set_if_absent"}, {"key", key}, {"value", value}}).at("value");
}

}  // namespace paceline::run
