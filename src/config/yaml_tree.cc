// SPDX-License-Identifier: MIT
#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/foreign_text.h"

namespace paceline::config {
namespace {

// A plan written out with its defaults is larger than its source, so its size may be generous, but not what
// anchors and aliases copy.
constexpr std::size_t kMaxCopied = 20'000;

[[noreturn]] void fail(const Place& place, const std::string& message) {
  throw ConfigErrors({diagnostic(place, message)});
}

std::size_t size_of(const YamlNode& node) {
  std::size_t size = 1;
  for (const auto& key : node.keys) size += size_of(key);
  for (const auto& item : node.items) size += size_of(item);
  return size;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const std::string& source) : text_(text), source_(source) {}
  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(place(mark), "a second document starts here; a plan is one document");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.kind = YamlNode::Kind::kNull, .place = place(mark), .text = is_written(mark) ? "null" : ""},
        anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) fail(place(mark), "this alias is inside its own anchor");
    copy(found->second, place(mark));
    YamlNode node = found->second;
    node.place = place(mark);
    attach(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    add({.kind = YamlNode::Kind::kScalar,
         .place = place(mark),
         .text = value,
         .quoted = tag != "?" && !tag.empty()},
        anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open({.kind = YamlNode::Kind::kList, .place = place(mark)}, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open({.kind = YamlNode::Kind::kMap, .place = place(mark)}, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor;
  };

  // Whether a null is a word of the file; where a value is missing the mark is at what follows.
  [[nodiscard]] bool is_written(const YAML::Mark& mark) const {
    const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
    const auto rest = text_.substr(std::min(at, text_.size()));
    for (const std::string_view word : {"null", "Null", "NULL", "~"})
      if (rest.starts_with(word)) {
        const auto after = rest.substr(word.size()).find_first_not_of(' ');
        return after == std::string_view::npos || rest.substr(word.size())[after] != ':';
      }
    return false;
  }

  [[nodiscard]] Place place(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  void copy(const YamlNode& node, const Place& where) {
    copied_ += size_of(node);
    if (copied_ > kMaxCopied)
      fail(where, fmt::format("anchors and aliases repeat more than {} values", kMaxCopied));
  }
  void remember(const YamlNode& node, YAML::anchor_t anchor) {
    if (!anchor) return;
    copy(node, node.place);
    anchors_[anchor] = node;
  }
  void add(YamlNode node, YAML::anchor_t anchor) {
    remember(node, anchor);
    attach(std::move(node));
  }
  void open(YamlNode node, YAML::anchor_t anchor) {
    if (const auto most = limit_of(Foreign::kPlan).depth; frames_.size() >= most)
      fail(node.place, fmt::format("nested deeper than {} levels", most));
    frames_.push_back({std::move(node), anchor});
  }
  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    remember(frame.node, frame.anchor);
    attach(std::move(frame.node));
  }
  void attach(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    YamlNode& parent = frames_.back().node;
    const bool is_key = parent.kind == YamlNode::Kind::kMap && parent.keys.size() == parent.items.size();
    (is_key ? parent.keys : parent.items).push_back(std::move(node));
  }

  std::string_view text_;
  const std::string& source_;
  YamlNode root_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t copied_ = 0;
  int documents_ = 0;
};

}  // namespace

YamlNode parse_yaml(std::string_view text, const std::string& source) {
  if (const auto most = limit_of(Foreign::kPlan).bytes; text.size() > most)
    fail({source, 1, 1}, fmt::format("is larger than {} bytes; is this a plan?", most));
  TreeBuilder builder(text, source);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    fail({source, error.mark.line + 1, error.mark.column + 1}, "YAML syntax: " + error.msg);
  }
  YamlNode root = builder.take();
  if (root.kind == YamlNode::Kind::kNull)
    fail({source, 1, 1}, "the plan is empty; see examples/plans for some to start from");
  return root;
}

}  // namespace paceline::config
