// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "plugin/plugin.h"
#include "torch/training/make.h"
#include "torch/versions.h"
#include "waiting_trainer.h"

// A plug-in without engines, whose trainer waits instead of computing, for sweeps over more ranks than cores.
namespace paceline::torch_test {
namespace {

// With WAIT_NETWORK=NAME every rank talks from a network namespace of its own, NAME<rank>, where it has the
// address 10.77.0.<rank+1>. The store was connected to before, and its socket stays where it is.
std::unique_ptr<plugin::RankGroup> join_from_namespace(std::shared_ptr<plugin::Store> store,
                                                       const plugin::GroupSpec& spec) {
  const char* network = std::getenv("WAIT_NETWORK");
  if (!network) return torch_plugin::join_gloo(std::move(store), spec);
  const auto name = fmt::format("/run/netns/{}{}", network, spec.rank);
  const int place = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (place < 0 || ::setns(place, CLONE_NEWNET) != 0)
    throw Error(ErrorCode::kUnavailable, fmt::format("cannot enter {}: {}", name, std::strerror(errno)));
  ::close(place);
  auto here = spec;
  here.local_address = fmt::format("10.77.0.{}", spec.rank + 1);
  return torch_plugin::join_gloo(std::move(store), here);
}

constexpr plugin::TrainerEntry kTrainers[] = {{"cpu", make_waiting_trainer}};
constexpr plugin::BackendEntry kBackends[] = {{"gloo", torch_plugin::connect_store, join_from_namespace}};
const plugin::Plugin kPlugin = {plugin::kAbiVersion, "waiting", torch_plugin::library_versions, {}, {}, {},
                                kTrainers,           kBackends};

}  // namespace
}  // namespace paceline::torch_test

PACELINE_PLUGIN(paceline::torch_test::kPlugin)
