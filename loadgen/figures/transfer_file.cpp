#include "loadgen/figures/transfer_file.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

constexpr std::string_view kTransfersHeader =
    "round,thread,name,bytes,start_unix_s,started_s,asked_s,opened_s,first_byte_s,last_byte_s,"
    "failure,sent_s,cpu_us\n";

// When the connection for the file was there; 0 if it was there before the request.
std::int64_t opened_ns(const Exchange& exchange) {
  return exchange.data_connected_ns != 0 ? exchange.data_connected_ns : exchange.connected_ns;
}

}  // namespace

base::Result<std::unique_ptr<TransferFile>> TransferFile::open(const std::string& path) {
  if (path.empty()) return std::unique_ptr<TransferFile>();
  auto file = LineFile::open("--transfers", path);
  if (!file) return file.error();
  return std::unique_ptr<TransferFile>(new TransferFile(std::move(*file)));
}

bool TransferFile::begin(std::int64_t start_ns, double start_unix_s) {
  start_ns_ = start_ns;
  start_unix_ = fmt::format("{:.6f}", start_unix_s);
  return write(kTransfersHeader);
}

bool TransferFile::write(std::string_view lines) {
  const base::Lock lock(mutex_);
  return file_.write(lines);
}

base::Status TransferFile::finish() {
  const base::Lock lock(mutex_);
  return file_.finish();
}

bool TransferLines::add(std::string_view name, const Exchange& exchange) {
  if (file_ == nullptr) return true;
  const bool has_failed = exchange.failure.has_value();
  fmt::format_to(std::back_inserter(lines_), "{},{},{},{},{}", ++round_, thread_, csv_field(name),
                 exchange.moved_bytes, file_->start_unix());
  add_time(exchange.started_ns);
  add_time(exchange.asked_ns);
  add_time(opened_ns(exchange));
  add_time(has_failed ? 0 : exchange.first_byte_ns);
  add_time(has_failed ? exchange.ended_ns : exchange.file_end_ns);
  lines_ += ',';
  if (has_failed) lines_ += Cause::word_of(exchange.failure->index());
  add_time(exchange.sent_ns);
  lines_ += ',';
  if (exchange.cpu_ns)
    fmt::format_to(std::back_inserter(lines_), "{:.3f}",
                   ms_of(static_cast<double>(*exchange.cpu_ns)) * 1000);
  lines_ += '\n';
  return lines_.size() < kKeptBytes || flush();
}

bool TransferLines::flush() {
  if (file_ == nullptr) return true;
  const bool is_written = file_->write(lines_);
  lines_.clear();
  return is_written;
}

// A moment that did not come has an empty field.
void TransferLines::add_time(std::int64_t moment_ns) {
  lines_ += ',';
  if (moment_ns == 0) return;
  const std::int64_t since_ns = moment_ns - file_->start_ns();
  fmt::format_to(std::back_inserter(lines_), "{:.6f}", seconds_of(static_cast<double>(since_ns)));
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char byte : text) {
    if (byte == '"') field += '"';
    field += byte;
  }
  return field + '"';
}

}  // namespace loadgen
