// What a user does, step by step.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "base/clock.h"
#include "loadgen/loops/crowd/loop.h"
#include "net/connect.h"
#include "net/socket_io.h"

namespace loadgen::crowd {

namespace {

std::string text_of(int errno_value) {
  return std::error_code(errno_value, std::generic_category()).message();
}

void add(std::atomic<int>& counter, int by) { counter.fetch_add(by, std::memory_order_relaxed); }

}  // namespace

void CrowdLoop::connect(std::uint32_t user) {
  User& one = users_[user];
  if (one.phase == Phase::kBeforeStart) add(live_.started, 1);
  recorder_.start();
  one.phase = Phase::kConnecting;
  one.is_logged_in = false;
  one.spared_ns = 0;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  one.source_turn = one.fetches;
  auto made = begin_to_connect(user, server_of(user));
  if (!made) return drop(user, Fault::kConnect, made.error().context);
  one.fd = std::move(*made);
  note(engine_->watch(user, one.fd.get()));
  wait_for_bytes(user, POLLOUT);
}

const net::SocketAddress& CrowdLoop::server_of(std::uint32_t user) const {
  const auto number = static_cast<std::size_t>(share_.number_of(user));
  return shared_.ready.servers[number % shared_.ready.servers.size()];
}

// Both connections of a user have one source address, because some servers demand it.
base::Result<net::Fd> CrowdLoop::begin_to_connect(std::uint32_t user,
                                                  const net::SocketAddress& to) const {
  return net::begin_to_connect(
      to, shared_.ready.sources.of(share_.number_of(user), users_[user].source_turn),
      static_cast<int>(config_.crowd.receive_buffer_bytes));
}

// A timer or a late report of the connection before may have woken the user too early.
void CrowdLoop::finish_connecting(std::uint32_t user) {
  User& one = users_[user];
  if (!has_come(one)) return wait_for_bytes(user, POLLOUT);
  const bool is_for_data = one.phase == Phase::kConnectingData;
  if (const int failure = net::outcome_of_connect((is_for_data ? one.data_fd : one.fd).get()))
    return drop(user, Fault::kConnect, text_of(failure));
  if (!is_for_data) return begin_to_ask(user);
  one.phase = Phase::kAsking;
  go_on_asking(user);
}

void CrowdLoop::begin_to_ask(std::uint32_t user) {
  const User& one = users_[user];
  recorder_.count_connections(1);
  int size = 0;
  socklen_t length = sizeof size;
  if (tally_->receive_buffer_bytes == 0 &&
      ::getsockopt(one.fd.get(), SOL_SOCKET, SO_RCVBUF, &size, &length) == 0)
    tally_->receive_buffer_bytes = static_cast<std::uint64_t>(size);
  ask(user);
}

void CrowdLoop::ask(std::uint32_t user) {
  User& one = users_[user];
  one.phase = Phase::kAsking;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  one.spared_ns = 0;
  one.conversation = conversations_.take();
  one.conversation->begin(config_, share_.number_of(user), one.fetches, one.is_logged_in);
  go_on_asking(user);
}

void CrowdLoop::go_on_asking(std::uint32_t user) {
  User& one = users_[user];
  const Answer answer = one.conversation->go_on(one.fd.get());
  switch (answer.kind) {
    case Answer::Kind::kWaits: return wait_for_bytes(user, POLLIN);
    case Answer::Kind::kFailed: return drop(user, *answer.failure, answer.why);
    case Answer::Kind::kData: return connect_for_data(user, answer.data_port);
    case Answer::Kind::kFile: return begin_to_read(user, answer);
    case Answer::Kind::kDone: break;
  }
  if (one.got_bytes < one.size_bytes)
    return drop(user, Fault::kProtocol, "fewer bytes came than announced");
  one.keeps_connection = answer.keeps_connection;
  conversations_.give_back(std::move(one.conversation));
  finish_fetch(user);
}

void CrowdLoop::connect_for_data(std::uint32_t user, std::uint16_t port) {
  User& one = users_[user];
  auto made = begin_to_connect(user, server_of(user).with_port(port));
  if (!made) return drop(user, Fault::kConnect, made.error().context);
  one.data_fd = std::move(*made);
  one.phase = Phase::kConnectingData;
  note(engine_->watch(data_number(user), one.data_fd.get()));
  wait_for_bytes(user, POLLOUT);
}

// Where the limit is too narrow, nobody is judged: the user waits for the end of the run.
void CrowdLoop::begin_to_read(std::uint32_t user, const Answer& answer) {
  if (!pace_.can_time(answer.size_bytes))
    return drop(user, Fault::kProtocol, fmt::format("a file of {} bytes", answer.size_bytes));
  User& one = users_[user];
  one.asked_ns = one.conversation->asked_ns();
  if (!one.data_fd.is_open()) conversations_.give_back(std::move(one.conversation));
  one.phase = Phase::kReading;
  one.is_logged_in = true;
  one.keeps_connection = answer.keeps_connection;
  one.size_bytes = answer.size_bytes;
  one.got_bytes = 0;
  took(one, answer.early_bytes);
  one.limit_ns =
      one.asked_ns + pace_.limit_ns(answer.size_bytes) + one.spared_ns + aftermath_ns(one);
  look_back_to(one.asked_ns);
  if (is_late_with(one)) spare(one);
  tally_->file_bytes = std::max(tally_->file_bytes, answer.size_bytes);
  tally_->least_slack_ns = std::min(tally_->least_slack_ns, pace_.slack_ns(answer.size_bytes));
  if (tally_->is_too_narrow()) return shared_.control.stop(End::kFailed);
  wait_until_due(user, pace_.next_read_ns(one.got_bytes, one.size_bytes));
}

// Reads what is due. A short read in the middle leaves the rest to the next moment, so that few
// reads are enough. At the end of the file the user waits for each byte.
void CrowdLoop::read(std::uint32_t user) {
  User& one = users_[user];
  const std::uint64_t due = pace_.due_bytes(now_ns_ - one.asked_ns, one.size_bytes);
  if (due > one.got_bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(due - one.got_bytes, buffer_.size());
    const ssize_t got = net::receive_now(one.file_fd().get(), {buffer_.data(), wanted});
    if (got == 0 && one.data_fd.is_open()) return wait_for_last_reply(user);
    if (got == 0) return drop(user, Fault::kClosed, "the server closed the connection");
    if (got < 0 && errno != EAGAIN) return drop(user, Fault::kClosed, text_of(errno));
    if (got < 0) {
      ++tally_->empty_reads;
      return wait_for_bytes(user, POLLIN);
    }
    ++tally_->useful_reads;
    took(one, static_cast<std::uint64_t>(got));
  }
  if (due == one.size_bytes && one.got_bytes < due) return wait_for_bytes(user, POLLIN);
  if (one.got_bytes < one.size_bytes)
    return wait_until_due(user, pace_.next_read_ns(one.got_bytes, one.size_bytes));
  if (due < one.size_bytes) return wait_until_due(user, pace_.due_ns(one.size_bytes));
  finish_file(user);
}

void CrowdLoop::took(User& one, std::uint64_t bytes) {
  one.got_bytes += bytes;
  live_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  recorder_.count_moved(bytes);
}

void CrowdLoop::finish_file(std::uint32_t user) {
  User& one = users_[user];
  const double error = std::abs(pace_.error_of(one.size_bytes, base::now_ns() - one.asked_ns));
  one.worst_error = std::max(one.worst_error, static_cast<float>(error));
  if (one.data_fd.is_open()) return wait_for_last_reply(user);
  finish_fetch(user);
}

// A server that has not sent the whole file says why on the other connection.
void CrowdLoop::wait_for_last_reply(std::uint32_t user) {
  User& one = users_[user];
  close_data(one, user);
  one.phase = Phase::kEnding;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  go_on_asking(user);
}

void CrowdLoop::finish_fetch(std::uint32_t user) {
  User& one = users_[user];
  if (one.fetches++ == 0) add(live_.fetched, 1);
  recorder_.record({.started_ns = one.asked_ns,
                    .ended_ns = base::now_ns(),
                    .announced_bytes = one.size_bytes,
                    .moved_bytes = one.got_bytes});
  if (one.keeps_connection) {
    recorder_.start();
    return ask(user);
  }
  leave(one, user);
  connect(user);
}

void CrowdLoop::drop(std::uint32_t user, Cause cause, const std::string& why) {
  User& one = users_[user];
  recorder_.record({.failure = cause, .started_ns = now_ns_, .ended_ns = now_ns_, .why = why});
  tally_->drop_outs.push_back({.at_ns = now_ns_ - start_ns_,
                               .cause = cause,
                               .why = why,
                               .was_in_first_fetch = one.fetches == 0});
  add(live_.dropped, 1);
  if (one.fetches > 0) add(live_.fetched, -1);
  leave(one, user);
  one.phase = Phase::kGone;
}

void CrowdLoop::leave(User& one, std::uint32_t user) {
  wheel_.clear(user);
  conversations_.give_back(std::move(one.conversation));
  close_data(one, user);
  if (!one.fd.is_open()) return;
  engine_->forget(user);
  const net::Fd closed = std::move(one.fd);
}

void CrowdLoop::close_data(User& one, std::uint32_t user) {
  if (!one.data_fd.is_open()) return;
  engine_->forget(data_number(user));
  const net::Fd closed = std::move(one.data_fd);
}

}  // namespace loadgen::crowd
