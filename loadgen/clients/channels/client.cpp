#include "loadgen/clients/channels/client.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace loadgen {

namespace {

// A connection serves many parts of a file, even if the next file has connections of its own.
Config with_kept_connections(Config config) {
  config.connection = Connection::kKeepAlive;
  return config;
}

}  // namespace

ChannelClient::ChannelClient(const Config& config, const std::vector<net::SocketAddress>& servers,
                             const Sources& sources, int thread, ThreadSeries* series,
                             tls::ClientContext* tls)
    : config_(config),
      driver_config_(with_kept_connections(config)),
      transfer_(config, thread, series),
      tools_{config, driver_config_, servers, sources, thread, transfer_, tls} {
  if (tls != nullptr) tools_.handshakes.emplace();
  for (int i = 0; i < config.channels.count; ++i)
    channels_.push_back(std::make_unique<Channel>(tools_));
  waits_.resize(channels_.size());
}

void ChannelClient::prepare() {
  if (config_.connection != Connection::kKeepAlive) return;
  for (const auto& channel : channels_) channel->connect();
  const auto deadline = base::Deadline::in_ms(config_.timeout_ms);
  const auto is_connecting = [](const auto& channel) { return channel->is_connecting(); };
  while (std::ranges::any_of(channels_, is_connecting) && !deadline.has_passed()) {
    wait(deadline.left_ms());
    for (std::size_t i = 0; i < channels_.size(); ++i)
      channels_[i]->settle(std::exchange(waits_[i].revents, 0) != 0);
  }
}

void ChannelClient::hang_up() {
  for (const auto& channel : channels_) channel->hang_up();
}

// As of Client, the time includes closing the connections of the request before.
Exchange ChannelClient::carry_out(const Request& request, [[maybe_unused]] Gate* gate) {
  assert(gate == nullptr && request.kind == RequestKind::kGet);
  Exchange exchange{.started_ns = base::now_ns()};
  const bool notes_transfers = loadgen::notes_transfers(config_);
  const std::int64_t cpu_before_ns = notes_transfers ? base::thread_cpu_ns() : 0;
  if (config_.connection == Connection::kPerRequest) hang_up();
  transfer_.begin(request, exchange);
  tools_.working = config_.channels.count;
  for (const auto& channel : channels_) channel->begin();
  get_file();
  end_file();
  exchange.ended_ns = base::now_ns();
  if (exchange.first_byte_ns == 0) exchange.first_byte_ns = exchange.ended_ns;
  if (notes_transfers) {
    exchange.cpu_ns = base::thread_cpu_ns() - cpu_before_ns;
    if (!exchange.failure) exchange.file_end_ns = exchange.ended_ns;
  } else {
    exchange.asked_ns = 0;
  }
  return exchange;
}

void ChannelClient::end_file() {
  const auto used = std::count_if(channels_.begin(), channels_.end(),
                                  [](const auto& channel) { return channel->has_brought(); });
  transfer_.end(static_cast<std::uint64_t>(used));
  for (const auto& channel : channels_) channel->end();
}

// What one channel has done may let the others go on, which then have to be asked once more before
// all of them wait. The time to compare what was kept is not the server's, so it is not part of the
// time-out.
void ChannelClient::get_file() {
  const auto without_comparing = base::Deadline::in_ms(config_.timeout_ms);
  std::fill(waits_.begin(), waits_.end(), pollfd{});
  while (!transfer_.has_ended()) {
    bool has_moved = false;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const bool is_ready = std::exchange(waits_[i].revents, 0) != 0;
      has_moved = channels_[i]->go_on(is_ready) || has_moved;
    }
    const std::int64_t compared_ms = transfer_.compared_ns() / base::kNsPerMs;
    const auto deadline = without_comparing.earlier_by_ms(-compared_ms);
    if (!has_moved && !transfer_.has_ended()) wait(longest_wait_ms(deadline));
    if (deadline.has_passed()) transfer_.fail(Fault::kTimeout, "");
  }
}

void ChannelClient::wait(int at_most_ms) {
  std::transform(channels_.begin(), channels_.end(), waits_.begin(),
                 [](const auto& channel) { return channel->wanted(); });
  const int ready = ::poll(waits_.data(), waits_.size(), at_most_ms);
  if (ready < 0)  // a signal
    for (pollfd& one : waits_) one.revents = 0;
}

int ChannelClient::longest_wait_ms(base::Deadline deadline) const {
  std::int64_t resumes_ns = INT64_MAX;
  for (const auto& channel : channels_) resumes_ns = std::min(resumes_ns, channel->resumes_ns());
  const int left_ms = deadline.left_ms();
  if (resumes_ns == INT64_MAX) return left_ms;
  const std::int64_t pause_ms = (resumes_ns - base::now_ns()) / base::kNsPerMs + 1;
  return static_cast<int>(std::clamp<std::int64_t>(pause_ms, 0, left_ms));
}

}  // namespace loadgen
