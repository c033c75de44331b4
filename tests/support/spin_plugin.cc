// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "plugin/plugin.h"
#include "spin_communicator.h"
#include "spin_probe.h"
#include "spin_ranks.h"
#include "spin_trainer.h"

// Engines for tests only, and the spin trainer: one that takes a known time, and one that misbehaves on
// demand.
//   spin   waits, asleep but for the last 0.2 ms; the true distribution is uniform on
//          [0.8, 1.2] x SPIN_US (default 1000) microseconds,
//          seeded by SPIN_SEED and the process id; its median is SPIN_US. Option spin.pace: steady: always
//          SPIN_US; two_states: likewise, but twice that in every second tenth of a second; spin.wake_us,
//          spin.wake_pages: an inference after a pause of 5 ms takes more, and writes new pages first;
//          spin.new_shape_us: the first inference of a shape takes more.
//          SPIN_SLOW=cuda:1=1.5: on that device it takes 1.5 times as long. SPIN_FIXED_BATCH=1: it takes no
//          batch but the one it was loaded for option io: none: synchronize returns nothing, fetch_outputs
//          the outputs; it refuses an inference after that, since nothing is fetched between timed ones
//          SPIN_VERSION: the version that it reports (default 1); SPIN_LIBRARIES=cuDNN=9,NCCL=2: of others
//          SPIN_FLOPS: number of FLOPs that it counts, with a quarter as many bytes; SPIN_LOAD_MB: memory
//          that loading uses for 0.2 s; SPIN_DEVICE_NS: it has another clock, on which inference number i
//          lasts that number of ns plus i; several before one synchronize last the sum of their times
//   fault  SPIN_FAULT = segv abort kill hang oom exit quiet_exit rubbish throw escape unsupported unavailable
//   nan badshape; SPIN_FAULT_AT = load | run | inputs (of a file) | constructor | bind | destructor, or of
//   the
//          plug-in: library (its first static object) | versions | exit (its last); SPIN_IS_FAULT=1: spin is
//          this engine too
//          SPIN_FAULT_US: what it sleeps for an inference (default 1000)
//          it cheats: repeat (computes once after a bind), copy (likewise, and writes the answer each time),
//          first (once in its life), memo (once for each content of the input, and writes the answer each
//          time); view: its output is its own copy of the input; constant: its output is its weights;
//          count: adds 1 to the input (4 numbers a sample), and sleeps only where one of them is above 10;
//          its first inference takes SPIN_FIRST_US more
//          it tells nonsense: shares, negative, flops, dtype; it ran what was not asked for: precision,
//          threads
namespace {

using namespace paceline;
using namespace paceline::plugin;

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value ? value : fallback;
}

