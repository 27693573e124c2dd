// One file that comes by several channels, as they see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loadgen/clients/channels/output.h"
#include "loadgen/clients/channels/parts.h"
#include "loadgen/clients/request.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/channels.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/thread_series.h"

namespace loadgen {

// First one channel looks at the file: how large it is, and which version. Then all take parts of
// it. HTTP asks for each part of just this version. FTP cannot, so each new connection looks too,
// and one looks again when all parts have come. A file that was replaced meanwhile fails with
// Fault::kChanged. So bytes of two versions are never taken for a file.
//
// It knows nothing of connections. One thread.
class Transfer {
 public:
  // `config` must outlive it, and `series`, which may be null. `thread` as for PartialFile.
  Transfer(const Config& config, int thread, ThreadSeries* series);

  // Begins a file. Both must stay valid until the next call.
  void begin(const Request& request, Exchange& exchange);

  const Request& request() const { return *request_; }
  Exchange& exchange() { return *exchange_; }

  // Whether nothing more has to be done for the file: it has come, or failed.
  bool has_ended() const { return stage_ == Stage::kOver || exchange_->failure; }

  // Whether somebody must look at the file, and nobody does, or only somebody who gets no answer.
  // Then the caller does. The first answer counts.
  bool take_look();
  void give_look_back() { look_due_ns_ = 0; }

  // When take_look() is true the next time, by base::now_ns(); INT64_MAX: not before something
  // else has happened.
  std::int64_t look_due_ns() const { return must_be_looked_at() ? look_due_ns_ : INT64_MAX; }

  // Whether all parts have come, and the file is looked at again.
  bool is_checking() const { return stage_ == Stage::kChecking; }

  // What a look has seen. `is_check`: it was begun while is_checking(). What an earlier one has
  // seen may be older than the last part.
  void learn(std::uint64_t size_bytes, std::string_view version, bool is_check);
  const std::string& version() const { return version_; }

  // As in Parts. No part can be taken before the file is known.
  std::optional<FilePart> take();
  void give_back(const FilePart& part) { parts_->give_back(part); }
  std::size_t come(const FilePart& part) const { return parts_->come(part); }
  bool has_room(const FilePart& part) const { return parts_->has_room(part); }
  std::span<std::byte> room(const FilePart& part) { return parts_->room(part); }
  void filled(const FilePart& part, std::size_t bytes);
  void leave_room(const FilePart& part) { parts_->leave_room(part); }

  // How long the comparison of what is kept of the file has taken.
  std::int64_t compared_ns() const { return compared_ns_; }

  // Whether anybody wants the bytes, or only their number.
  bool needs_bytes() const { return output_.is_wanted(); }

  // Only the first failure counts.
  void fail(Cause cause, std::string why);

  // Ends the file, whatever became of it. `used` is how many channels brought a part.
  void end(std::uint64_t used);

  void count_lost() { ++tally_.lost; }
  const ChannelTally& tally() const { return tally_; }
  const std::optional<std::string>& save_failure() const { return output_.failure(); }

 private:
  enum class Stage {
    kUnknown,   // nobody has looked at the file
    kComing,    // its parts are under way
    kChecking,  // they are here, and its version is looked at again
    kOver,
  };

  void know(std::uint64_t size_bytes, std::string_view version);
  bool must_be_looked_at() const { return stage_ == Stage::kUnknown || is_checking(); }
  bool can_change_unseen() const { return config_.protocol == Protocol::kFtp; }

  const Config& config_;
  ThreadSeries* const series_;
  Output output_;
  std::unique_ptr<Parts> parts_;
  const Request* request_ = nullptr;
  Exchange* exchange_ = nullptr;
  Stage stage_ = Stage::kOver;
  std::int64_t look_due_ns_ = 0;
  std::int64_t compared_ns_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::string version_;
  ChannelTally tally_;
};

}  // namespace loadgen
