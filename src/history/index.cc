// SPDX-License-Identifier: MIT
#include "history/index.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>

#include "base/ask_until.h"
#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/file.h"
#include "base/text.h"

namespace paceline::history {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kSchema = 3;  // raise it with every change of tables, identity_key or machine
constexpr std::string_view kTables = R"(
DROP TABLE IF EXISTS figures; DROP TABLE IF EXISTS cases; DROP TABLE IF EXISTS runs;
CREATE TABLE runs (run_id TEXT PRIMARY KEY, folder TEXT NOT NULL, stamp TEXT NOT NULL, experiment TEXT, started_utc TEXT,
  machine TEXT, machine_words TEXT, system TEXT, version TEXT, git_sha TEXT, source_commit TEXT, outcome TEXT, note TEXT, gone INTEGER NOT NULL);
CREATE TABLE cases (case_no INTEGER PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  key TEXT NOT NULL, case_id TEXT, label TEXT, model TEXT, engine TEXT, outcome TEXT, grade TEXT);
CREATE TABLE figures (case_no INTEGER NOT NULL REFERENCES cases ON DELETE CASCADE, metric TEXT NOT NULL,
  value REAL NOT NULL, ci_low REAL, ci_high REAL, PRIMARY KEY (case_no, metric)) WITHOUT ROWID;
CREATE INDEX cases_of_key ON cases (key);
CREATE INDEX cases_of_run ON cases (run_id);
)";
constexpr double kLockSeconds = 20;

FileDescriptor lock_index(const fs::path& results) {
  auto lock = open_own_file(results / ".paceline.lock", O_RDWR);
  const Pauses pauses{std::chrono::milliseconds(1), std::chrono::milliseconds(20)};
  if (!ask_until(deadline_in(kLockSeconds), pauses,
                 [&] { return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0; }))
    throw Error(ErrorCode::kIo, fmt::format("another paceline has used {} for {} s; wait for it to end",
                                            shown_path((results / kIndexFile).string()), kLockSeconds));
  return lock;
}

// Changes with every new summary; empty where there is none.
std::string stamp_of(const fs::path& folder) {
  struct stat info {};
  if (::stat((folder / result::kSummaryFile).c_str(), &info) != 0) return {};
  return fmt::format("{}.{}.{}", info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size);
}

fs::path checked_results(const fs::path& results) {
  std::error_code error;
  auto found = fs::canonical(results, error);
  if (error || !fs::is_directory(found, error))
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: no such folder of runs; name the --output-dir of your runs",
                            shown_path(results.string())));
  return found;
}

// Names of the marks that lead to a run.
std::vector<std::string> names_of_run(const std::map<std::string, std::string>& marks,
                                      const std::string& run_id) {
  std::vector<std::string> names;
  for (const auto& [name, id] : marks)
    if (id == run_id) names.push_back(name);
  return names;
}

std::map<std::string, std::string> facts_in(const std::string& text) {
  const auto json = json_or_discarded(text);
  std::map<std::string, std::string> facts;
  if (json.is_object())
    for (const auto& [name, fact] : json.items())
      if (fact.is_string()) facts[name] = fact.get<std::string>();
  return facts;
}

// Throws Damaged for a row that leads nowhere.
template <class Places, class Key>
auto place_in(const Places& places, const Key& key) {
  const auto found = places.find(key);
  if (found == places.end()) throw Damaged(ErrorCode::kData, "a row belongs to nothing");
  return found->second;
}

// Throws Damaged for a page that cannot be right.
void check_database(const Database& database) {
  auto answer = database.ask("PRAGMA quick_check(1)");
  if (answer.step() && answer.text(0) != "ok") throw Damaged(ErrorCode::kData, answer.text(0));
}

// The write-ahead log belongs to the damaged file: beside a new one it would be replayed into that.
void set_index_aside(const fs::path& results) {
  std::error_code error;
  const auto file = results / kIndexFile;
  auto aside = fs::path(file.string() + ".damaged");
  for (int n = 2; fs::exists(aside, error); ++n) aside = fmt::format("{}.damaged{}", file.string(), n);
  fs::rename(file, aside, error);
  if (error)
    throw Error(ErrorCode::kIo,
                fmt::format("cannot rename {}: {}", shown_path(file.string()), error.message()));
  for (const char* ending : {"-wal", "-shm", "-journal"}) fs::remove(file.string() + ending, error);
}

