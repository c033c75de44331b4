// SPDX-License-Identifier: MIT
#include "workload/worker_main.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/process_limit.h"
#include "base/reading.h"
#include "cluster/peer_failure.h"
#include "host/machine/memory_budget.h"
#include "result/judged/reasons.h"
#include "workload/inference/instances.h"
#include "workload/run_pass.h"

namespace paceline::workload {
namespace {

// Set by SIGTERM or SIGHUP, which end a worker at once unless it has something to save.
std::atomic<bool> asked_to_end{false};
static_assert(std::atomic<bool>::is_always_lock_free);

std::string read_all(int fd) {
  std::string content;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::kInternal, "cannot read the pass");
    content.append(buffer, static_cast<std::size_t>(n));
  }
  return content;
}

// Runs the pass and reports whatever it throws as a record.
int run_and_report(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt) {
  try {
    run_pass(spec, sink, interrupt);
    sink.emit(pass::done_record());
    return 0;
  } catch (const InstanceDied& e) {
    sink.emit(pass::failed_record(e.verdict().code, e.verdict().reason));
  } catch (const cluster::PeerFailure& e) {
    sink.emit(pass::failed_record("peer", e.what()));
  } catch (const host::OutOfMemory& e) {
    sink.emit(pass::failed_record("oom", e.what()));
  } catch (const Error& e) {
    if (process::lacks_room(e.what()))
      sink.emit(pass::failed_record(
          "oom", fmt::format("out of memory: {}{}", e.what(), process::address_limit_words())));
    else if (lacks_processes(e.what()))
      sink.emit(
          pass::failed_record("error", fmt::format("{} ({})", process_limit_words(), on_one_line(e.what()))));
    else
      sink.emit(pass::failed_record(std::string(result::reason_code_of(e.code())), e.what()));
  } catch (const std::bad_alloc&) {
    sink.emit(pass::failed_record(
        "oom", "out of memory: an allocation was refused; use smaller batches or messages" +
                   process::address_limit_words()));
  } catch (const std::filesystem::filesystem_error& e) {
    sink.emit(pass::failed_record(std::string(result::reason_code_of(ErrorCode::kIo)), io_error(e).what()));
  } catch (const std::exception& e) {
    sink.emit(pass::failed_record("error", plain_reason(e)));
  }
  return 1;
}

// Passes records straight to a reader.
class DirectSink : public pass::RecordSink {
 public:
  explicit DirectSink(process::RecordReader& reader) : reader_(reader) {}
  void emit(const nlohmann::json& record) override { reader_.add(record.dump() + "\n"); }

 private:
  process::RecordReader& reader_;
};

}  // namespace

process::WorkerOutcome run_in_process(const process::WorkerRequest& request,
                                      const std::atomic<bool>& interrupt,
                                      const process::OnProgress& on_progress) {
  process::RecordReader reader(request.record_file, on_progress, request.spec.case_id);
  for (const auto& [name, value] : process::worker_environment(request))
    ::setenv(name.c_str(), value.c_str(), 1);
  DirectSink sink(reader);
  run_and_report(request.spec, sink, interrupt);
  std::optional<process::Verdict> verdict;
  if (interrupt)
    verdict = {"interrupted", "interrupted"};
  else if (!reader.report().done)
    verdict = {reader.report().error_code, reader.report().error};
  return process::worker_outcome(reader, reader.report(), verdict);
}

int worker_main(int spec_fd, int record_fd) {
  const auto spec = pass::pass_from_json(parsed_json(read_all(spec_fd)));
  pass::PipeSink sink(record_fd);
  const auto behaviour = pass::traits_of(spec.kind).on_termination;
  for (const int signal : {SIGTERM, SIGHUP}) {
    if (behaviour == pass::OnTermination::kReportsSteps)
      std::signal(signal, [](int) { asked_to_end = true; });
    if (behaviour == pass::OnTermination::kStays) std::signal(signal, SIG_IGN);
  }
  return run_and_report(spec, sink, asked_to_end);
}

}  // namespace paceline::workload
