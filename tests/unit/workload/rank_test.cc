// SPDX-License-Identifier: MIT
#include "workload/rank.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace paceline::workload {
namespace {

struct Kept : pass::RecordSink {
  void emit(const nlohmann::json& record) override { all.push_back(record); }
  std::vector<nlohmann::json> all;
};

// A socket at which rank 0 serves the store.
plugin::Rendezvous listening() {
  plugin::Rendezvous where;
  where.serve = true, where.timeout_s = 20;
  where.listen_fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(where.listen_fd, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(::listen(where.listen_fd, 8), 0);
  EXPECT_EQ(::getsockname(where.listen_fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  where.port = ntohs(at.sin_port);
  return where;
}

// One rank from the rendezvous to the report of its window. Empty, or what went wrong.
std::string run_rank(const pass::PassSpec& spec, Kept& kept) {
  try {
    TaggedSink sink(kept, spec);
    Rank rank(spec, sink);
    rank.run({}, [&] {
      rank.observe();
      rank.timed().window.open();
      rank.timed().window.close();
      rank.report_window(1e6);
    });
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// Only the rank in `with_sampler` can read a meter.
void two_ranks(std::int64_t with_sampler, std::size_t records) {
  std::vector<pass::PassSpec> specs(2);
  const auto where = listening();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto& spec = specs[i];
    spec.kind = pass::PassKind::kCollective;
    spec.rank = static_cast<std::int64_t>(i), spec.world_size = 2;
    spec.use(plugin::Role::kBackend, "gloo", SPIN_PLUGIN_FILE);
    spec.ranks.rendezvous = where, spec.ranks.group_timeout_s = 20;
    if (spec.rank == with_sampler) spec.use(plugin::Role::kSampler, "rapl");
  }
  specs[1].ranks.rendezvous.serve = false, specs[1].ranks.rendezvous.listen_fd = -1;
  std::vector<Kept> kept(2);
  std::vector<std::string> problems(2);
  std::thread other([&] { problems[1] = run_rank(specs[1], kept[1]); });
  problems[0] = run_rank(specs[0], kept[0]);
  other.join();
  EXPECT_EQ(problems, std::vector<std::string>(2));
  const auto sampled = std::ranges::count(kept[0].all, "sampled", [](const auto& r) { return r.at("type"); });
  EXPECT_EQ(static_cast<std::size_t>(sampled), records);
}

TEST(Rank, WithoutASamplerItTakesPartInTheReportOfTheWindow) {
  two_ranks(0, 1);
  two_ranks(1, 0);  // the first rank of a host reads for it, and has no meter
  two_ranks(-1, 0);
}

}  // namespace
}  // namespace paceline::workload
