// SPDX-License-Identifier: MIT
#include "spin_ranks.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/resolve.h"
#include "torch/training/listener.h"
#include "torch/training/store_socket.h"

namespace paceline::test {
namespace {

using Texts = std::vector<std::string>;

// One connection, over which whole texts go, each after its size.
class Line {
 public:
  Line(FileDescriptor socket, double timeout_s) : socket_(std::move(socket)) {
    const int yes = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const auto us = static_cast<std::int64_t>(timeout_s * 1e6);
    const timeval limit{us / 1'000'000, us % 1'000'000};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  bool send(const std::string& text) {
    const std::uint64_t size = text.size();
    std::string message(reinterpret_cast<const char*>(&size), sizeof size);
    message += text;
    for (std::size_t done = 0; done < message.size();) {
      const auto now = ::send(socket_.get(), message.data() + done, message.size() - done, MSG_NOSIGNAL);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return false;
      done += static_cast<std::size_t>(now);
    }
    return true;
  }

  // Nullopt when the other end is gone, or says nothing in time.
  std::optional<std::string> receive() {
    std::uint64_t size = 0;
    if (!fill(reinterpret_cast<char*>(&size), sizeof size) || size > (1U << 30)) return std::nullopt;
    std::string text(size, '\0');
    return fill(text.data(), size) ? std::optional(std::move(text)) : std::nullopt;
  }
  [[nodiscard]] bool was_silent() const { return silent_; }
  void end() { ::shutdown(socket_.get(), SHUT_RDWR); }

 private:
  bool fill(char* into, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
      const auto now = ::recv(socket_.get(), into + done, size - done, 0);
      if (now < 0 && errno == EINTR) continue;  // SIGTERM: with a timeout nothing is taken up again
      silent_ = now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
      if (now <= 0) return false;
      done += static_cast<std::size_t>(now);
    }
    return true;
  }

  FileDescriptor socket_;
  bool silent_ = false;
};

// Connects to an address in numbers; an empty descriptor: nobody listens.
FileDescriptor connected_to(const std::string& address, int port) {
  std::string problem;
  const auto found = resolve(address, port, SOCK_STREAM, problem);
  if (!found) return {};
  FileDescriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0) return {};
  return socket;
}

// Answers questions about values by key, each connection on a thread of its own.
class Server {
 public:
  explicit Server(FileDescriptor listening) : listening_(std::move(listening)) {
    threads_.emplace_back([this] { accept_all(); });
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::shutdown(listening_.get(), SHUT_RDWR);
    threads_.front().join();
    for (auto& line : lines_) line.end();
    for (auto thread = std::next(threads_.begin()); thread != threads_.end(); ++thread) thread->join();
  }

 private:
  static constexpr double kForever = 1e6;

  void accept_all() {
    for (;;) {
      FileDescriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) return;
      auto& line = lines_.emplace_back(std::move(socket), kForever);
      threads_.emplace_back([this, &line] { serve(line); });
    }
  }

  void serve(Line& line) {
    for (;;) {
      const auto question = line.receive(), key = line.receive(), value = line.receive();
      if (!question || !key || !value) return;
      const auto [there, answer] = answer_to(*question, *key, *value);
      if (!line.send(there ? "yes" : "no") || !line.send(answer)) return;
    }
  }

  std::pair<bool, std::string> answer_to(const std::string& question, const std::string& key,
                                         const std::string& value) {
    const std::lock_guard lock(mutex_);
    if (question == "set") values_[key] = value;
    if (question == "set_if_absent") values_.try_emplace(key, value);
    const auto found = values_.find(key);
    return found == values_.end() ? std::pair(false, std::string()) : std::pair(true, found->second);
  }

  FileDescriptor listening_;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::list<Line> lines_;           // both grow on the accepting thread alone
  std::list<std::thread> threads_;  // the first one accepts
};

class SpinStore : public plugin::Store {
 public:
  explicit SpinStore(const plugin::Rendezvous& where)
      : place_(fmt::format("{}:{}", where.address, where.port)), prefix_(where.prefix) {
    where.serve ? serve(where) : reach(where);
  }
  void set(const std::string& key, const std::string& value) override { ask("set", key, value); }
  std::optional<std::string> get(const std::string& key) override { return ask("get", key, ""); }
  std::optional<std::string> wait_for(const std::string& key, double timeout_s) override {
    std::optional<std::string> value;
    ask_until(deadline_in(timeout_s), {std::chrono::milliseconds(1), std::chrono::milliseconds(20)}, [&] {
      value = get(key);
      return value.has_value();
    });
    return value;
  }
  std::string set_if_absent(const std::string& key, const std::string& value) override {
    return ask("set_if_absent", key, value).value();
  }
  [[nodiscard]] int port() const override { return port_; }

 private:
  void serve(const plugin::Rendezvous& where) {
    torch_plugin::StoreSocket at{FileDescriptor(where.listen_fd), where.address};
    if (where.listen_fd < 0) at = torch_plugin::listen_for_store(where.address, where.port);
    if (!at.listening) throw Error(ErrorCode::kConfig, fmt::format("cannot serve the store at {}", place_));
    port_ = torch_plugin::port_of(at.listening.get());
    server_ = std::make_unique<Server>(std::move(at.listening));
    line_.emplace(connected_to(at.address, port_), where.timeout_s);
  }

