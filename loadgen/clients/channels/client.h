// The client of a thread that gets each file by several connections at once.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loadgen/clients/channels/channel.h"
#include "loadgen/clients/channels/transfer.h"
#include "loadgen/clients/thread_client.h"
#include "loadgen/config/config.h"
#include "loadgen/sources.h"
#include "net/address.h"
#include "tls/client_context.h"

namespace loadgen {

// Its channels are served by poll() and not by threads of their own: what they share needs no lock,
// and a channel that is stuck holds nobody up.
//
// The response time of a request is that of the whole file, up to its last byte. With --save or
// --verify, and over FTP, it ends when the file was written, compared or looked at again.
//
// One thread.
class ChannelClient final : public ThreadClient {
 public:
  // The arguments are those of Client. Requires: has_channels(config).
  ChannelClient(const Config& config, const std::vector<net::SocketAddress>& servers,
                const Sources& sources, int thread, ThreadSeries* series,
                tls::ClientContext* tls = nullptr);

  void prepare() override;

  // Only gets. It waits at no gate.
  Exchange carry_out(const Request& request, Gate* gate) override;

  const std::optional<std::string>& save_failure() const override {
    return transfer_.save_failure();
  }
  std::uint64_t connections() const override { return tools_.made; }
  std::uint64_t reconnects() const override { return tools_.reconnects; }
  const ChannelTally* channels() const override { return &transfer_.tally(); }
  const HandshakeTally* handshakes() const override {
    return tools_.handshakes ? &*tools_.handshakes : nullptr;
  }
  void hang_up() override;

 private:
  void get_file();
  void wait(int at_most_ms);
  int longest_wait_ms(base::Deadline deadline) const;
  void end_file();

  const Config& config_;
  const Config driver_config_;
  Transfer transfer_;
  ChannelTools tools_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<pollfd> waits_;  // of each channel
};

}  // namespace loadgen