// Whether this process has set it aside: another one may have been first.
bool set_aside_if_damaged(const fs::path& results) {
  const auto lock = lock_index(results);
  try {
    check_database(Database(results / kIndexFile));
    return false;
  } catch (const Damaged&) {
    set_index_aside(results);
    return true;
  }
}

}  // namespace

Index::Index(const fs::path& results)
    : results_(checked_results(results)), writable_(::access(results_.c_str(), W_OK) == 0) {
  if (writable_) {
    check_own_name(results_ / kIndexFile);
    lock_ = lock_index(results_);
  }
  database_.emplace(writable_ ? results_ / kIndexFile : fs::path());
  auto version = database_->ask("PRAGMA user_version");
  version.step();
  const bool current = version.integer(0) == kSchema;
  version.run();
  if (!current) make_tables();
  marks_ = read_marks(results_);
}

void Index::make_tables() const {
  Transaction transaction(*database_);
  database_->run(kTables);
  database_->run(fmt::format("PRAGMA user_version = {}", kSchema));
  transaction.commit();
}

std::string Index::stored_folder(const std::string& folder) const {
  const auto relative = fs::path(folder).lexically_relative(results_);
  return relative.empty() || *relative.begin() == ".." ? folder : relative.string();
}

fs::path Index::folder_of(const std::string& stored) const {
  return results_ / stored;  // an absolute one stays what it is
}

