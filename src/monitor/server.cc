// SPDX-License-Identifier: MIT
#include "monitor/server.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "monitor/answers.h"

namespace paceline::monitor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr auto kPatience = std::chrono::seconds(5);  // for a whole question, and for taking the answer
constexpr unsigned kMostHeader = 8192, kMostBody = 1024;
constexpr int kMostConnections = 512;
constexpr std::size_t kMostDrained = 1 << 20;

// One connection; it lives as long as something is under way for it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const Answers& answers, int& open)
      : stream_(std::move(socket)), answers_(answers), open_(open) {
    ++open_;
  }
  ~Session() { --open_; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeader);
    parser_->body_limit(kMostBody);
    stream_.expires_after(kPatience);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const beast::error_code& error, std::size_t) { self->was_read(error); });
  }

 private:
  void was_read(const beast::error_code& error) {
    if (!error) return answer();
    // Answers a malformed question only if it is certain that something was asked.
    if (error == http::error::header_limit)
      return send({431, "text/plain; charset=utf-8", "the question is too long\n"}, false);
    if (error == http::error::body_limit)
      return send({413, "text/plain; charset=utf-8", "the question is too long\n"}, false);
    if (error.category() == beast::error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message)
      return send({400, "text/plain; charset=utf-8", "this is no HTTP\n"}, false);
  }

  void answer() {
    const auto& asked = parser_->get();
    // Refuses two hosts: nobody knows which one was meant.
    const auto text = [&](http::field name) {
      return asked.count(name) == 1 ? std::string(asked[name]) : std::string();
    };
    send(answers_.answer({std::string(asked.method_string()), std::string(asked.target()),
                          text(http::field::host), text(http::field::authorization)}),
         asked.keep_alive());
  }

  void send(Answer answer, bool keep) {
    const bool head = parser_->is_header_done() && parser_->get().method() == http::verb::head;
    response_ = {};
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(http::field::content_type, answer.type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Referrer-Policy", "no-referrer");  // the token may be in the address
    response_.keep_alive(keep);
    response_.content_length(answer.body.size());
    if (!head) response_.body() = std::move(answer.body);
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_,
                      [self = shared_from_this(), keep](const beast::error_code& error, std::size_t) {
                        if (!error && keep) return self->read();
                        beast::error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                        if (!error) self->drain(kMostDrained);
                      });
  }

  // Takes what still comes: closing before would take the answer back from who has not read it yet.
  void drain(std::size_t most) {
    stream_.expires_after(kPatience);
    stream_.async_read_some(asio::buffer(rest_), [self = shared_from_this(), most](
                                                     const beast::error_code& error, std::size_t taken) {
      if (!error && taken < most) self->drain(most - taken);
    });
  }

  beast::tcp_stream stream_;
  const Answers& answers_;
  int& open_;
  beast::flat_buffer buffer_{kMostHeader + kMostBody};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::array<char, kMostHeader> rest_{};  // of a question that nobody reads
};

tcp::endpoint endpoint_of(asio::io_context& context, const Address& address) {
  beast::error_code error;
  const auto found = tcp::resolver(context).resolve(address.host, std::to_string(address.port), error);
  if (error || found.empty())
    throw Error(ErrorCode::kUsage, fmt::format("--serve: '{}' is no address of this machine: {}",
                                               shown_value(address.host), error.message()));
  return found.begin()->endpoint();
}

}  // namespace

Address address_of(const std::string& text) {
  const auto colon = text.rfind(':');
  const auto port = parse_int(colon == std::string::npos ? text : text.substr(colon + 1));
  std::string host = colon == std::string::npos ? "" : text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    throw Error(ErrorCode::kUsage,
                fmt::format("--serve: '{}': an IPv6 address needs brackets before its port: [::1]:9400",
                            shown_value(text)));
  constexpr int kLastPort = 65535;
  if (!port || *port < 0 || *port > kLastPort || host.find_first_of("[]/ ") != std::string::npos)
    throw Error(ErrorCode::kUsage,
                fmt::format("--serve: '{}' is no HOST:PORT; for example 127.0.0.1:9400", shown_value(text)));
  return {host.empty() ? "127.0.0.1" : host, static_cast<std::uint16_t>(*port)};
}

struct Server::Parts {
  explicit Parts(const ServerSettings& settings) : answers(settings.token), acceptor(context) {
    const auto endpoint = endpoint_of(context, settings.address);
    if (settings.token.empty() && !endpoint.address().is_loopback())
      throw Error(ErrorCode::kUsage, fmt::format("--serve {}: others can reach this address; set a token in "
                                                 "PACELINE_MONITOR_TOKEN, or serve 127.0.0.1:{}",
                                                 shown_value(settings.address.host), settings.address.port));
    listen(endpoint);
    accept();
    thread = std::jthread([this] { run(); });
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { context.stop(); }

  void listen(const tcp::endpoint& endpoint) {
    beast::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      throw Error(ErrorCode::kUsage,
                  fmt::format("--serve: cannot listen at port {}: {}; name another port, or 0 for any",
                              endpoint.port(), error.message()));
  }

  void accept() {
    acceptor.async_accept([this](const beast::error_code& error, tcp::socket socket) {
      if (!error && open < kMostConnections)
        std::make_shared<Session>(std::move(socket), answers, open)->read();
      if (error == asio::error::no_descriptors) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (error != asio::error::operation_aborted) accept();
    });
  }

  // Signals belong to the main thread.
  void run() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    context.run();
  }

  Answers answers;
  int open = 0;  // connections; changed on the thread alone
  asio::io_context context{1};
  tcp::acceptor acceptor;
  std::jthread thread;
};

Server::Server(const ServerSettings& settings) : parts_(std::make_unique<Parts>(settings)) {}
Server::~Server() = default;

void Server::show(std::shared_ptr<const Snapshot> now) {
  parts_->answers.show(std::move(now));
}

std::string Server::url() const {
  const auto endpoint = parts_->acceptor.local_endpoint();
  const auto host = endpoint.address().to_string();
  return fmt::format("http://{}:{}/", endpoint.address().is_v6() ? "[" + host + "]" : host, endpoint.port());
}

}  // namespace paceline::monitor
