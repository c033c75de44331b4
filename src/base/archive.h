// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <array>
#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/maybe.h"

// Converts plain structs to JSON and back from one field list, which names each field once and both writes
// and reads: PACELINE_FIELDS, or `template <class A> void fields(A& a, T& t)` by hand. A missing Maybe is
// null with "<field>_reason" beside it. An optional is a list: of its value, or empty. What a variant is
// becomes a field beside those of its struct, named by T::kField; the first alternative, std::monostate, is
// none.
#define PACELINE_FIELD(r, unused, name) ::paceline::archive::field(a, BOOST_PP_STRINGIZE(name), t.name);
#define PACELINE_FIELDS(Type, ...)                                                       \
  template <class A>                                                                     \
  void fields(A& a, Type& t) {                                                           \
    BOOST_PP_SEQ_FOR_EACH(PACELINE_FIELD, unused, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__)) \
  }

namespace paceline::archive {

using Json = nlohmann::json;

// static constexpr std::array<std::pair<E, std::string_view>, N> kValue; kNull, where there is one, is the
// value that is null in JSON, and kNullReason says why.
template <typename E>
struct EnumNames;
// The kValue of a table with a row for each value.
template <typename Row, std::size_t N, typename E>
constexpr auto names_of_rows(const std::array<Row, N>& rows, E Row::*value) {
  std::array<std::pair<E, std::string_view>, N> names{};
  for (std::size_t i = 0; i < N; ++i) names[i] = {rows[i].*value, rows[i].name};
  return names;
}
template <typename T>
concept HasNames = requires {
  EnumNames<T>::kValue;
};
template <typename E>
concept HasNull = requires {
  EnumNames<E>::kNull;
};

// Fields of such a struct stand beside those of the struct that contains it.
template <typename T>
inline constexpr bool kStandBeside = false;
template <class A, typename T>
void field(A& a, const char* name, T& value) {
  if constexpr (kStandBeside<T>)
    fields(a, value);
  else
    a(name, value);
}

class Writer {
 public:
  template <typename T>
  static Json write(const T& value) {
    if constexpr (HasNames<T>) {
      for (const auto& [e, name] : EnumNames<T>::kValue)
        if (e == value) return std::string(name);
      return nullptr;
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, Json>) {
      Writer writer;
      fields(writer, const_cast<T&>(value));
      return std::move(writer.json_);
    } else {
      return value;
    }
  }
  template <typename T>
  static Json write(const std::vector<T>& values) {
    Json out = Json::array();
    for (const auto& value : values) out.push_back(write(value));
    return out;
  }
  template <typename T>
  static Json write(const std::optional<T>& value) {
    Json out = Json::array();
    if (value) out.push_back(write(*value));
    return out;
  }
  static Json write(const std::map<std::string, std::string>& values) { return values; }

  template <typename T>
  void operator()(const char* name, T& value) {
    json_[name] = write(value);
    if constexpr (HasNull<T>)
      if (value == EnumNames<T>::kNull)
        json_[std::string(name) + "_reason"] = std::string(EnumNames<T>::kNullReason);
  }
  template <typename T>
  void operator()(const char* name, Maybe<T>& value) {
    json_[name] = value ? Json(*value) : Json(nullptr);
    if (!value) json_[std::string(name) + "_reason"] = value.reason();
  }
  template <typename... T>
  void operator()(const char*, std::variant<std::monostate, T...>& value) {
    const auto write_held = [&]<typename Held>(Held& held) {
      if constexpr (!std::is_same_v<Held, std::monostate>) (*this)(Held::kField, held);
    };
    std::visit(write_held, value);
  }