void Index::insert(const RunEntry& run) const {
  database_->ask("DELETE FROM runs WHERE run_id = ?").bind(run.run_id).run();
  database_->ask("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)")
      .bind(run.run_id)
      .bind(stored_folder(run.folder))
      .bind(stamp_of(run.folder))
      .bind(run.experiment)
      .bind(run.started_utc)
      .bind(run.machine)
      .bind(run.machine_words)
      .bind(nlohmann::json(run.system).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .bind(run.version)
      .bind(run.git_sha)
      .bind(run.commit)
      .bind(run.outcome)
      .bind(run.note)
      .run();
  auto add_case = database_->ask("INSERT INTO cases VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)");
  auto add_figure = database_->ask("INSERT INTO figures VALUES (?, ?, ?, ?, ?)");
  for (const auto& one : run.cases) {
    add_case.bind(run.run_id).bind(one.key).bind(one.case_id).bind(one.label);
    add_case.bind(one.model).bind(one.engine).bind(one.outcome).bind(one.grade).run();
    const auto case_no = database_->newest_row();
    for (const auto& figure : one.figures) {
      add_figure.bind(case_no).bind(figure.metric).bind(std::optional(figure.value));
      add_figure.bind(figure.low).bind(figure.high).run();
    }
  }
}

void Index::add(const RunEntry& run) {
  Transaction transaction(*database_);
  insert(run);
  transaction.commit();
}

Updated Index::update() {
  check_database(*database_);
  std::map<std::string, std::pair<std::string, std::string>> known;  // folder -> run, stamp
  for (auto row = database_->ask("SELECT folder, run_id, stamp FROM runs"); row.step();)
    known[folder_of(row.text(0)).string()] = {row.text(1), row.text(2)};
  auto folders = run_folders(results_);
  for (const auto& one : marks_.imported) folders.emplace_back(one);
  Updated done;
  for (const auto& folder : folders) {
    const auto entry = known.find(folder.string());
    const auto stamp = stamp_of(folder);
    if (stamp.empty() || (entry != known.end() && entry->second.second == stamp)) continue;
    try {
      const auto run = entry_of(result::read_run(folder));
      const auto twin =
          std::ranges::find(known, run.run_id, [](const auto& one) { return one.second.first; });
      if (twin != known.end() && twin->first != run.folder && !stamp_of(twin->first).empty()) continue;
      add(run);
      known[folder.string()] = {run.run_id, stamp};
      ++done.added;
    } catch (const Damaged&) {
      throw;
    } catch (const Error& e) {
      done.unreadable.emplace_back(e.what());
    }
  }
  for (const auto& [folder, run] : known)
    if (!run.second.empty() && stamp_of(folder).empty()) mark_gone(run.first), ++done.gone;
  return done;
}

Updated Index::rebuild() {
  make_tables();
  return update();
}

void Index::mark_gone(const std::string& run_id) {
  database_->ask("UPDATE runs SET gone = 1, stamp = '' WHERE run_id = ?").bind(run_id).run();
}

void Index::set_marks(Marks marks) {
  if (!writable_)
    throw Error(ErrorCode::kIo,
                fmt::format("{}: the folder is not writable, and tags and notes are kept in it",
                            shown_path(results_.string())));
  write_marks(results_, marks);
  marks_ = std::move(marks);
}

std::vector<Indexed> Index::runs_without_cases() const {
  std::vector<Indexed> runs;
  auto row = database_->ask(
      "SELECT run_id, folder, experiment, started_utc, machine, machine_words, system, version, git_sha, "
      "source_commit, outcome, note, gone FROM runs ORDER BY started_utc DESC, run_id DESC");
  while (row.step()) {
    const auto run_id = row.text(0), folder = row.text(1);
    const auto note = marks_.notes.find(run_id);
    runs.push_back({{run_id,
                     folder_of(folder).string(),
                     row.text(2),
                     row.text(3),
                     row.text(4),
                     row.text(5),
                     facts_in(row.text(6)),
                     row.text(7),
                     row.text(8),
                     row.text(9),
                     row.text(10),
                     note == marks_.notes.end() ? row.text(11) : note->second,
                     {}},
                    row.integer(12) != 0,
                    fs::path(folder).is_absolute(),
                    names_of_run(marks_.tags, run_id),
                    names_of_run(marks_.pins, run_id)});
  }
  return runs;
}

std::vector<Indexed> Index::runs(std::span<const std::string> metrics) const {
  auto runs = runs_without_cases();
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places[runs[i].run.run_id] = i;
  std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> cases;  // number -> run, place in it
  auto row = database_->ask(
      "SELECT run_id, case_no, key, case_id, label, model, engine, outcome, grade FROM cases ORDER BY "
      "case_no");
  while (row.step()) {
    const auto place = place_in(places, row.text(0));
    auto& of_run = runs[place].run.cases;
    cases[row.integer(1)] = {place, of_run.size()};
    of_run.push_back(
        {row.text(2), row.text(3), row.text(4), row.text(5), row.text(6), row.text(7), row.text(8), {}});
  }
  auto figures =
      database_->ask("SELECT case_no, metric, value, ci_low, ci_high FROM figures" +
                     (metrics.empty() ? ""
                                      : " WHERE metric IN (" +
                                            join(std::vector<std::string>(metrics.size(), "?"), ", ") + ")"));
  for (const auto& metric : metrics) figures.bind(metric);
  while (figures.step()) {
    const auto [run, nth] = place_in(cases, figures.integer(0));
    runs[run].run.cases[nth].figures.push_back(
        {figures.text(1), *figures.number(2), figures.number(3), figures.number(4)});
  }
  return runs;
}

std::vector<Earlier> Index::earlier(const std::string& key, const std::string& metric, const RunEntry& run,
                                    std::int64_t most) const {
  auto rows = database_->ask(
      "SELECT run_id, folder, value FROM figures JOIN cases USING (case_no) JOIN runs USING (run_id) "
      "WHERE key = ? AND metric = ? AND machine = ? AND run_id <> ? AND started_utc <= ? "
      "ORDER BY started_utc DESC, run_id DESC LIMIT ?");
  rows.bind(key).bind(metric).bind(run.machine).bind(run.run_id).bind(run.started_utc).bind(most);
  std::vector<Earlier> found;
  while (rows.step()) found.push_back({rows.text(0), folder_of(rows.text(1)).string(), *rows.number(2)});
  return found;
}

void with_index(const fs::path& results, const Warn& warn, const std::function<void(Index&)>& use) {
  std::string damage;
  try {
    Index index(results);
    return use(index);
  } catch (const Damaged& e) {
    damage = e.what();
  }
  if (set_aside_if_damaged(checked_results(results)))
    warn(fmt::format("{} is damaged ({}); it was renamed, and is made again from the run folders",
                     shown_path((results / kIndexFile).string()), damage));
  Index index(results);
  index.update();
  use(index);
}

std::vector<fs::path> run_folders(const fs::path& below, int depth) {
  std::error_code error;
  if (fs::exists(below / result::kSummaryFile, error)) return {below};
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator it(below, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_directory(unknown) && fs::exists(it->path() / result::kSummaryFile, unknown)) {
      found.push_back(it->path());
      it.disable_recursion_pending();
    } else if (it.depth() >= depth) {
      it.disable_recursion_pending();
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace paceline::history
