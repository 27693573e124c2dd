#include "fileserver/transfers/transfer_log.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/log.h"

namespace fileserver {

namespace {

constexpr std::size_t kBatchBytes = 64 * 1024;  // of lines that are written with one call
constexpr int kLookEveryMs = 100;               // so requests need not wake the thread
constexpr int kReportLostEveryMs = 10'000;
constexpr int kFinishMs = 1'000;

// What a time of base::now_ns() lacks to be one since 1970. It changes when the clock is set.
std::int64_t clock_offset_ns() {
  return static_cast<std::int64_t>(base::unix_time_s() * 1e9) - base::now_ns();
}

}  // namespace

base::Result<std::unique_ptr<TransferLog>> TransferLog::open(const TransferLogOptions& options,
                                                             const std::string& served_folder) {
  TransferFile file(options.path, served_folder);
  if (const auto opened = file.open(); !opened) return opened.error();
  net::Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.is_open())
    return base::errno_error(base::ErrorCode::kInternal, "start the transfer log", errno);
  return std::unique_ptr<TransferLog>(new TransferLog(options, std::move(file), std::move(wake)));
}

TransferLog::TransferLog(const TransferLogOptions& options, TransferFile file, net::Fd wake)
    : users_(options.has_users ? LogUsers::kOn : LogUsers::kOff),
      queue_(static_cast<std::size_t>(options.queue_lines)),
      wake_(std::move(wake)),
      file_(std::move(file)) {
  lines_.reserve(kBatchBytes + kMaxTransferLineBytes);
  thread_ = std::thread([this] { run(); });
}

void TransferLog::add(const Transfer& transfer) {
  switch (queue_.push(transfer)) {
    case TransferQueue::Pushed::kYes: break;
    case TransferQueue::Pushed::kYesAndQuarter: ::eventfd_write(wake_.get(), 1); break;
    case TransferQueue::Pushed::kFull: lost_.fetch_add(1, std::memory_order_relaxed); break;
  }
}

void TransferLog::open_again() {
  must_open_again_ = true;
  ::eventfd_write(wake_.get(), 1);
}

void TransferLog::finish() {
  if (!thread_.joinable()) return;
  is_finishing_ = true;
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

// Looks what there is to do after each batch, because transfers may come as fast as they are
// written.
void TransferLog::run() {
  for (bool is_more = false; !is_finishing_;) {
    wait(is_more ? 0 : kLookEveryMs);
    is_more = write_batch();
    reopen_if_due();
    report_lost(false);
  }
  const auto deadline = base::Deadline::in_ms(kFinishMs);
  while ((write_batch() || !lines_.empty()) && !deadline.has_passed()) {
    if (!lines_.empty()) base::pause_ms(kLookEveryMs / 10);
  }
  report_lost(true);
}

void TransferLog::wait(int for_ms) {
  pollfd event{wake_.get(), POLLIN, 0};
  ::poll(&event, 1, for_ms);
  eventfd_t ignored = 0;
  ::eventfd_read(wake_.get(), &ignored);
  if (must_open_again_.exchange(false)) is_reopening_ = true;
}

// Returns false if the queue was empty, or if the file takes no more.
bool TransferLog::write_batch() {
  collect();
  if (lines_.empty()) return false;
  const auto rest = std::string_view(lines_).substr(written_);
  const std::size_t now = file_.append(rest);
  const int errno_value = now < rest.size() ? errno : 0;
  written_ += now;
  const std::size_t whole = written_ == 0 ? 0 : lines_.rfind('\n', written_ - 1) + 1;
  lines_.erase(0, whole);
  written_ -= whole;
  note_failure(errno_value);
  return errno_value == 0;
}

// Takes transfers from the queue until there is a batch.
void TransferLog::collect() {
  const std::int64_t offset_ns = clock_offset_ns();
  for (bool is_more = true; is_more && lines_.size() < kBatchBytes;) {
    const std::size_t size_before = lines_.size();
    try {
      is_more = queue_.take_one(
          [&](const Transfer& transfer) { append_line_of(transfer, offset_ns, users_, lines_); });
    } catch (const std::exception&) {  // out of memory
      lines_.resize(size_before);
      lost_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

// What was collected before the signal goes to the old file, unless that takes no more.
void TransferLog::reopen_if_due() {
  if (!is_reopening_) return;
  const auto opened = file_.open();
  if (opened) {
    written_ = 0;  // a line that was cut off comes whole in the new file
    base::log::info("the transfer log was opened again");
  } else if (!has_reopening_failed_) {
    base::log::error("the transfer log goes on in its old file, retrying reason={}",
                     base::log::quoted_long(opened.error().context));
  }
  is_reopening_ = has_reopening_failed_ = !opened;
}

// A reader of a FIFO that is slow for a moment is no failure.
void TransferLog::note_failure(int errno_value) {
  if (errno_value == EAGAIN || (errno_value != 0) == has_failed_) return;
  has_failed_ = errno_value != 0;
  if (has_failed_) {
    base::log::error("the transfer log cannot be written, retrying reason=\"{}\"",
                     std::generic_category().message(errno_value));
  } else {
    base::log::info("the transfer log can be written again");
  }
}

void TransferLog::report_lost(bool is_last) {
  if (is_last) {  // what is still not written never will be
    while (!lines_.empty() || queue_.take_one([](const Transfer&) {})) {
      const auto lines = std::count(lines_.begin(), lines_.end(), '\n');
      lost_.fetch_add(lines_.empty() ? 1 : static_cast<std::uint64_t>(lines));
      lines_.clear();
    }
  }
  const std::uint64_t lost = lost_.load(std::memory_order_relaxed);
  if (lost == reported_ || (!is_last && !report_again_at_.has_passed())) return;
  base::log::warn("the transfer log could not be written in time, lines were lost lines={}",
                  lost - reported_);
  reported_ = lost;
  report_again_at_ = base::Deadline::in_ms(kReportLostEveryMs);
}

}  // namespace fileserver
