// SPDX-License-Identifier: MIT
// Finds out which dimension of each input is the batch.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "config/open_sizes.h"
#include "config/shapes.h"

namespace paceline::config {
namespace {

constexpr std::int64_t kOpen = -2;  // a dimension whose size is not settled yet
constexpr std::string_view kBatchWord = "{batch}";
constexpr std::string_view kZero = "0";  // the symbol of a size that the file declares as 0
[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kConfig, message);
}

bool names_the_batch(const std::string& symbol) {
  const auto word = lower_case(symbol);
  return word == "n" || word == "b" || word == "bs" || word.starts_with("batch");
}

// The symbol of the batch: one whose name says so, else that of the first input whose dimension 0 is open.
// One that appears twice in an input does not count. None: no open dimension can be the batch; "": the batch
// is open but has no name.
std::optional<std::string> batch_symbol(const std::vector<DeclaredInput>& declared) {
  std::optional<std::string> at_front;
  const auto can_be = [&](const std::string& symbol) {
    return symbol != kZero && std::ranges::none_of(declared, [&](const DeclaredInput& input) {
             return !symbol.empty() && std::ranges::count(input.symbols, symbol) > 1;
           });
  };
  for (const auto& input : declared) {
    for (const auto& symbol : input.symbols)
      if (names_the_batch(symbol) && can_be(symbol)) return symbol;
    if (!input.symbols.empty() && !can_be(input.symbols.front())) continue;
    if (!at_front && input.shape && !input.shape->empty() && input.shape->front() < 0)
      at_front = input.symbols.empty() ? std::string() : input.symbols.front();
  }
  return at_front;
}

// The batch dimension of an input as the file declares it.
std::optional<std::size_t> declared_batch(const DeclaredInput& input, const std::string& symbol) {
  if (!input.shape) return std::nullopt;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const auto name = i < input.symbols.size() ? input.symbols[i] : std::string();
    const bool nameless_front = name.empty() && i == 0;
    if ((*input.shape)[i] < 0 && (nameless_front || (!name.empty() && name == symbol))) return i;
  }
  return std::nullopt;
}

class Settler {
 public:
  Settler(const std::vector<InputShape>& written, const std::vector<DeclaredInput>& declared,
          const std::vector<std::int64_t>& batches, const ShapeHints& hints)
      : written_(written),
        declared_(declared),
        hints_(hints),
        batches_(batches),
        symbol_(batch_symbol(declared)),
        as_in_file_(repeats_the_file()) {}

  SettledShapes settle() {
    take_inputs();
    check_open();
    const bool marked =
        std::any_of(inputs_.begin(), inputs_.end(), [](const auto& input) { return batch_dimension(input); });
    if (!said_.empty())
      agree(said_);
    else if (!marked)
      by_size();
    if (batches_.empty()) batches_ = {1};
    check_elements();
    return {inputs_, batches_};
  }

 private:
  // A size that is written for the batch dimension.
  struct Said {
    std::size_t input;
    std::size_t dimension;
    std::int64_t size;
  };

  [[nodiscard]] const InputShape* written(const std::string& name) const {
    const auto found =
        std::find_if(written_.begin(), written_.end(), [&](const auto& input) { return input.name == name; });
    return found == written_.end() ? nullptr : &*found;
  }

  // Whether what is written says no more than the file.
  [[nodiscard]] bool repeats_the_file() const {
    return std::all_of(written_.begin(), written_.end(), [&](const InputShape& input) {
      const auto found = std::ranges::find(declared_, input.name, &DeclaredInput::name);
      return found != declared_.end() && found->shape == input.shape;
    });
  }

  [[nodiscard]] const TensorSpec* array(const std::string& name) const {
    const auto found = std::ranges::find(hints_.arrays, name, &TensorSpec::name);
    return found == hints_.arrays.end() ? nullptr : &*found;
  }

  // Sizes of the file's symbols, as the written shapes and the arrays have them.
  void take_symbols() {
    for (const auto& input : declared_) {
      const auto* mine = written(input.name);
      const auto* given = array(input.name);
      const Shape shape = mine ? mine->shape : given ? given->shape : Shape();
      for (std::size_t i = 0; shape.size() == input.symbols.size() && i < shape.size(); ++i)
        if (!input.symbols[i].empty() && shape[i] >= 0) sizes_.emplace(input.symbols[i], shape[i]);
    }
  }

