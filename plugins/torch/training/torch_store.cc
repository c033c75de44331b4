// SPDX-License-Identifier: MIT
#include "torch/training/torch_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "torch/errors.h"
#include "torch/training/listener.h"
#include "torch/training/make.h"
#include "torch/training/store_socket.h"

namespace paceline::torch_plugin {
namespace {

using std::chrono::milliseconds;
using TcpStore = c10::intrusive_ptr<c10d::TCPStore>;

milliseconds as_milliseconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(std::max(seconds, 0.0) * 1000));
}

std::string place(const plugin::Rendezvous& where) {
  return fmt::format("{}:{}", where.address, where.port);
}

std::vector<std::uint8_t> as_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

c10d::TCPStoreOptions options_for(const plugin::Rendezvous& where, milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(where.port);
  options.isServer = where.serve;
  options.waitWorkers = false;  // the roll call finds out who is there, with names
  options.timeout = timeout;
  if (where.serve && where.listen_fd >= 0) options.masterListenFd = where.listen_fd;
  return options;
}

Error store_error(const plugin::Rendezvous& where, const std::exception& cause) {
  const auto reason = reason_of(cause);
  for (const auto* in_use : {"EADDRINUSE", "address already in use", "Address already in use"})
    if (reason.find(in_use) != std::string::npos) return {ErrorCode::kConfig, port_in_use(where.port)};
  const auto code = where.serve ? ErrorCode::kConfig : ErrorCode::kUnavailable;  // our mistake, or a peer's
  return {code, fmt::format("cannot {} the store at {}: {}", where.serve ? "serve" : "reach", place(where),
                            reason)};
}

// LibTorch's constructor has no timeout once connected, and whatever accepted the connection may not be a
// store. So it runs on its own thread, which is abandoned when it does not return. `address` is where.address
// in numbers.
TcpStore open(const plugin::Rendezvous& where, const std::string& address, milliseconds timeout) {
  std::packaged_task<TcpStore()> task([where, address, timeout] {
    return c10::make_intrusive<c10d::TCPStore>(address, options_for(where, timeout));
  });
  auto opened = task.get_future();
  std::thread(std::move(task)).detach();
  if (opened.wait_for(timeout + std::chrono::seconds(1)) != std::future_status::ready)
    throw Error(
        ErrorCode::kUnavailable,
        fmt::format("what listens at {} does not answer as a store within {:g} s; is it the rendezvous port?",
                    place(where), static_cast<double>(timeout.count()) / 1000));
  try {
    return opened.get();
  } catch (const std::exception& e) {
    throw store_error(where, e);
  }
}

// The library itself would listen on all addresses.
TcpStore serve(plugin::Rendezvous where, milliseconds limit) {
  if (where.listen_fd >= 0) return open(where, where.address, limit);
  auto socket = listen_for_store(where.address, where.port);
  if (socket.listening) where.port = port_of(socket.listening.get());
  where.listen_fd = socket.listening.release();  // owned by the store from here on
  return open(where, socket.address, limit);
}

TcpStore connect(const plugin::Rendezvous& where) {
  const auto start = std::chrono::steady_clock::now();
  const auto limit = as_milliseconds(where.timeout_s);
  if (where.serve) return serve(where, limit);
  const auto address = wait_for_listener(where.address, where.port, limit);
  const auto used = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
  return open(where, address, std::max(limit - used, milliseconds(1000)));
}

}  // namespace

TorchStore::TorchStore(const plugin::Rendezvous& where)
    : where_(place(where)),
      server_(connect(where)),
      keys_(where.prefix.empty() ? c10::intrusive_ptr<c10d::Store>(server_)
                                 : c10::intrusive_ptr<c10d::Store>(
                                       c10::make_intrusive<c10d::PrefixStore>(where.prefix, server_))) {
  server_->setTimeout(as_milliseconds(where.timeout_s));
}

template <typename Work>
auto TorchStore::ask(Work&& work) {
  return translate_errors(ErrorCode::kUnavailable, fmt::format("the store at {} does not answer", where_),
                          std::forward<Work>(work));
}

void TorchStore::set(const std::string& key, const std::string& value) {
  ask([&] {
    keys_->set(key, as_bytes(value));
    keys_->check({key});  // check is answered after it, whereas set alone does not wait for the server
  });
}

std::optional<std::string> TorchStore::get(const std::string& key) {
  return ask([&]() -> std::optional<std::string> {
    if (!keys_->check({key})) return std::nullopt;
    const auto bytes = keys_->get(key);
    return std::string(bytes.begin(), bytes.end());
  });
}

// The library throws at the end of the time; a store that is gone is found out by the question that follows.
std::optional<std::string> TorchStore::wait_for(const std::string& key, double timeout_s) {
  try {
    if (const auto limit = as_milliseconds(timeout_s); limit.count() > 0)  // 0 has a meaning of its own there
      keys_->wait({key}, limit);
  } catch (const std::exception&) {
    return get(key);
  }
  return get(key);
}

std::string TorchStore::set_if_absent(const std::string& key, const std::string& value) {
  return ask([&] {
    const auto bytes = keys_->compareSet(key, {}, as_bytes(value));
    return std::string(bytes.begin(), bytes.end());
  });
}

int TorchStore::port() const {
  return server_->getPort();
}

c10::intrusive_ptr<c10d::Store> TorchStore::keys_of_next_group() {
  return c10::make_intrusive<c10d::PrefixStore>(fmt::format("group_{}", groups_++), keys_);
}

std::shared_ptr<plugin::Store> connect_store(const plugin::Rendezvous& where) {
  return std::make_shared<TorchStore>(where);
}

}  // namespace paceline::torch_plugin
