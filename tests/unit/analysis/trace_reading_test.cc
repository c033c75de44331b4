// SPDX-License-Identifier: MIT
// Reading of one file: exact times, forgiven text, refused values, bounded memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <fstream>

#include "analysis/traces/rank_reader.h"
#include "analysis/traces/trace_bytes.h"
#include "analysis/traces/trace_file.h"
#include "analysis/traces/trace_folder.h"
#include "analysis/traces/trace_study.h"
#include "analysis/traces/trace_time.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

// An event with times as they are written into the file.
std::string raw_event(std::string_view category, const std::string& name, std::string_view begin,
                      std::string_view length, std::string_view more = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}{}}},)", category,
                     name, begin, length, more);
}

// Ten steps of 100 ms, each with an operator.
std::string ten_steps(std::string_view first_number = "0") {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const auto number = std::stoi(std::string(first_number)) + i;
    text += raw_event("user_annotation", fmt::format("ProfilerStep#{}", number),
                      std::to_string(100'000 * i + 7), "100000");
    text += raw_event("cpu_op", "aten::mm", std::to_string(100'000 * i + 7), "90000");
  }
  return text;
}

std::string file_of(std::string events, std::string_view header = "") {
  if (events.ends_with(',')) events.pop_back();
  return fmt::format(R"({{{}"traceEvents":[{}]}})", header, events);
}

class TraceReadingTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  void put(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  [[nodiscard]] TraceStudy read() const { return read_traces(folder_.path()); }
  void expect_refused(const std::vector<std::string>& words) const {
    try {
      (void)read();
      ADD_FAILURE() << "it was taken";
    } catch (const Error& e) {
      for (const auto& word : words)
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << word << "\n" << e.what();
    }
  }
  // The whole of ten steps with one event more.
  void expect_event_refused(const std::string& event, const std::vector<std::string>& words) {
    put("trace_rank0.json", file_of(ten_steps() + event));
    expect_refused(words);
  }
  ScratchFolder folder_ = ScratchFolder::below_temp("trace_reading");
};

TEST(TraceTime, IsExactToTheNanosecond) {
  EXPECT_EQ(ns_of_us("1790857026123456.789"), 1790857026123456789);
  EXPECT_EQ(ns_of_us("1790857026123456.001"), 1790857026123456001);
  EXPECT_EQ(ns_of_us("4846220236206.574"), 4846220236206574);
  EXPECT_EQ(ns_of_us("-12.5"), -12500);
  EXPECT_EQ(ns_of_us("0.0004"), 0);
  EXPECT_EQ(ns_of_us("0.0005"), 1);
  EXPECT_EQ(ns_of_us("1.5e+3"), 1500000);
  EXPECT_EQ(ns_of_us("25E-4"), 3);
  EXPECT_EQ(ns_of_us("0e999"), 0);
  EXPECT_EQ(ns_of_us("000.000"), 0);
  for (const char* none :
       {"1e18", "1e999", "NaN", "", "-", "1.2.3", "1e", "4000000000000000.1", "99999999999999999999"})
    EXPECT_EQ(ns_of_us(none), std::nullopt) << none;
}

// As a double, these two would lie 250 ns apart and not 2.
TEST_F(TraceReadingTest, TimesSinceTheEpochKeepTheirNanoseconds) {
  put("trace_rank0.json", file_of(raw_event("cpu_op", "a", "1790857026123456.001", "0.002") +
                                  raw_event("cpu_op", "b", "1790857026123456.003", "0.001")));
  const auto trace = read_trace(path("trace_rank0.json"), "t").trace;
  ASSERT_EQ(trace->events.size(), 2U);
  EXPECT_EQ(trace->events[0].begin, 1790857026123456001);
  EXPECT_EQ(trace->events[0].end, trace->events[1].begin);
}

TEST_F(TraceReadingTest, ABareListOfEventsIsATrace) {
  const auto whole = file_of(ten_steps());
  put("trace_rank0.json", whole.substr(whole.find('['), whole.size() - whole.find('[') - 1));
  EXPECT_NEAR(*read().step_ns, 100e6, 1);
}

TEST_F(TraceReadingTest, ReadsOnPastNamesThatAreNoJson) {
  const std::string windows =
      R"({"ph":"X","cat":"python_function","name":"C:\Users\me\x.py(3): \u12","ts":1,"dur":1},)";
  const std::string latin =
      "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"caf\xe9.py\",\"ts\":1,\"dur\":1},";
  put("trace_rank0.json",
      file_of(windows + latin + raw_event("cpu_op", "na\xefve", "50", "10") + ten_steps() +
              raw_event("kernel_info", "x", "1", "1", R"(,"args":{"GB/s":NaN,"b":-Infinity})")));
  const auto study = read();
  EXPECT_EQ(study.steps, 9);
}

TEST_F(TraceReadingTest, RejectsInvalidTimesNamingTheValue) {
  expect_event_refused(raw_event("cpu_op", "aten::mm", "\"123\"", "5"),
                       {"trace_rank0.json: ts of event 21 ('aten::mm') is the text \"123\"", "as numbers"});
  expect_event_refused(raw_event("cpu_op", "aten::mm", "NaN", "5"), {"ts of event 21", " is NaN: "});
  expect_event_refused(raw_event("cpu_op", "aten::mm", "5", "-Infinity"),
                       {"dur of event 21", " is -Infinity: "});
  expect_event_refused(raw_event("user_annotation", "ProfilerStep#10", "5", "1e18"),
                       {"dur of event 21 ('ProfilerStep#10') is 1e18"});
  expect_event_refused(raw_event("user_annotation", "ProfilerStep#10", "9e15", "1"),
                       {"ts of event 21", "9e15"});
}

TEST_F(TraceReadingTest, RejectsInvalidRanksNamingTheValue) {
  for (const char* rank : {"-1", "1.5", "NaN", "\"one\"", "1e3", "99999999999"}) {
    put("x.json",
        file_of(ten_steps(), fmt::format(R"("distributedInfo":{{"rank":{},"world_size":2}},)", rank)));
    std::string shown = rank;
    std::erase(shown, '"');
    expect_refused({"x.json: distributedInfo.rank is " + shown, "whole number from 0"});
  }
  put("x.json", file_of(ten_steps(), R"("distributedInfo":{"rank":0,"world_size":0},)"));
  expect_refused({"distributedInfo.world_size is 0", "from 1"});
}

TEST_F(TraceReadingTest, EventsWithoutTimesAreLeftOutAndSaid) {
  std::string events = ten_steps();
  for (int i = 10; i < 20; ++i) {
    events += raw_event("user_annotation", fmt::format("ProfilerStep#{}", i), "0", "0");
    events += raw_event("cpu_op", "aten::mm", "0.000", "0.000");
  }
  put("trace_rank0.json", file_of(events));
  const auto study = read();
  EXPECT_NEAR(*study.step_ns, 100e6, 1);
  EXPECT_NEAR(*study.ranks[0].step_ns, 100e6, 1);
  const auto text = join(study.left_out, "\n");
  EXPECT_NE(text.find("steps 10, 11, 12, 13, 14, 15, 16, 17 and 2 more (rank 0): it has no time"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("20 of 40 events of trace_rank0.json have no time"), std::string::npos) << text;
}

TEST_F(TraceReadingTest, StepsThatNeverEndedOrAllLackTimesAreSaid) {
  put("trace_rank0.json",
      file_of(ten_steps() + raw_event("user_annotation", "ProfilerStep#10", "1000007", "-1")));
  EXPECT_EQ(read().left_out.size(), 2U);
  put("trace_rank0.json", file_of(raw_event("user_annotation", "ProfilerStep#1", "0", "0")));
  expect_refused({"trace_rank0.json has no step with a time"});
}

std::string without_categories(std::string text) {
  for (std::size_t at; (at = text.find(R"("cat":")")) != std::string::npos;)
    text.erase(at, text.find(',', at) + 1 - at);
  return text;
}

// Every part of a step on the CPU.
std::string whole_steps() {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const auto add = [&](std::string_view category, const std::string& name, int begin, int length) {
      text += raw_event(category, name, std::to_string(100'000 * i + begin + 7), std::to_string(length));
    };
    add("user_annotation", fmt::format("ProfilerStep#{}", i), 0, 100'000);
    add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 10'000);
    add("cpu_op", "aten::mm", 10'000, 20'000);
    add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 30'000, 30'000);
    add("cpu_op", "c10d::allreduce_", 40'000, 1'000);
    add("user_annotation", "gloo:all_reduce", 60'000, 20'000);
    add("user_annotation", "Optimizer.step#SGD.step", 80'000, 10'000);
    add("python_function", "train.py(3): main", 0, 100'000);
  }
  return text;
}

TEST_F(TraceReadingTest, NamesSufficeForATraceOfACpuWithoutCategories) {
  put("trace_rank0.json", file_of(whole_steps()));
  const auto known = read();
  put("trace_rank0.json", without_categories(file_of(whole_steps())));
  const auto named = read();
  EXPECT_EQ(known.steps, 9);  // from the end of one exchange to the end of the next
  EXPECT_EQ(named.steps, known.steps);
  const auto shape = shape_of(known.job), same = shape_of(named.job);
  EXPECT_GT(*shape.input_wait_share, 0);
  EXPECT_GT(*shape.communication_share, 0);
  for (const auto figure : {&StepShape::step_ns, &StepShape::input_wait_share,
                            &StepShape::communication_share, &StepShape::overlap_ratio})
    EXPECT_EQ(*(same.*figure), *(shape.*figure));
  EXPECT_EQ(*named.costs.own_ns[result::OwnPart::kBackward].value,
            *known.costs.own_ns[result::OwnPart::kBackward].value);
  EXPECT_EQ(named.operators.size(), known.operators.size());
}

TEST_F(TraceReadingTest, DeviceEventsWithoutACategoryAreTheReason) {
  for (const auto* name : {"cudaLaunchKernel", "void at::native::vectorized_elementwise_kernel<4>",
                           "nccl:all_reduce", "Memcpy HtoD (Pageable -> Device)"}) {
    put("trace_rank0.json",
        without_categories(file_of(ten_steps() + raw_event("kernel", name, "100007", "10"))));
    expect_refused({"trace_rank0.json has events of a device without a category (cat)"});
  }
}

TEST_F(TraceReadingTest, RanksInOneFileAreRefused) {
  std::string other = ten_steps("100");
  for (std::size_t at = 0; (at = other.find("\"pid\":1", at)) != std::string::npos; ++at) other[at + 6] = '2';
  put("trace_rank0.json", file_of(ten_steps() + other));
  expect_refused({"trace_rank0.json has steps of 2 processes", "several ranks in one file"});
  put("trace_rank0.json", file_of(ten_steps() + ten_steps("100")));  // containers count processes from 1 each
  expect_refused({"trace_rank0.json has steps 9 and 109 at the same time", "several ranks in one file"});
}

TEST_F(TraceReadingTest, AProcessIsNoRank) {
  put("box_4242.17181.pt.trace.json", file_of(ten_steps()));
  const auto study = read();
  EXPECT_EQ(study.world, 1);
  EXPECT_EQ(study.ranks.at(0).rank, 0);
  put("box_4343.17182.pt.trace.json", file_of(ten_steps()));
  expect_refused({"neither box_4242.17181.pt.trace.json nor box_4343.17182.pt.trace.json says which rank",
                  "trace_rank0.json"});
}

TEST_F(TraceReadingTest, NumbersThatDoNotCountTheFilesAreNoRanks) {
  put("job.4242.json", file_of(ten_steps()));
  put("job.4243.json", file_of(ten_steps()));
  expect_refused({"neither job.4242.json nor job.4243.json says which rank"});
}

TEST(RankInName, IsFoundInTheUsualForms) {
  EXPECT_EQ(rank_in_name("trace_rank12.json").rank, 12);
  EXPECT_EQ(rank_in_name("rank_3.pt.trace.json.gz").rank, 3);
  EXPECT_EQ(rank_in_name("rank3/trace.json").rank, 3);
  EXPECT_EQ(rank_in_name("rank3/trace.json").number, std::nullopt);
  EXPECT_EQ(rank_in_name("node1/Rank-2/box_1.2.pt.trace.json").rank, 2);
  EXPECT_EQ(rank_in_name("trace.7.json").number, 7);
  EXPECT_EQ(rank_in_name("5/trace.json").number, 5);
  EXPECT_EQ(rank_in_name("trace.json").rank, std::nullopt);
  EXPECT_EQ(rank_in_name("box_42.171.pt.trace.json").number, std::nullopt);
}

TEST_F(TraceReadingTest, RanksMayHaveAFolderEach) {
  put("rank0/x.json",
      file_of(ten_steps() + raw_event("user_annotation", "gloo:all_reduce", "95000", "5000")));
  put("rank1/x.json",
      file_of(ten_steps() + raw_event("user_annotation", "gloo:all_reduce", "95000", "5000")));
  const auto study = read();
  ASSERT_EQ(study.ranks.size(), 2U);
  EXPECT_EQ(study.ranks[1].file, "rank1/x.json");
  put("rank1/x.json", "{\"traceEvents\":[{");
  expect_refused({"rank1/x.json ends too early"});
}

TEST_F(TraceReadingTest, ForeignFilesAreLeftOutAndSaid) {
  put("trace_rank0.json", file_of(ten_steps()));
  put("config.json", R"({"lr": 0.1})");
  put("metrics.json", "{\"step\": 1}\n{\"step\": 2}\n");
  put("list.json", "[1, 2, [3]]");
  const auto study = read();
  EXPECT_EQ(study.steps, 9);
  EXPECT_EQ(
      study.left_out,
      (std::vector<std::string>{
          "config.json is no trace: it has no traceEvents", "list.json is no trace: it has no traceEvents",
          "metrics.json is not JSON: byte 13 is not expected there; --from takes the files "
          "that export_chrome_trace writes"}));
  put("trace_rank1.json", "");  // the trace of a rank, and not foreign
  expect_refused({"trace_rank1.json ends too early, at byte 0"});
}

TEST_F(TraceReadingTest, IrregularFilesDoNotHang) {
  put("trace_rank0.json", file_of(ten_steps()));
  ASSERT_EQ(mkfifo(path("pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop.json", path("loop.json"));
  EXPECT_EQ(read().left_out,
            (std::vector<std::string>{"loop.json is no regular file", "pipe.json is no regular file"}));
  EXPECT_THROW((void)read_traces(path("pipe.json")), Error);
  EXPECT_THROW((void)read_traces(path("loop.json")), Error);
  EXPECT_THROW((void)read_traces(path(std::string(5000, 'x'))), Error);
  EXPECT_THROW((void)read_trace(path("pipe.json"), "pipe.json"), Error);
}

void pack(const std::filesystem::path& file, const std::string& head, const std::string& body, int times) {
  gzFile out = gzopen(file.c_str(), "wb1");
  gzwrite(out, head.data(), static_cast<unsigned>(head.size()));
  for (int i = 0; i < times; ++i) gzwrite(out, body.data(), static_cast<unsigned>(body.size()));
  gzclose(out);
}

TEST_F(TraceReadingTest, RejectsFilesMadeToFillMemory) {
  const std::string letters(1 << 20, 'a'), blanks(1 << 20, ' ');
  pack(path("a.json.gz"), R"({"traceEvents":[{"name":")", letters, 20);
  expect_refused({"a.json.gz has a text of more than 16.8 MB at byte "});
  pack(path("a.json.gz"), R"({"traceEvents":[)", blanks, 80);
  expect_refused({"a.json.gz unpacks to more than 200 times its size"});
  std::filesystem::remove(path("a.json.gz"));
  put("a.json", R"({"traceEvents":[)" + std::string(100'000, '['));
  expect_refused({"a.json has more than 256 objects or lists inside each other"});
}

TEST_F(TraceReadingTest, AnUnpackedTraceHasALimitOfItsOwn) {
  const std::string kib(1 << 10, ' ');
  pack(path("a.json.gz"), "", kib, 1024);
  put("b.json", std::string(1 << 20, ' '));
  for (const auto* name : {"a.json.gz", "b.json"}) {
    const auto read_with = [&](std::int64_t most) {
      TraceBytes bytes(path(name), name, most);
      while (bytes.get() != TraceBytes::kEnd) {
      }
      return bytes.position();
    };
    EXPECT_EQ(read_with(1 << 20), 1 << 20);
    EXPECT_THROW(read_with((1 << 20) - 1), Error) << name;
  }
}

TEST_F(TraceReadingTest, ATraceBeyondItsMemoryIsRefused) {
  put("a.json", file_of(ten_steps()));
  EXPECT_TRUE(read_trace(path("a.json"), "a.json", 10'000).trace);
  try {
    (void)read_trace(path("a.json"), "a.json", 1'000);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a.json needs more than the 1.00 kB of memory"), std::string::npos)
        << e.what();
  }
}

TEST_F(TraceReadingTest, ShapesSayHowLargeABatchIs) {
  const auto shaped = [](std::string_view dims) {
    return fmt::format(R"(,"args":{{"Input Dims":{}}})", dims);
  };
  put("trace_rank0.json",
      file_of(
          raw_event("user_annotation", "ProfilerStep#1", "1000", "1000") +
          raw_event("cpu_op", "aten::conv2d", "1000", "100", shaped("[[32,3,8,8],[16,3,3,3],[],[]]")) +
          raw_event("cpu_op", "aten::inner", "1010", "10", shaped("[[9999,9999]]")) +
          raw_event("cpu_op", "aten::cat", "1200", "100", shaped("[[[32,10],[32,20]],[]]")) +
          raw_event("cpu_op", "autograd::engine::evaluate_function: A", "1400", "100", shaped("[[77,77]]")) +
          raw_event("user_annotation", "ProfilerStep#2", "2000", "1000") +
          raw_event("cpu_op", "autograd::engine::evaluate_function: A", "2100", "100")));
  const auto rank = rank_trace(*read_trace(path("trace_rank0.json"), "t").trace);
  ASSERT_EQ(rank.steps.size(), 2U);
  EXPECT_EQ(rank.steps[0].batch, 32);
  EXPECT_EQ(rank.steps[0].input_elements, 32 * 3 * 64 + 16 * 27 + 320 + 640);
  EXPECT_EQ(rank.steps[1].batch, std::nullopt);
}

TEST_F(TraceReadingTest, DdpAndFsdpEndTheBackwardPass) {
  const auto* const wait = "FSDP::root_post_backward_callback";
  const auto* const copy = "torch.distributed.ddp.reducer::copy_bucket_to_grad";
  for (const auto& [category, name] : {std::pair{"cpu_op", copy}, {"user_annotation", wait}}) {
    put("trace_rank0.json",
        file_of(raw_event("user_annotation", "ProfilerStep#1", "1000", "1000") +
                raw_event("cpu_op", "aten::conv2d", "1000", "300") +
                raw_event("cpu_op", "autograd::engine::evaluate_function: A", "1300", "300") +
                raw_event("user_annotation", "gloo:all_reduce", "1600", "100") +
                raw_event("cpu_op", "aten::as_strided", "1750", "5") +
                raw_event(category, name, "1760", "10") +
                raw_event("user_annotation", "Optimizer.step#SGD.step", "1800", "100")));
    const auto rank = rank_trace(*read_trace(path("trace_rank0.json"), "t").trace);
    ASSERT_EQ(rank.steps.size(), 1U);
    EXPECT_EQ(rank.steps[0].exposed, 100'000);
    EXPECT_EQ(rank.steps[0].backward, 370'000);  // 300, and 70 from the end of the exchange on
  }
}

}  // namespace
}  // namespace paceline::analysis::traces