  // The size of a symbol, or of a sum of some ("past_sequence_length + 1").
  [[nodiscard]] std::optional<std::int64_t> known_size(const std::string& symbol) const {
    std::int64_t sum = 0;
    for (const auto& part : split(symbol, '+')) {
      const std::string term(trim(part));
      const auto known = sizes_.find(term);
      const auto number = known == sizes_.end() ? parse_int(term) : known->second;
      if (!number) return std::nullopt;
      sum += *number;
    }
    return sum;
  }

  [[nodiscard]] std::optional<std::int64_t> size_of(const DeclaredInput& input, std::size_t dimension) const {
    const auto known = known_size(symbol_of(input, dimension));
    return known ? known : mask_size(input, dimension, sizes_);
  }

  void take_inputs() {
    if (declared_.empty()) inputs_ = written_;
    take_symbols();
    const bool marks = std::any_of(written_.begin(), written_.end(),
                                   [](const auto& input) { return batch_dimension(input); });
    for (const auto& input : declared_) {
      const auto role = symbol_ ? declared_batch(input, *symbol_) : std::nullopt;
      const auto* mine = written(input.name);
      if (!mine && !array(input.name)) check_zeros(input);
      inputs_.push_back(mine ? *mine : as_declared(input, role));
      auto& taken = inputs_.back();
      if (!taken.dtype) taken.dtype = input.dtype;
      if (!mine || marks || !role || *role >= taken.shape.size() || taken.shape[*role] == 0) continue;
      said_.push_back({inputs_.size() - 1, *role, taken.shape[*role]});
    }
  }

  [[nodiscard]] InputShape as_declared(const DeclaredInput& input, std::optional<std::size_t> role) const {
    const auto* given = array(input.name);
    if (!input.shape && given) return as_array(*given);
    InputShape taken{input.name, input.shape.value_or(Shape{kOpen}), input.dtype};
    const bool fits = given && given->shape.size() == taken.shape.size();
    for (std::size_t i = 0; input.shape && i < taken.shape.size(); ++i)
      if (taken.shape[i] < 0)
        taken.shape[i] = role == i ? kBatchSize : fits ? given->shape[i] : size_of(input, i).value_or(kOpen);
    return taken;
  }

  // The most samples that an array has are those of all inputs with a batch.
  [[nodiscard]] InputShape as_array(const TensorSpec& array) const {
    std::int64_t samples = 0;
    for (const auto& other : hints_.arrays)
      if (!other.shape.empty()) samples = std::max(samples, other.shape.front());
    InputShape taken{array.name, array.shape, array.dtype};
    if (!taken.shape.empty() && taken.shape.front() == samples) taken.shape.front() = kBatchSize;
    return taken;
  }

