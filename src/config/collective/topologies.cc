// SPDX-License-Identifier: MIT
#include "config/collective/topologies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/collective.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "config/value.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

class TopologyReader {
 public:
  std::vector<Topology> read(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::kMap)
      report(root.place, "a table of topologies is a map of names to their values");
    std::vector<Topology> table;
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
      const auto& key = root.keys[i];
      if (std::any_of(table.begin(), table.end(), [&](const auto& t) { return t.name == key.text; }))
        report(key.place, fmt::format("topology '{}' is listed twice", key.text));
      table.push_back(row(key, root.items[i]));
    }
    if (!problems_.empty()) throw ConfigErrors(problems_);
    return table;
  }

 private:
  struct Key {
    std::string_view name;
    void (TopologyReader::*read)(Topology&, const YamlNode&);
  };

  void report(const Place& place, std::string message) {
    problems_.push_back(diagnostic(place, std::move(message)));
  }

  Topology row(const YamlNode& name, const YamlNode& values) {
    static constexpr std::array kKeys{
        Key{"about", &TopologyReader::about},           Key{"gpus", &TopologyReader::gpus},
        Key{"hosts", &TopologyReader::hosts},           Key{"ranks", &TopologyReader::ranks},
        Key{"operations", &TopologyReader::operations}, Key{"busbw_gb_per_s", &TopologyReader::busbw},
        Key{"source", &TopologyReader::source}};
    Topology topology;
    topology.name = key_ = name.text;
    if (values.kind != YamlNode::Kind::kMap)
      report(values.place, fmt::format("'{}' is no map of keys to values", key_));
    for (std::size_t i = 0; i < values.keys.size(); ++i) {
      const auto& key = values.keys[i];
      const auto found =
          std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return k.name == key.text; });
      key_ = fmt::format("{}.{}", name.text, key.text);
      if (found == kKeys.end())
        report(key.place, fmt::format("unknown key '{}'; there are: about, gpus, hosts, ranks, operations, "
                                      "busbw_gb_per_s, source",
                                      key_));
      else
        (this->*found->read)(topology, values.items[i]);
    }
    for (const auto& [missing, what] : {std::pair{topology.gb_per_s.empty(), "busbw_gb_per_s"},
                                        std::pair{topology.source.empty(), "source"}})
      if (missing && problems_.empty()) report(name.place, fmt::format("'{}' has no {}", name.text, what));
    if (topology.operations.empty()) topology.operations.emplace_back(row_of(Collective::kAllReduce).name);
    return topology;
  }

  std::string text(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) report(node.place, fmt::format("'{}' takes one value", key_));
    return node.text;
  }
  std::vector<std::string> texts(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kList) return {text(node)};
    std::vector<std::string> all;
    for (const auto& item : node.items) all.push_back(text(item));
    return all;
  }

  void about(Topology& t, const YamlNode& node) { t.about = text(node); }
  void source(Topology& t, const YamlNode& node) { t.source = text(node); }
  void gpus(Topology& t, const YamlNode& node) { t.gpus = texts(node); }
  void hosts(Topology& t, const YamlNode& node) {
    const auto word = text(node);
    if (word != "one" && word != "several")
      return report(node.place, fmt::format("'{}' is '{}'; it takes one or several", key_, word));
    t.hosts = word == "one" ? Hosts::kOne : Hosts::kSeveral;
  }
  void ranks(Topology& t, const YamlNode& node) {
    const auto number = parse_int(text(node));
    if (!number || *number < 1)
      return report(node.place,
                    fmt::format("'{}' is '{}'; it takes a whole number from 1 on", key_, node.text));
    t.ranks = *number;
  }
  void operations(Topology& t, const YamlNode& node) {
    t.operations = texts(node);
    for (const auto& name : t.operations)
      if (!parse_collective(name))
        report(node.place, fmt::format("'{}': '{}' is no operation of comm", key_, name));
  }
  void busbw(Topology& t, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap || node.keys.empty())
      return report(node.place,
                    fmt::format("'{}' takes a map of sizes to GB/s, e.g. {{1M: 1.5, 64M: 3}}", key_));
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      const auto size = convert(*find_option("min_bytes", kind_bit(WorkloadKind::kCollective)),
                                {node.keys[i].text, {}, false});
      const auto rate = parse_double(node.items[i].text);
      if (!size.problem.empty()) {
        report(node.keys[i].place, fmt::format("'{}': {}", key_, size.problem));
        continue;
      }
      if (!rate || !(*rate > 0) || !std::isfinite(*rate)) {
        report(node.items[i].place,
               fmt::format("'{}': '{}' is no bandwidth above 0", key_, node.items[i].text));
        continue;
      }
      const auto bytes = std::get<std::int64_t>(*size.value);
      if (!t.gb_per_s.empty() && bytes <= t.gb_per_s.back().first)
        report(node.keys[i].place,
               fmt::format("'{}': {} is out of order; sizes must ascend", key_, node.keys[i].text));
      t.gb_per_s.emplace_back(bytes, *rate);
    }
  }

  std::string key_;  // that is read
  std::vector<Diagnostic> problems_;
};

bool fits(const Topology& t, const RunShape& shape) {
  if (t.gpus.empty() && t.hosts == Hosts::kAny && t.ranks == 0) return false;
  const bool gpu = t.gpus.empty() || std::any_of(t.gpus.begin(), t.gpus.end(), [&](const auto& word) {
                     return shape.gpu.find(word) != std::string::npos;
                   });
  return gpu && (t.hosts == Hosts::kAny || (t.hosts == Hosts::kOne) == shape.one_host) &&
         (t.ranks == 0 || t.ranks == shape.ranks);
}

}  // namespace

std::vector<Topology> parse_topologies(std::string_view yaml, const std::string& source) {
  return TopologyReader().read(parse_yaml(yaml, source));
}

std::vector<Topology> read_topologies(const std::filesystem::path& file) {
  const auto path =
      file.empty() ? executable_dir().parent_path() / "share" / "paceline" / "topologies.yaml" : file;
  return parse_topologies(read_foreign(path, Foreign::kTable), path.string());
}

const Topology* find_topology(const std::vector<Topology>& table, const std::string& name,
                              const RunShape& shape) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Topology& t) {
    const auto& o = t.operations;
    return name.empty() ? std::find(o.begin(), o.end(), shape.operation) != o.end() && fits(t, shape)
                        : t.name == name;
  });
  return found == table.end() ? nullptr : &*found;
}

std::string words_of(const Topology& topology) {
  return fmt::format("{}{}; {}", topology.name, topology.about.empty() ? "" : " (" + topology.about + ")",
                     topology.source);
}

std::optional<double> expected_gb_per_s(const Topology& topology, std::int64_t bytes) {
  const auto& points = topology.gb_per_s;
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.first > bytes; });
  if (above == points.begin()) return std::nullopt;
  const auto below = std::prev(above);
  if (above == points.end()) return below->second;
  const double share = std::log(static_cast<double>(bytes) / static_cast<double>(below->first)) /
                       std::log(static_cast<double>(above->first) / static_cast<double>(below->first));
  return below->second * std::pow(above->second / below->second, share);
}

}  // namespace paceline::config
