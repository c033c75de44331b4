// SPDX-License-Identifier: MIT
#include "workload/store_pass.h"

#include <functional>
#include <map>
#include <string>

#include "cluster/meeting.h"
#include "plugin/registry.h"
#include "process/messages.h"
#include "process/spawn.h"

namespace paceline::workload {
namespace {

using Json = nlohmann::json;

// One function per question.
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

void serve_store(const pass::PassSpec& spec) {
  const plugin::LoadedPlugin plugin(spec.plugin_file);
  const auto store = cluster::reach_store(plugin.backend(spec.ranks.backend), spec.ranks.rendezvous);
  const FileDescriptor socket(process::kExtraFd);
  process::send_message(socket.get(), {{"port", store->port()}});
  while (const auto question = process::receive_message(socket.get()))
    process::send_message(socket.get(), answer_to(*store, *question));
}

}  // namespace paceline::workload
