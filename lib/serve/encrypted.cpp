#include "serve/encrypted.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "serve/options.h"
#include "telemetry/counters.h"

namespace serve {

namespace {

using telemetry::Count;

std::int64_t handshake_ms(std::int64_t idle_timeout_ms) {
  return idle_timeout_ms == 0 ? Encrypted::kHandshakeMs
                              : std::min(idle_timeout_ms, Encrypted::kHandshakeMs);
}

}  // namespace

std::optional<AddressShares::Group> Handshakes::begin(const net::IpAddress& peer) {
  constexpr int kLeastPlaces = 4;  // so that one address may always have one
  const auto group = shares_.group_of(peer);
  shares_.add(group);
  const bool has_place = under_way_.fetch_add(1, std::memory_order_relaxed) < most_;
  if (has_place && !shares_.is_large(group, std::max(most_, kLeastPlaces))) return group;
  end(group);
  return {};
}

void Handshakes::end(AddressShares::Group group) {
  under_way_.fetch_sub(1, std::memory_order_relaxed);
  shares_.remove(group);
}

void HandshakeNote::settle(Handshakes& handshakes) {
  const std::int64_t group = group_.exchange(kNone);
  if (group != kNone) handshakes.end(static_cast<AddressShares::Group>(group));
}

std::string no_answer() { return {}; }

std::unique_ptr<Encrypted> Encrypted::begin(const Encryption& encryption, int fd,
                                            const net::IpAddress& peer,
                                            std::int64_t idle_timeout_ms) {
  const auto group = encryption.handshakes.begin(peer);
  if (!group) {
    telemetry::add(Count::kHandshakesRefused);
    return {};
  }
  if (encryption.note != nullptr) encryption.note->begins(*group);
  try {
    auto channel = encryption.context.accept(fd, encryption.spoken, io_slice_ms(idle_timeout_ms));
    return std::unique_ptr<Encrypted>(
        new Encrypted(std::move(channel), encryption, *group, handshake_ms(idle_timeout_ms)));
  } catch (...) {
    if (encryption.note != nullptr) encryption.note->ends();
    encryption.handshakes.end(*group);
    throw;
  }
}

Encrypted::Encrypted(std::unique_ptr<tls::Channel> channel, const Encryption& encryption,
                     AddressShares::Group group, std::int64_t time_ms)
    : channel_(std::move(channel)),
      handshakes_(encryption.handshakes),
      note_(encryption.note),
      group_(group),
      deadline_(base::Deadline::in_ms(time_ms)) {}

Encrypted::~Encrypted() {
  if (!is_under_way_) return;
  telemetry::add(deadline_.has_passed() ? Count::kHandshakesLate : Count::kHandshakesGone);
  end_handshake();
}

void Encrypted::bound(base::Deadline& deadline) const {
  if (is_under_way_ && deadline_.at_ns() < deadline.at_ns()) deadline = deadline_;
}

// Returns whether the handshake was made just now. Leaves errno alone.
bool Encrypted::note_progress(ssize_t received) {
  const int failure = errno;
  const bool is_made = channel_->is_established();
  const bool is_broken = received < 0 && failure == EPROTO;
  if (is_made || is_broken) {
    telemetry::add(is_made                ? Count::kHandshakesMade
                   : channel_->is_plain() ? Count::kHandshakesPlain
                                          : Count::kHandshakesFailed);
    end_handshake();
  }
  errno = failure;
  return is_made;
}

void Encrypted::end_handshake() {
  is_under_way_ = false;
  if (note_ != nullptr) note_->ends();
  handshakes_.end(group_);
}

}  // namespace serve
