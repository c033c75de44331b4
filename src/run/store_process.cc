// SPDX-License-Identifier: MIT
#include "run/store_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

#include "base/error.h"
#include "cluster/meeting.h"
#include "plugin/registry.h"
#include "run/record_reader.h"

namespace paceline::run {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxMessage = 1 << 16;
constexpr int kAnswerPollMs = 200;
constexpr double kAnswerS = 30;  // an answer takes microseconds, or the network is down
constexpr const char* kMute = "the store does not answer: its host or the network is down";

bool send_message(int socket, const Json& message) {
  const auto text = message.dump();
  return ::send(socket, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Waits; nullopt when the other end is closed.
std::optional<Json> receive_message(int socket) {
  std::string text(kMaxMessage, '\0');
  ssize_t size = 0;
  while ((size = ::recv(socket, text.data(), text.size(), 0)) < 0 && errno == EINTR) {
  }
  if (size <= 0) return std::nullopt;
  return Json::parse(text.substr(0, static_cast<std::size_t>(size)));
}

workload::PassSpec store_pass(const StoreRequest& request) {
  workload::PassSpec spec;
  spec.kind = workload::PassKind::kStore;
  spec.plugin_file = request.plugin_file.string();
  spec.train.backend = request.backend;
  spec.train.rendezvous = request.where;
  return spec;
}

// One function a question.
using Answer = std::function<Json(plugin::Store&, const Json&)>;
const std::map<std::string, Answer>& answers() {
  static const std::map<std::string, Answer> kAnswers{
      {"set",
       [](plugin::Store& store, const Json& q) {
         store.set(q.at("key"), q.at("value"));
         return Json::object();
       }},
      {"get",
       [](plugin::Store& store, const Json& q) {
         const auto value = store.get(q.at("key"));
         return value ? Json{{"value", *value}} : Json::object();
       }},
      {"set_if_absent",
       [](plugin::Store& store, const Json& q) {
         return Json{{"value", store.set_if_absent(q.at("key"), q.at("value"))}};
       }},
  };
  return kAnswers;
}

Json answer_to(plugin::Store& store, const Json& question) {
  try {
    return answers().at(question.at("ask").get<std::string>())(store, question);
  } catch (const std::exception& e) {
    return {{"error", e.what()}};
  }
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
      spec_file_(memory_file(workload::to_json(store_pass(request)).dump())),
      records_(record_pipe()),
      child_({worker_command_line(),
              {{"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}},
              request.log,
              spec_file_.get(),
              records_.write_end.get(),
              sockets_.theirs.get()}) {
  sockets_.theirs.reset();
  records_.write_end.reset();
  const auto opened = answer(std::numeric_limits<double>::infinity());  // it limits itself
  if (!opened) throw last_words();
  port_ = opened->at("port");
}

std::optional<Json> StoreProcess::answer(double timeout_s) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    pollfd waiting{sockets_.ours.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kAnswerPollMs) > 0) return receive_message(sockets_.ours.get());
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (interrupt_ || waited.count() > timeout_s) return std::nullopt;
  }
}

Error StoreProcess::last_words() {
  const Error ended{ErrorCode::kTimeout, "the process that keeps the store has ended"};
  if (interrupt_) return {ErrorCode::kUnavailable, "interrupted"};
  try {
    RecordReader reader({}, {});
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
  const auto reply = send_message(sockets_.ours.get(), question) ? answer(kAnswerS) : std::nullopt;
  mute_ = !reply && !child_.ended();
  if (!reply) throw Error(ErrorCode::kUnavailable, mute_ ? kMute : last_words().what());
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

std::string StoreProcess::set_if_absent(const std::string& key, const std::string& value) {
  return ask({{"ask", "set_if_absent"}, {"key", key}, {"value", value}}).at("value");
}

void serve_store_process(const workload::PassSpec& spec) {
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  const auto store = cluster::reach_store(plugin.backend(spec.train.backend), spec.train.rendezvous);
  const FileDescriptor socket(kExtraFd);
  send_message(socket.get(), {{"port", store->port()}});
  while (const auto question = receive_message(socket.get()))
    send_message(socket.get(), answer_to(*store, *question));
}

}  // namespace paceline::run
