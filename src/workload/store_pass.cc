// SPDX-License-Identifier: MIT
#include "workload/store_pass.h"

#include <string>

#include "base/display_text.h"
#include "cluster/meeting.h"
#include "plugin/registry.h"
#include "process/messages.h"
#include "process/spawn.h"

namespace paceline::workload {
namespace {

using Json = nlohmann::json;

Json answer_to(plugin::Store& store, const Json& question) {
  try {
    const std::string ask = question.at("ask"), key = question.at("key");
    if (ask == "set") return store.set(key, question.at("value")), Json::object();
    if (ask == "set_if_absent") return {{"value", store.set_if_absent(key, question.at("value"))}};
    const auto value = ask == "wait" ? store.wait_for(key, question.at("timeout_s")) : store.get(key);
    return value ? Json{{"value", *value}} : Json::object();
  } catch (const std::exception& e) {
    return {{"error", plain_reason(e)}};
  }
}

}  // namespace

void serve_store(const pass::PassSpec& spec) {
  const auto& use = spec.plugin(plugin::Role::kBackend);
  const plugin::LoadedPlugin plugin(use.file);
  const auto store =
      cluster::reach_store(plugin.entry<plugin::Role::kBackend>(use.name), spec.ranks.rendezvous);
  const FileDescriptor socket(process::kExtraFd);
  process::send_message(socket.get(), {{"port", store->port()}});
  while (const auto question = process::receive_message(socket.get()))
    process::send_message(socket.get(), answer_to(*store, *question));
}

}  // namespace paceline::workload