  void reach(const plugin::Rendezvous& where) {
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(where.timeout_s * 1000));
    const auto address = torch_plugin::wait_for_listener(where.address, where.port, limit);
    port_ = where.port;
    line_.emplace(connected_to(address, port_), where.timeout_s);
  }

  std::optional<std::string> ask(const char* question, const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    const bool asked = line_->send(question) && line_->send(prefix_ + "/" + key) && line_->send(value);
    const auto there = asked ? line_->receive() : std::nullopt;
    auto answer = there ? line_->receive() : std::nullopt;
    if (!answer) throw Error(ErrorCode::kUnavailable, fmt::format("the store at {} does not answer", place_));
    return *there == "yes" ? answer : std::nullopt;
  }

  std::string place_, prefix_;
  int port_ = 0;
  std::unique_ptr<Server> server_;
  std::optional<Line> line_;
  std::mutex mutex_;
};

// A star: rank 0 hears the texts of all, and sends each of them to everybody.
class SpinGroup : public plugin::RankGroup {
 public:
  SpinGroup(std::shared_ptr<plugin::Store> store, const plugin::GroupSpec& spec)
      : store_(std::move(store)), spec_(spec) {
    if (spec.world > 1) spec.rank == 0 ? gather_lines() : join_rank_0();
  }
  [[nodiscard]] int rank() const override { return spec_.rank; }
  [[nodiscard]] int world() const override { return spec_.world; }
  void barrier() override { exchange(""); }
  void broadcast(std::span<std::byte> data, int root) override {
    const auto all = exchange({reinterpret_cast<const char*>(data.data()), data.size()});
    std::memcpy(data.data(), all.at(static_cast<std::size_t>(root)).data(), data.size());
  }
  void reduce_max(std::span<double> values) override {
    const auto all = exchange({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    std::memcpy(values.data(), all.front().data(), values.size_bytes());
    for (const auto& text : all)
      for (std::size_t i = 0; i < values.size(); ++i) {
        double other = 0;
        std::memcpy(&other, text.data() + i * sizeof other, sizeof other);
        values[i] = std::max(values[i], other);
      }
  }
  std::vector<std::string> gather(const std::string& mine) override {
    auto all = exchange(mine);
    return spec_.rank == 0 ? std::move(all) : Texts();
  }

 private:
  static constexpr double kJoinS = 15;
  static constexpr const char* kPlace = "spin_group";

  void gather_lines() {
    const auto address = spec_.local_address.empty() ? "127.0.0.1" : spec_.local_address;
    auto here = torch_plugin::listen_for_store(address, 0);
    if (!here.listening) throw Error(ErrorCode::kUnavailable, "cannot communicate from '" + address + "'");
    store_->set(kPlace, fmt::format("{} {}", here.address, torch_plugin::port_of(here.listening.get())));
    std::map<std::string, Line> by_rank;
    while (by_rank.size() + 1 < static_cast<std::size_t>(spec_.world)) {
      pollfd waiting{here.listening.get(), POLLIN, 0};
      if (::poll(&waiting, 1, static_cast<int>(kJoinS * 1000)) <= 0)
        throw Error(ErrorCode::kUnavailable, "a rank did not join the group in time");
      Line line(FileDescriptor(::accept4(here.listening.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                spec_.timeout_s);
      if (const auto who = line.receive()) by_rank.emplace(*who, std::move(line));
    }
    for (int rank = 1; rank < spec_.world; ++rank)
      lines_.push_back(std::move(by_rank.at(std::to_string(rank))));
  }

  void join_rank_0() {
    std::optional<std::string> place;
    ask_until(deadline_in(kJoinS), {std::chrono::milliseconds(1), std::chrono::milliseconds(20)}, [&] {
      place = store_->get(kPlace);
      return place.has_value();
    });
    if (!place) throw Error(ErrorCode::kUnavailable, "rank 0 did not join the group in time");
    const auto space = place->find(' ');
    lines_.emplace_back(connected_to(place->substr(0, space), std::stoi(place->substr(space + 1))),
                        spec_.timeout_s);
    if (!lines_.front().send(std::to_string(spec_.rank))) fail(lines_.front());
  }

  Texts exchange(const std::string& mine) {
    if (spec_.world == 1) return {mine};
    return spec_.rank == 0 ? lead(mine) : follow(mine);
  }

  Texts lead(const std::string& mine) {
    Texts all{mine};
    for (auto& line : lines_) all.push_back(heard(line));
    for (auto& line : lines_)
      for (const auto& text : all)
        if (!line.send(text)) fail(line);
    return all;
  }

  Texts follow(const std::string& mine) {
    auto& line = lines_.front();
    if (!line.send(mine)) fail(line);
    Texts all;
    for (int rank = 0; rank < spec_.world; ++rank) all.push_back(heard(line));
    return all;
  }

  std::string heard(Line& line) {
    auto text = line.receive();
    if (!text) fail(line);
    return std::move(*text);
  }

  // Others learn from closed lines that this rank has given up.
  [[noreturn]] void fail(const Line& line) {
    const auto* words = line.was_silent()
                            ? "another rank did not answer within the group's timeout: it hangs, or the "
                              "network is down"
                            : "another rank's process has ended";
    lines_.clear();
    throw Error(ErrorCode::kUnavailable, fmt::format("rank {}: {}", spec_.rank, words));
  }

  std::shared_ptr<plugin::Store> store_;
  plugin::GroupSpec spec_;
  std::vector<Line> lines_;  // rank 0: to the others in their order; others: to rank 0
};

}  // namespace

std::shared_ptr<plugin::Store> connect_spin_store(const plugin::Rendezvous& where) {
  return std::make_shared<SpinStore>(where);
}

std::unique_ptr<plugin::RankGroup> join_spin_group(std::shared_ptr<plugin::Store> store,
                                                   const plugin::GroupSpec& spec) {
  return std::make_unique<SpinGroup>(std::move(store), spec);
}

}  // namespace paceline::test
