// The log of all transfers (--transfer-log): one line of JSON for each, written by a thread of its
// own. docs/transfer-log.md describes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "fileserver/transfers/transfer_file.h"
#include "fileserver/transfers/transfer_line.h"
#include "fileserver/transfers/transfer_queue.h"
#include "net/fd.h"

namespace fileserver {

// The server appends to the file at `path`, and makes it when it is missing, at start and after
// each SIGHUP. It reads the end of it, too.
struct TransferLogOptions {
  std::string path;          // empty: there is no log
  int queue_lines = 16'384;  // that may wait to be written
  bool has_users = false;    // lines have the user, and refusals have lines
};

// A request only pushes its transfer into a queue. When the queue is full, the transfer is counted
// and forgotten, and the server's log says how many were lost. Requests never wait.
class TransferLog {
 public:
  // Opens the file and starts the thread. `served_folder` is a path that leads to the served
  // folder. Errors: kInternal if the file cannot be opened, or its disk is full.
  static base::Result<std::unique_ptr<TransferLog>> open(const TransferLogOptions& options,
                                                         const std::string& served_folder);

  // As finish().
  ~TransferLog() { finish(); }

  // Whether lines have the user, and refusals have lines. Any thread.
  bool has_users() const { return users_ == LogUsers::kOn; }

  // Any thread; never waits.
  void add(const Transfer& transfer);

  // Any thread. What was added before goes to the old file, and the rest to the one that has its
  // name by then. If that cannot be opened, it is tried again until it can.
  void open_again();

  // Writes what waits in the queue, for at most a second, and ends the thread. Threads: one.
  void finish();

 private:
  TransferLog(const TransferLogOptions& options, TransferFile file, net::Fd wake);

  void run();
  void wait(int for_ms);
  bool write_batch();
  void collect();
  void reopen_if_due();
  void note_failure(int errno_value);
  void report_lost(bool is_last);

  const LogUsers users_;
  TransferQueue queue_;
  std::atomic<std::uint64_t> lost_ = 0;  // relaxed: only counted
  std::atomic<bool> is_finishing_ = false;
  std::atomic<bool> must_open_again_ = false;
  const net::Fd wake_;  // an eventfd: the queue fills up, or the thread has something else to do

  // Of the thread.
  TransferFile file_;
  std::string lines_;           // taken from the queue; begins with a whole line
  std::size_t written_ = 0;     // of the first line
  std::uint64_t reported_ = 0;  // of lost_
  base::Deadline report_again_at_ = base::Deadline::in_ms(0);
  bool is_reopening_ = false;
  bool has_reopening_failed_ = false;
  bool has_failed_ = false;

  std::thread thread_;
};

}  // namespace fileserver
