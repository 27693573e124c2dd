// The client of a thread that has at most one connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/download.h"
#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/reference.h"
#include "loadgen/clients/reply_stream.h"
#include "loadgen/clients/request.h"
#include "loadgen/clients/thread_client.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/thread_series.h"
#include "loadgen/sources.h"
#include "net/address.h"
#include "net/fd.h"
#include "tls/client_context.h"
#include "tls/socket.h"

namespace loadgen {

// One thread.
class Client final : public ThreadClient {
 public:
  // All arguments but `thread`, which counts from 0, must outlive it. `series` may be null; then
  // it is not told which bytes move. Without `tls` the connections are in clear.
  // Requires: `servers` is not empty. The connections go to all of them in turn, and thread t
  // begins with number t.
  Client(const Config& config, const std::vector<net::SocketAddress>& servers,
         const Sources& sources, int thread, ThreadSeries* series = nullptr,
         tls::ClientContext* tls = nullptr);

  void prepare() override;

  // A server may close a kept connection that was idle, and a request that was sent meanwhile is
  // lost. So a get is repeated once, on a new connection and within the same time, if the kept one
  // ended before the first byte of a reply. A put or new could then happen twice. They look first
  // whether the connection is still open, and if it is not, they are sent on a new one.
  //
  // A request whose connection fails at once takes 1 ms nevertheless. Otherwise a server that
  // refuses, or a lack of ports, would make loadgen use all its cores for failing.
  //
  // With a `gate`, the request waits there before it asks for its file. It then has all of
  // --timeout once more. A request that fails before does not get there; its asked_ns is 0.
  Exchange carry_out(const Request& request, Gate* gate) override;

  const std::optional<std::string>& save_failure() const override { return download_.failure(); }
  std::uint64_t connections() const override { return made_; }
  std::uint64_t reconnects() const override { return reconnects_; }
  const HandshakeTally* handshakes() const override {
    return handshakes_ ? &*handshakes_ : nullptr;
  }
  void hang_up() override;

 private:
  // Each of these returns why the request failed, or nothing.
  std::optional<Cause> connect(Exchange& exchange);
  std::optional<Cause> encrypt(net::Fd fd, Exchange& exchange);
  std::optional<Cause> fail_to_connect(const std::string& why, Exchange& exchange);
  bool may_send_on_kept();
  void begin_streams();
  std::optional<Cause> begin(Exchange& exchange);
  std::optional<Cause> reconnect(Exchange& exchange);
  bool can_be_repeated(const Exchange& exchange) const;
  std::optional<Cause> converse(const Request& request, Exchange& exchange);
  std::optional<Cause> follow(const Step& step, const Request& request, Exchange& exchange);
  std::optional<Cause> conclude(const Step& end, const Request& request, Exchange& exchange);
  std::optional<Cause> take_file(std::uint64_t size_bytes, const Request& request);
  std::optional<Cause> check_file(const Request& request);
  bool looks_at_file(const Request& request) const;
  std::optional<Cause> open_data(std::uint16_t port, Exchange& exchange);
  std::optional<Cause> take_data(std::uint64_t size_bytes, const Request& request,
                                 Exchange& exchange);
  std::optional<Cause> upload(std::uint64_t size_bytes, Exchange& exchange);
  std::optional<Cause> send_data(std::uint64_t size_bytes, Exchange& exchange);
  void note_reply(std::int64_t first_byte_ns, Exchange& exchange) const;
  std::optional<Cause> ask(const Step& step, Exchange& exchange);
  std::optional<Cause> send(const Step& step, Exchange& exchange);
  void note_sent(bool is_whole, Exchange& exchange) const;

  const Config& config_;
  const std::vector<net::SocketAddress>& servers_;
  const Sources& sources_;
  ThreadSeries* const series_;
  tls::ClientContext* const tls_;  // null: in clear
  const int thread_;
  const bool is_kept_;

  const std::unique_ptr<Driver> driver_;
  ReplyStream replies_;
  std::optional<ReplyStream> data_;  // of a protocol with a connection for the file
  Reference reference_;
  Download download_;
  const bool looks_at_files_;  // for --verify or --save
  const bool notes_transfers_;
  Gate* gate_ = nullptr;  // of the request
  tls::Socket socket_;
  tls::Socket data_socket_;
  const net::SocketAddress* server_ = nullptr;  // of the connection
  const net::SocketAddress* source_ = nullptr;  // of the connection; null: the system chose it
  bool is_usable_ = false;                      // the connection can take the next request
  bool is_reused_ = false;                      // the connection was there before the request
  bool is_upload_cut_ = false;                // the server answered before all of the file was sent
  std::optional<HandshakeTally> handshakes_;  // nothing: in clear
  std::shared_ptr<ssl_session_st> session_;   // what the next connection resumes; null: nothing
  std::int64_t connections_ = 0;              // the number of attempts to connect
  std::uint64_t made_ = 0;                    // those that were made
  std::uint64_t reconnects_ = 0;              // of these, after a kept one had ended
  bool is_under_way_ = false;                 // only for an assertion
};

}  // namespace loadgen