// Not of the heap, which workers let keep what is freed.
void use_for_a_moment(std::size_t bytes) {
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw Error(ErrorCode::kInternal, "SPIN_LOAD_MB is more than there is");
  std::memset(block, 1, bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::munmap(block, bytes);
}

void write_new_pages(std::size_t pages) {
  const std::size_t page = 4096, bytes = pages * page;
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw Error(ErrorCode::kInternal, "spin.wake_pages is more than there is");
  ::madvise(block, bytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += page) static_cast<char*>(block)[at] = 1;
  ::munmap(block, bytes);
}

// Sums each sample of the input: an output that depends on it, [batch, 4].
class SumEngine : public Engine {
 public:
  [[nodiscard]] EngineInfo info() const override {
    return {"spin", {{"spin", "1"}}, {{"threads", std::to_string(threads_)}}};
  }
  void load(const ModelSpec& model, const EngineSettings& settings) override {
    threads_ = settings.threads;
    if (const auto mb = std::stoul(variable("SPIN_LOAD_MB", "0")); mb > 0) use_for_a_moment(mb * 1'000'000);
    const auto io = settings.options.find("io");
    keeps_outputs_ = io != settings.options.end() && io->second == "none";
    if (!model.inputs.empty()) batch_ = model.inputs.front().shape.at(0);
  }
  void bind(Slot, std::span<const TensorView> inputs) override {
    input_ = inputs.front();
    fetched_ = false;
    if (variable("SPIN_FIXED_BATCH", "0") == "1" && input_.shape.at(0) != batch_)
      throw Error(ErrorCode::kUsage, "this engine was loaded for batches of " + std::to_string(batch_));
    output_ = Tensor({"output", DType::kFloat32, {input_.shape.at(0), 4}});
  }
  void enqueue(Slot) override {
    if (keeps_outputs_ && fetched_)
      throw Error(ErrorCode::kInternal, "outputs were fetched between two inferences");
    const auto per_sample = static_cast<std::size_t>(element_count(input_.shape) / input_.shape[0]);
    const auto* x = static_cast<const float*>(input_.data);
    for (std::int64_t s = 0; s < input_.shape[0]; ++s)
      for (std::size_t k = 0; k < 4; ++k) {
        float sum = 0;
        for (std::size_t i = k; i < per_sample; i += 4)
          sum += x[static_cast<std::size_t>(s) * per_sample + i];
        output_.as<float>()[static_cast<std::size_t>(s) * 4 + k] = sum;
      }
  }
  std::span<const TensorView> synchronize(Slot slot) override {
    if (keeps_outputs_) return {};
    return fetch_outputs(slot);
  }
  std::span<const TensorView> fetch_outputs(Slot) override {
    fetched_ = true;
    view_ = output_.view();
    return {&view_, 1};
  }
  ReadBack read_back(Slot) override {
    ReadBack read{{{"fp32", 1.0, 1}}, "by construction", 64, {}};
    if (const double flops = std::stod(variable("SPIN_FLOPS", "0")); flops > 0)
      read.flops = flops, read.bytes = flops / 4;
    return read;
  }
  LayerTimes profile(Slot slot, int inferences) override {
    if (!variable("SPIN_NO_LAYERS", "").empty()) return Engine::profile(slot, inferences);
    return {{{"sum", "Add", "fp32", 3e5, {}, "body, first"},
             {"view", "Reshape", "", {}, {}},
             {"scale", "Mul", "fp32", 1e5, {}}},
            "by construction"};
  }

 protected:
  TensorView input_, view_;
  Tensor output_;
  int threads_ = 1;
  std::int64_t batch_ = 1;
  bool keeps_outputs_ = false, fetched_ = false;
};

class SpinEngine : public SumEngine {
 public:
  void load(const ModelSpec& model, const EngineSettings& settings) override {
    SumEngine::load(model, settings);
    const auto pace = settings.options.find("pace");
    steady_ = pace != settings.options.end() && pace->second != "uneven";
    two_states_ = pace != settings.options.end() && pace->second == "two_states";
    const auto number = [&](const char* name) {
      const auto found = settings.options.find(name);
      return found == settings.options.end() ? 0L : std::stol(found->second);
    };
    wake_us_ = number("wake_us"), wake_pages_ = number("wake_pages");
    new_shape_us_ = number("new_shape_us");
    const auto device = settings.options.find("device");
    const auto slow = variable("SPIN_SLOW", "");
    if (device != settings.options.end() && slow.starts_with(device->second + "="))
      mean_ns_ *= std::stod(slow.substr(slow.find('=') + 1));
  }
  [[nodiscard]] EngineInfo info() const override {
    auto info = SumEngine::info();
    info.device_clock = device_ns_ > 0;
    if (steady_) info.settings.emplace_back("pace", "steady");
    return info;
  }
  [[nodiscard]] std::optional<double> device_ns(Slot) const override { return waited_device_ns_; }
  void enqueue(Slot slot) override {
    SumEngine::enqueue(slot);
    ++started_;
  }
  std::span<const TensorView> synchronize(Slot slot) override {
    const SteadyClock clock;
    const bool woken = last_end_ns_ > 0 && clock.now_ns() - last_end_ns_ > kPauseNs;
    if (woken && wake_pages_ > 0) write_new_pages(static_cast<std::size_t>(wake_pages_));
    const bool is_new = seen_.insert(input_.shape).second;
    auto until = clock.now_ns() + (woken ? wake_us_ * 1000 : 0) + (is_new ? new_shape_us_ * 1000 : 0);
    for (waited_device_ns_ = 0; started_ > 0; --started_) {
      const double share = 0.8 + 0.4 * rng_.uniform(calls_++);
      const bool slow = two_states_ && clock.now_ns() / kStateNs % 2 == 1;
      until += static_cast<std::int64_t>(mean_ns_ * (slow ? 2 : steady_ ? 1 : share));
      waited_device_ns_ += device_ns_ + static_cast<double>(calls_);
    }
    if (const auto asleep_ns = until - clock.now_ns() - kAwakeNs; asleep_ns > 0)
      std::this_thread::sleep_for(std::chrono::nanoseconds(asleep_ns));
    while (clock.now_ns() < until) {
    }
    last_end_ns_ = clock.now_ns();
    return SumEngine::synchronize(slot);
  }

 private:
  static constexpr std::int64_t kPauseNs = 5'000'000;
  std::int64_t last_end_ns_ = 0;
  long wake_us_ = 0, wake_pages_ = 0, new_shape_us_ = 0;
  std::set<Shape> seen_;
  static constexpr std::int64_t kAwakeNs = 200'000;  // longer than it takes a sleeper to wake up
  double mean_ns_ = std::stod(variable("SPIN_US", "1000")) * 1e3;
  CounterRng rng_{static_cast<std::uint64_t>(std::stoull(variable("SPIN_SEED", "1"))),
                  static_cast<std::uint64_t>(::getpid())};
  std::uint64_t calls_ = 0;
  int started_ = 0;  // since the last synchronize
  double waited_device_ns_ = 0;
  static constexpr std::int64_t kStateNs = 100'000'000;
  bool steady_ = false, two_states_ = false;
  double device_ns_ = std::stod(variable("SPIN_DEVICE_NS", "0"));
};

void misbehave(const std::string& fault);

class FaultEngine : public SumEngine {
 public:
  FaultEngine() {
    if (at_ == "constructor") misbehave(fault_);
  }
  FaultEngine(const FaultEngine&) = delete;
  FaultEngine& operator=(const FaultEngine&) = delete;
  ~FaultEngine() override {
    if (at_ == "destructor") misbehave(fault_);
  }
  [[nodiscard]] EngineInfo info() const override {
    auto info = SumEngine::info();
    if (fault_ == "threads") info.settings = {{"threads", "77"}};
    return info;
  }
  void load(const ModelSpec& model, const EngineSettings& settings) override {
    SumEngine::load(model, settings);
    if (at_ == "load") misbehave(fault_);
  }
  void bind(Slot slot, std::span<const TensorView> inputs) override {
    if (at_ == "bind") misbehave(fault_);
    if (fault_ == "first" && computed_) return;
    SumEngine::bind(slot, inputs);
    if (fault_ != "count") computed_ = false;
    if (fault_ == "view") {
      output_ = Tensor({"output", input_.dtype, input_.shape});
      std::memcpy(output_.data(), input_.data, output_.size_bytes());
    }
    if (fault_ == "constant" && weights_.size_bytes() == 0)
      weights_ = Tensor({"output", DType::kFloat32, output_.spec().shape});
  }
  void enqueue(Slot slot) override {
    if (fault_ == "view" || fault_ == "constant") return;
    if (fault_ == "memo" && recall()) return;
    if (fault_ == "count") return count();
    const bool cheats = fault_ == "repeat" || fault_ == "copy" || fault_ == "first";
    if (cheats && computed_) {
      if (fault_ == "copy") std::memcpy(output_.data(), answer_.data(), answer_.size());
      return;
    }
    SumEngine::enqueue(slot);
    computed_ = true;
    answer_.assign(output_.data(), output_.data() + output_.size_bytes());
    if (at_ == "run") misbehave(fault_);
    if (fault_ == "nan") output_.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    if (fault_ == "badshape") output_ = Tensor({"output", DType::kFloat32, {1, 4}});
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_us_));
  }
  [[nodiscard]] std::vector<DeclaredInput> file_inputs(const std::string&) override {
    if (at_ == "inputs") misbehave(fault_);
    return {};
  }
  std::span<const TensorView> synchronize(Slot slot) override {
    const auto outputs = SumEngine::synchronize(slot);
    if (fault_ == "constant") view_ = weights_.view();
    if (fault_ == "dtype") view_.dtype = static_cast<DType>(77);
    return outputs;
  }
  ReadBack read_back(Slot slot) override {
    auto read = SumEngine::read_back(slot);
    if (fault_ == "shares") read.precisions = {{"fp32", 1.5, 1}, {"bf16", 1.5, 1}};
    if (fault_ == "precision") read.precisions = {{"bf16", 1.0, 1}};
    if (fault_ == "negative") read.precisions = {{"fp32", 1.5, 1}, {"bf16", -0.5, 1}};
    if (fault_ == "flops") read.flops = -1e9;
    return read;
  }

 private:
  // A state that is fed back grows, and with it the time.
  void count() {
    SumEngine::enqueue(0);
    const std::span<float> numbers(output_.as<float>(), output_.size_bytes() / sizeof(float));
    const bool far = std::any_of(numbers.begin(), numbers.end(), [](float x) { return x > 10; });
    for (float& x : numbers) x += 1;
    const auto sleep_us = (far ? sleep_us_ : 0) + (computed_ ? 0 : first_us_);
    computed_ = true;
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
  }
  // The answer to an input with this content, where there is one already.
  bool recall() {
    const std::string content(static_cast<const char*>(input_.data), input_.size_bytes());
    auto& answer = answers_[content];
    if (!answer.empty()) {
      std::memcpy(output_.data(), answer.data(), answer.size());
      return true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_us_));
    SumEngine::enqueue(0);
    answer.assign(output_.data(), output_.data() + output_.size_bytes());
    return true;
  }
  bool computed_ = false;
  std::vector<std::byte> answer_;                          // of the last inference that was computed
  std::map<std::string, std::vector<std::byte>> answers_;  // by the content of the input
  Tensor weights_;
  long sleep_us_ = std::stol(variable("SPIN_FAULT_US", "1000"));
  long first_us_ = std::stol(variable("SPIN_FIRST_US", "0"));
  std::string fault_ = variable("SPIN_FAULT", "");
  std::string at_ = variable("SPIN_FAULT_AT", "run");
};

