// The record of each transfer, for --transfers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/line_file.h"

namespace loadgen {

// The file: CSV with a header, a line for each transfer.
class TransferFile {
 public:
  // See LineFile::open(). With an empty path, the result is null.
  static base::Result<std::unique_ptr<TransferFile>> open(const std::string& path);

  // Writes the header. The times of all lines are since `start_ns`, a time of base::now_ns(), which
  // was `start_unix_s` on the wall clock. Returns as write(). Called once, before any thread
  // writes.
  bool begin(std::int64_t start_ns, double start_unix_s) EXCLUDES(mutex_);

  // Appends whole lines. Returns whether all lines so far could be written. Any thread.
  bool write(std::string_view lines) EXCLUDES(mutex_);

  // Closes the file. Fails if a line could not be written. Requires: no thread writes any more.
  base::Status finish() EXCLUDES(mutex_);

  // See begin(). Constant once the threads run.
  std::int64_t start_ns() const { return start_ns_; }
  const std::string& start_unix() const { return start_unix_; }

 private:
  explicit TransferFile(LineFile file) : file_(std::move(file)) {}

  std::int64_t start_ns_ = 0;
  std::string start_unix_;  // in seconds, with six digits behind the point

  base::Mutex mutex_;
  LineFile file_ GUARDED_BY(mutex_);
};

// The lines of one thread. They are kept until they fill kKeptBytes, so that most transfers cost no
// system call.
class TransferLines {
 public:
  static constexpr std::size_t kKeptBytes = 4096;

  // `file` must outlive it, or is null; then nothing is recorded. `thread` counts from 0.
  TransferLines(TransferFile* file, int thread) : file_(file), thread_(thread) {}

  // Adds a transfer. Returns false if it or an earlier one of any thread could not be written.
  bool add(std::string_view name, const Exchange& exchange);

  // Writes what is kept. Returns as add().
  bool flush();

 private:
  void add_time(std::int64_t moment_ns);

  TransferFile* const file_;
  const int thread_;
  std::int64_t round_ = 0;  // of the last transfer, counted from 1
  std::string lines_;
};

// `text` as a field of CSV: in quotes if it has a comma, a quote or a line ending (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace loadgen