 private:
  Json json_ = Json::object();
};

// The path of a field from the outermost object; it becomes text only for an error.
struct FieldPath {
  FieldPath(const char* root)
      : name(root) {}  // NOLINT(google-explicit-constructor): "" is the outermost object
  FieldPath(const FieldPath* within, std::string_view field) : parent(within), name(field) {}
  FieldPath(const FieldPath* list, std::size_t item) : parent(list), index(item) {}
  [[nodiscard]] std::string text() const {
    if (!parent) return std::string(name);
    const auto before = parent->text();
    if (name.empty()) return fmt::format("{}[{}]", before, index);
    return before.empty() ? std::string(name) : fmt::format("{}.{}", before, name);
  }

  const FieldPath* parent = nullptr;
  std::string_view name{};
  std::size_t index = 0;  // of an item in a list, which has no name
};

// Reads the fields that are there and keeps the defaults of the others. Throws Error(kData) naming the
// field's path.
class Reader {
 public:
  Reader(const Json& json, const FieldPath& path) : json_(json), path_(path) {
    if (!json.is_object()) fail(path_, "an object");
  }
  [[noreturn]] static void fail(const FieldPath& path, std::string_view wanted) {
    throw Error(ErrorCode::kData, fmt::format("field '{}' should be {}", path.text(), wanted));
  }

  template <typename T>
  static void read(const Json& json, const FieldPath& path, T& value) {
    if constexpr (HasNames<T>) {
      if constexpr (HasNull<T>)
        if (json.is_null()) return void(value = EnumNames<T>::kNull);
      const auto text = json.is_string() ? json.get<std::string>() : std::string();
      for (const auto& [e, name] : EnumNames<T>::kValue)
        if (name == text) return void(value = e);
      fail(path, "one of the known names");
    } else if constexpr (std::is_same_v<T, Json>) {
      value = json;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) fail(path, "a text");
      value = json.get_ref<const std::string&>();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) fail(path, "true or false");
      value = json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      if (!json.is_number_integer()) fail(path, "an integer");
      value = json.get<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) fail(path, "a number");
      value = json.get<T>();
    } else {
      Reader reader(json, path);
      fields(reader, value);
    }
  }
  template <typename T>
  static void read(const Json& json, const FieldPath& path, std::vector<T>& values) {
    if (!json.is_array()) fail(path, "a list");
    values.clear();
    values.reserve(json.size());
    for (const auto& item : json) {
      T& value = values.emplace_back();
      read(item, FieldPath(&path, values.size() - 1), value);
    }
  }
  template <typename T>
  static void read(const Json& json, const FieldPath& path, std::optional<T>& value) {
    if (!json.is_array() || json.size() > 1) fail(path, "a list of at most one");
    value.reset();
    if (!json.empty()) read(json.front(), FieldPath(&path, std::size_t{0}), value.emplace());
  }
  static void read(const Json& json, const FieldPath& path, std::map<std::string, std::string>& values) {
    if (!json.is_object()) fail(path, "an object");
    values.clear();
    for (const auto& [key, value] : json.items()) read(value, FieldPath(&path, key), values[key]);
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    if (const auto it = json_.find(name); it != json_.end())
      read(*it, FieldPath(&path_, std::string_view(name)), value);
  }
  template <typename T>
  void operator()(const char* name, Maybe<T>& maybe) {
    const auto it = json_.find(name);
    if (it == json_.end()) return;
    if (it->is_null()) {
      std::string reason = "not_measured";
      (*this)((std::string(name) + "_reason").c_str(), reason);
      maybe = Maybe<T>::missing(std::move(reason));
    } else {
      T value{};
      read(*it, FieldPath(&path_, std::string_view(name)), value);
      maybe = Maybe<T>(std::move(value));
    }
  }
  template <typename... T>
  void operator()(const char*, std::variant<std::monostate, T...>& value) {
    const auto read_held = [&]<typename Held>(std::type_identity<Held>) {
      if (json_.contains(Held::kField)) (*this)(Held::kField, value.template emplace<Held>());
    };
    (read_held(std::type_identity<T>{}), ...);
  }

 private:
  const Json& json_;
  FieldPath path_;
};

}  // namespace paceline::archive