// A gigabyte at most: without a limit on memory nobody comes to harm.
void hoard() {
  std::vector<std::vector<char>> blocks;
  while (blocks.size() < 64) blocks.emplace_back(std::size_t{16} << 20, 'x');
  throw std::runtime_error("nobody stopped a worker that took a gigabyte");
}

void misbehave(const std::string& fault) {
  if (fault == "segv") std::raise(SIGSEGV);
  if (fault == "abort") std::abort();
  if (fault == "kill") std::raise(SIGKILL);
  if (fault == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (fault == "oom") hoard();
  if (fault == "exit") ::_exit(3);
  if (fault == "quiet_exit") ::_exit(0);
  if (fault == "rubbish") {
    const char text[] = "%%% not a record\n";
    if (::write(4, text, sizeof text - 1) < 0) std::abort();
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (fault == "escape") {
    const char text[] = "\x1b]0;owned\x07 of a library\n";
    if (::write(2, text, sizeof text - 1) < 0) std::abort();
    throw std::runtime_error("\x1b[31mred\npaceline: all is well");
  }
  if (fault == "throw") throw std::runtime_error("the engine is out of coffee");
  if (fault == "unavailable") {
    const char text[] = "libspin.so.1: cannot open shared object file\n";
    if (::write(2, text, sizeof text - 1) < 0) std::abort();
    throw Error(ErrorCode::kUnavailable, "the library is not here");
  }
  if (fault == "unsupported") throw Error(ErrorCode::kUnsupported, "this machine cannot do that");
}

std::unique_ptr<Engine> first_engine() {
  if (variable("SPIN_IS_FAULT", "0") == "1") return std::make_unique<FaultEngine>();
  return std::make_unique<SpinEngine>();
}

// Lifetime of the shared object: while it is opened, and after main.
struct Library {
  Library() {
    if (variable("SPIN_FAULT_AT", "") == "library") misbehave(variable("SPIN_FAULT", ""));
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (variable("SPIN_FAULT_AT", "") == "exit") misbehave(variable("SPIN_FAULT", ""));
  }
};
const Library kLibrary;

std::vector<std::pair<std::string, std::string>> versions() {
  if (variable("SPIN_FAULT_AT", "") == "versions") misbehave(variable("SPIN_FAULT", ""));
  std::vector<std::pair<std::string, std::string>> rows{{"spin", variable("SPIN_VERSION", "1")}};
  std::istringstream libraries(variable("SPIN_LIBRARIES", ""));
  for (std::string one; std::getline(libraries, one, ',');)
    rows.emplace_back(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
  return rows;
}

const EngineEntry kEngines[] = {
    {"spin", "waits for a known time", first_engine},
    {"fault", "misbehaves on demand", [] { return std::unique_ptr<Engine>(new FaultEngine); }},
};
// With SPIN_CUDA=1 the plug-in says that its ranks run on GPUs, too.
const std::size_t kDevices = variable("SPIN_CUDA", "0") == "1" ? 2 : 1;
// Declared here alone: the core knows nothing of them.
constexpr char kOptions[] = R"json([
  {"name": "spin.pace", "type": "choice", "choices": ["uneven", "steady", "two_states"], "default": "uneven",
   "help": "Spin: how long inferences take: from 0.8 to 1.2 of their mean, or all the same."},
  {"name": "spin.laps", "type": "integer", "min": 1, "max": 9, "unit": "laps", "identity": false,
   "help": "Spin: laps; they change nothing."},
  {"name": "spin.wake_us", "type": "integer", "min": 0, "max": 1000000,
   "help": "Spin: what an inference takes more after a pause of 5 ms."},
  {"name": "spin.wake_pages", "type": "integer", "min": 0, "max": 1000000,
   "help": "Spin: new pages that an inference writes first after a pause of 5 ms."},
  {"name": "spin.new_shape_us", "type": "integer", "min": 0, "max": 1000000,
   "help": "Spin: what the first inference of a shape takes more."}
])json";
constexpr TrainerEntry kTrainers[] = {{"cpu", test::make_spin_trainer}, {"cuda", test::make_spin_trainer}};
// Under the name that the tool asks for: tests of its own logic need no library.
constexpr BackendEntry kBackends[] = {{"gloo", test::connect_spin_store, test::join_spin_group}};
constexpr CommunicatorEntry kCommunicators[] = {{"gloo", test::make_spin_communicator},
                                                {"nccl", test::make_spin_communicator}};
constexpr ProbeEntry kProbes[] = {{"cuda", test::make_spin_probe}};
const Plugin kPlugin{kAbiVersion,
                     "spin",
                     versions,
                     kEngines,
                     {},
                     {},
                     {kTrainers, kDevices},
                     kBackends,
                     {kCommunicators, kDevices},
                     {},
                     kOptions,
                     {kProbes, kDevices - 1}};

}  // namespace

PACELINE_PLUGIN(kPlugin)
