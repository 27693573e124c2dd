#include "loadgen/clients/channels/transfer.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace loadgen {

namespace {

// So long one channel alone waits for what the server says of the file.
constexpr std::int64_t kPatienceNs = base::kNsPerS;

}  // namespace

Transfer::Transfer(const Config& config, int thread, ThreadSeries* series)
    : config_(config), series_(series), output_(config, thread) {}

void Transfer::begin(const Request& request, Exchange& exchange) {
  request_ = &request;
  exchange_ = &exchange;
  stage_ = Stage::kUnknown;
  look_due_ns_ = 0;
  compared_ns_ = 0;
  parts_.reset();
}

bool Transfer::take_look() {
  const std::int64_t now_ns = base::now_ns();
  if (now_ns < look_due_ns()) return false;
  look_due_ns_ = now_ns + kPatienceNs;
  return true;
}

void Transfer::learn(std::uint64_t size_bytes, std::string_view version, bool is_check) {
  if (stage_ == Stage::kUnknown) return know(size_bytes, version);
  if (size_bytes != size_bytes_ || version != version_)
    return fail(Fault::kChanged, "the file was replaced while it came");
  if (is_checking() && is_check) stage_ = Stage::kOver;
}

// A file of which nothing is missing was looked at just now.
void Transfer::know(std::uint64_t size_bytes, std::string_view version) {
  size_bytes_ = size_bytes;
  version_ = version;
  const std::int64_t before_ns = base::now_ns();
  const PartialFile::Left left = output_.begin({request_->file_name, size_bytes, version_});
  compared_ns_ = base::now_ns() - before_ns;
  if (output_.failure()) return fail(Fault::kUnfinished, *output_.failure());
  tally_.resumed_bytes += left.kept_bytes;
  if (left.dropped_bytes > 0) ++tally_.begun_again;
  exchange_->announced_bytes = size_bytes - left.kept_bytes;

  const ReorderPool::File file{.from = left.kept_bytes, .size = size_bytes};
  const PartSizes sizes{part_bytes_of(config_.channels, config_.protocol, size_bytes),
                        static_cast<std::size_t>(config_.channels.pool_bytes)};
  parts_ = config_.channels.write == Write::kInPlace ? make_parts_in_place(file, sizes, output_)
                                                     : make_parts_in_order(file, sizes, output_);
  stage_ = parts_->is_over() ? Stage::kOver : Stage::kComing;
}

std::optional<FilePart> Transfer::take() {
  return stage_ == Stage::kComing ? parts_->take() : std::nullopt;
}

void Transfer::filled(const FilePart& part, std::size_t bytes) {
  if (exchange_->first_byte_ns == 0) exchange_->first_byte_ns = base::now_ns();
  exchange_->moved_bytes += bytes;
  if (series_ != nullptr) series_->move(bytes);
  parts_->filled(part, bytes);
  if (output_.failure()) return fail(Fault::kUnfinished, *output_.failure());
  if (!parts_->is_over()) return;
  exchange_->data_ended_ns = base::now_ns();
  look_due_ns_ = 0;
  stage_ = can_change_unseen() ? Stage::kChecking : Stage::kOver;
}

void Transfer::fail(Cause cause, std::string why) {
  if (has_ended()) return;
  exchange_->failure = cause;
  exchange_->why = std::move(why);
}

void Transfer::end(std::uint64_t used) {
  if (!exchange_->failure && !output_.finish()) exchange_->failure = Fault::kMismatch;
  if (exchange_->failure == Cause(Fault::kChanged) && can_change_unseen()) output_.forget();
  output_.leave();
  if (parts_) {
    const std::uint64_t waited = parts_->most_waiting_bytes();
    tally_.reorder_bytes_max = std::max(tally_.reorder_bytes_max, waited);
  }
  tally_.used = std::max(tally_.used, used);
  parts_.reset();
}

}  // namespace loadgen