  // Names what the file leaves open and the option that closes it.
  void check_open() {
    std::vector<std::string> open, examples;
    if (!written_.empty()) examples.push_back(input_shapes_text(written_));
    bool guess = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& shape = inputs_[i].shape;
      if (std::find(shape.begin(), shape.end(), kOpen) == shape.end()) continue;
      const auto& declared = declared_[i];
      open.push_back(declared_words(declared));
      const bool known = declared.shape || declared.example;
      guess = guess || !known;
      examples.push_back(known ? input_shapes_text({with_examples(inputs_[i], declared)})
                               : fmt::format("{}:{}xDIM", declared.name, kBatchWord));
    }
    if (!open.empty())
      refuse(fmt::format("the model leaves shapes open: {}; give them sizes, e.g. {}'{}'{}{}",
                         join(open, ", "), hints_.shapes_option, join(examples, ","),
                         guess ? ", with the sizes of the model for DIM" : "", equal_sizes()));
  }

  // The first symbol that stands twice in an input.
  [[nodiscard]] std::string equal_sizes() const {
    for (const auto& input : declared_)
      for (const auto& symbol : input.symbols)
        if (!symbol.empty() && symbol != kZero && std::ranges::count(input.symbols, symbol) > 1)
          return fmt::format("; '{}' stands twice in '{}': these sizes are equal", symbol, input.name);
    return {};
  }

  // Exporters also write 0 where they know no size.
  void check_zeros(const DeclaredInput& input) {
    if (std::ranges::count(input.symbols, kZero) == 0) return;
    auto empty = as_declared(input, std::nullopt), full = empty;
    empty.dtype = full.dtype = input.dtype;
    for (std::size_t i = 0; i < input.symbols.size(); ++i)
      if (input.symbols[i] == kZero) full.shape[i] = 1;
    for (auto* shape : {&empty, &full})
      for (auto& size : shape->shape)
        if (size == kOpen) size = 1;
    refuse(
        fmt::format("the file declares a size of 0 for {}: if it is an empty value, write {}; if the size is "
                    "open, export the model with a name for it, or try {}",
                    declared_words(input), shapes_option({empty}), shapes_option({full})));
  }

  // As it is typed.
  [[nodiscard]] std::string shapes_option(const std::vector<InputShape>& shapes) const {
    return fmt::format("{}'{}'", hints_.shapes_option, input_shapes_text(shapes));
  }

  static std::string declared_words(const DeclaredInput& input) {
    if (!input.shape) return fmt::format("'{}' [not in the file]", input.name);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < input.shape->size(); ++i) {
      const auto size = (*input.shape)[i];
      const bool named = i < input.symbols.size() && !input.symbols[i].empty();
      words.push_back(size >= 0 ? std::to_string(size) : named ? input.symbols[i] : "?");
    }
    return fmt::format("'{}' [{}]", input.name, join(words, ", "));
  }

  // Recurrent states have layers in front: [2, batch, 128].
  static bool is_batch_of_state(const DeclaredInput& input, std::size_t dimension) {
    return input.shape && dimension == 1 && input.shape->size() == 3 && symbol_of(input, 1).empty() &&
           input.shape->front() > 0 && input.shape->back() > 0;
  }

  // A symbol has the same example wherever it stands.
  InputShape with_examples(InputShape input, const DeclaredInput& declared) {
    if (!declared.shape) input.shape = declared.example.value_or(Shape{});
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] != kOpen) continue;
      const auto symbol = symbol_of(declared, i);
      for (const auto& part : split(symbol, '+'))
        if (const std::string term(trim(part)); !term.empty() && !parse_int(term)) {
          DeclaredInput alone = declared;
          alone.symbols[i] = term;
          if (!mask_size(declared, i, sizes_)) sizes_.emplace(term, example_size(alone, i));
        }
      input.shape[i] = is_batch_of_state(declared, i)
                           ? kBatchSize
                           : size_of(declared, i).value_or(example_size(declared, i));
    }
    return input;
  }

  // All sizes written for the batch must be equal, and equal to the batch asked for.
  void agree(const std::vector<Said>& said) {
    for (const auto& other : said)
      if (other.size != said.front().size)
        refuse(
            fmt::format("shapes give {} and {}, and both are the batch", words(said.front()), words(other)));
    const auto as_marked = [&] {
      auto marked = inputs_;
      for (const auto& place : said) marked[place.input].shape[place.dimension] = kBatchSize;
      return marked;
    };
    for (const auto batch : batches_) {
      if (batch == said.front().size) continue;
      if (fixed_by_file(said.front()))
        refuse(fmt::format(
            "batch {} is asked for, and the file gives {}; use {}{}, or a file with an open "
            "batch; where this one takes several sizes write {}",
            batch, words(said.front()), hints_.batch_option, said.front().size, shapes_option(as_marked())));
      refuse(fmt::format("batch {} is asked for, and shapes give {}; to vary the batch write {}", batch,
                         words(said.front()), shapes_option(as_marked())));
    }
    batches_ = {said.front().size};
    inputs_ = as_marked();
  }

  [[nodiscard]] bool fixed_by_file(const Said& place) const {
    const auto found = std::find_if(declared_.begin(), declared_.end(), [&](const DeclaredInput& input) {
      return input.name == inputs_[place.input].name;
    });
    return found != declared_.end() && found->shape && place.dimension < found->shape->size() &&
           (*found->shape)[place.dimension] >= 0;
  }

  [[nodiscard]] std::string words(const Said& place) const {
    return fmt::format("'{}' the size {} in dimension {}", inputs_[place.input].name, place.size,
                       place.dimension);
  }

  [[nodiscard]] std::vector<Said> fronts() const {
    std::vector<Said> fronts;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i].shape.empty() && inputs_[i].shape.front() != 0)
        fronts.push_back({i, 0, inputs_[i].shape.front()});
    return fronts;
  }

  // Nothing tells which dimension is the batch: it is dimension 0 of the inputs with its size.
  void by_size() {
    auto candidates = fronts();
    if (candidates.empty()) return;
    if (has_no_batch(candidates)) return;
    std::int64_t size = candidates.front().size;
    if (!batches_.empty()) {
      const auto fits = [&](const Said& place) { return place.size == batches_.front(); };
      const auto it = std::find_if(candidates.begin(), candidates.end(), fits);
      if (it != candidates.end()) size = it->size;
      if (it == candidates.end() && ranks_are_unknown() && batches_ == std::vector<std::int64_t>{1}) return;
    } else if (as_in_file_ && has_size_one(candidates)) {
      size = 1;
    } else {
      check_one_reading(candidates);
    }
    std::erase_if(candidates, [&](const Said& place) { return place.size != size; });
    agree(candidates);
  }

  // Only the user knows whether such a file has a batch: a batch of 1 that no size is says that it has none.
  [[nodiscard]] bool ranks_are_unknown() const {
    return std::none_of(declared_.begin(), declared_.end(), [](const auto& input) { return input.shape; });
  }

  // Without a batch: a file with fixed first sizes other than 1 that differ, or that its first output does
  // not have (the length of a signal), takes one inference at a time.
  [[nodiscard]] bool has_no_batch(const std::vector<Said>& candidates) const {
    if (!batches_.empty() && batches_ != std::vector<std::int64_t>{1}) return false;
    const auto& output = hints_.first_output;
    const auto size = candidates.front().size;
    const auto fixed = [&](const Said& place) { return fixed_by_file(place) && place.size != 1; };
    const auto differs = [&](const Said& place) { return place.size != size; };
    const bool open =
        output && !output->empty() && output->front() < 0;  // the batch, unless one is asked for
    const bool in_output = !output || (open ? batches_.empty() : !output->empty() && output->front() == size);
    return std::all_of(candidates.begin(), candidates.end(), fixed) &&
           (!in_output || std::any_of(candidates.begin(), candidates.end(), differs));
  }

  // A file with fixed sizes was most often written for a batch of one, whatever the order of its inputs.
  static bool has_size_one(const std::vector<Said>& candidates) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [](const Said& place) { return place.size == 1; });
  }

  void check_one_reading(const std::vector<Said>& candidates) const {
    for (const auto& other : candidates)
      if (other.size != candidates.front().size)
        refuse(fmt::format(
            "the batch can be {} (dimension 0 of '{}') or {} (dimension 0 of '{}'); say which with {}{} or "
            "{}{}, or mark it: {}",
            candidates.front().size, inputs_[candidates.front().input].name, other.size,
            inputs_[other.input].name, hints_.batch_option, candidates.front().size, hints_.batch_option,
            other.size, shapes_option(marked(candidates.front()))));
  }

  [[nodiscard]] std::vector<InputShape> marked(const Said& place) const {
    auto inputs = inputs_;
    inputs[place.input].shape[place.dimension] = kBatchSize;
    return inputs;
  }

  void check_elements() const {
    const auto batch = *std::max_element(batches_.begin(), batches_.end());
    for (const auto& input : inputs_) {
      std::int64_t elements = 1;
      for (const auto size : input.shape) {
        const auto extent = size == kBatchSize ? batch : size;
        if (extent > kMaxElements / std::max<std::int64_t>(1, elements))
          refuse(fmt::format("input '{}' has more than 2^34 elements at batch {}", input.name, batch));
        elements *= extent;
      }
    }
  }

  const std::vector<InputShape>& written_;
  const std::vector<DeclaredInput>& declared_;
  const ShapeHints& hints_;
  std::vector<std::int64_t> batches_;
  std::optional<std::string> symbol_;
  bool as_in_file_;
  SymbolSizes sizes_;
  std::vector<InputShape> inputs_;
  std::vector<Said> said_;
};

}  // namespace

SettledShapes settle_shapes(const std::vector<InputShape>& written,
                            const std::vector<DeclaredInput>& declared,
                            const std::vector<std::int64_t>& batches, const ShapeHints& hints) {
  return Settler(written, declared, batches, hints).settle();
}

}  // namespace paceline::config
