// One of the connections by which the parts of a file come.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/channels/transfer.h"
#include "loadgen/clients/drivers/driver.h"
#include "loadgen/figures/handshakes.h"
#include "loadgen/sources.h"
#include "net/address.h"
#include "tls/client_context.h"
#include "tls/socket.h"

namespace loadgen {

// What the channels of one thread share. All of it must outlive them.
struct ChannelTools {
  const Config& config;
  const Config& driver_config;  // the same, but a connection is kept for the next part
  const std::vector<net::SocketAddress>& servers;
  const Sources& sources;
  const int thread;
  Transfer& transfer;
  tls::ClientContext* const tls;                  // null: the connections are in clear
  std::optional<HandshakeTally> handshakes = {};  // nothing: the same
  std::shared_ptr<ssl_session_st> session = {};   // what the next connection resumes; null: nothing
  std::int64_t connections = 0;                   // the number of attempts to connect
  std::uint64_t made = 0;                         // those that were made
  std::uint64_t reconnects = 0;                   // of these, after a kept one had ended
  int working = 0;                                // channels that have not given the file up
};

// It never waits: wanted() says what for, and go_on() does what can be done.
//
// Over HTTP, the next part is asked for while the current one comes, so that no round trip passes
// between them. That begins when the current part has its buffer. A part which is asked for behind
// one that waits for a buffer could be the one that all others wait for.
//
// A connection that is lost gives its parts back, and is made again a few times for each file. Then
// its channel gives the file up, and the others get it. The last one fails it.
//
// One thread.
class Channel {
 public:
  explicit Channel(ChannelTools& tools);

  // The transfer has begun a file, or has ended it. A connection that is busy then is closed, but
  // for one over FTP of which only the reply behind its part is still to come: it is read with the
  // next file.
  void begin();
  void end();

  void hang_up();

  // Begins to connect, if there is no connection.
  void connect();

  // Goes on with that, before there is a file.
  bool is_connecting() const {
    return stage_ == Stage::kConnecting || stage_ == Stage::kShakingHands;
  }
  void settle(bool is_ready);

  // Which descriptor has to be ready before it can go on; -1: none.
  pollfd wanted() const;

  // When it can go on without that, by base::now_ns().
  std::int64_t resumes_ns() const;

  // Returns whether it has done anything that may let another channel go on. `is_ready`: what it
  // wanted is.
  bool go_on(bool is_ready);

  // Whether bytes of the file came by it.
  bool has_brought() const { return has_brought_; }

 private:
  enum class Stage {
    kClosed,
    kConnecting,
    kShakingHands,
    kIdle,
    kConversing,  // the driver says what comes next
    kConnectingData,
    kReceiving,  // the part
    kSkipping,   // the body of a refusal
  };

  // What the server was asked for: a part, or to look at the file.
  struct Ask {
    std::unique_ptr<Driver> driver;
    Request request = {};
    std::optional<FilePart> part = {};
    std::uint64_t left_bytes = 0;  // of the part
    bool is_under_way = false;
    bool has_look = false;          // that the transfer waits for
    bool keeps_connection = false;  // another part can be asked for behind this one
    bool is_check = false;          // it was begun when all parts had come
  };

  bool step(bool is_ready);
  bool begin_to_connect();
  bool finish_connecting();
  bool encrypt();
  bool shake_hands();
  bool begin_connection();
  bool ask_next();
  void ask(Ask& ask, std::optional<FilePart> part);
  void ask_following();
  bool converse(bool is_ready);
  bool receive_reply(bool is_ready);
  bool conclude(const Step& step);
  bool open_data(std::uint16_t port);
  bool finish_connecting_for_data();
  bool receive_part(bool is_ready);
  bool take_early_bytes();
  void note_part(std::size_t bytes);
  bool skip(bool is_ready);
  void send(std::string_view bytes);
  void flush();
  void give_back(Ask& ask);
  bool lose(Cause cause, const std::string& why);
  bool lose_after(ssize_t got);
  bool replace_kept(const std::string& why);
  bool is_only_reply_missing() const;
  bool has_data_connections() const { return tools_.config.protocol == Protocol::kFtp; }

  ChannelTools& tools_;
  Transfer& transfer_;
  Ask current_;
  Ask following_;  // asked for behind the current one; only HTTP has it
  Stage stage_ = Stage::kClosed;
  tls::Socket socket_;
  tls::Socket data_socket_;
  const net::SocketAddress* server_ = nullptr;  // of the connection
  const net::SocketAddress* source_ = nullptr;
  std::int64_t encrypts_since_ns_ = 0;  // the connection, with --tls
  std::string unsent_;
  std::string received_;             // and not taken by the driver
  std::uint64_t skipped_bytes_ = 0;  // that are still to come
  std::int64_t resumes_ns_ = 0;      // not before, after a connection was lost
  int losses_ = 0;                   // of this file
  bool has_served_ = false;          // the connection has brought a part or a look
  bool is_reused_ = false;           // it has before the file, and nothing has come since
  bool is_untried_ = false;          // it has, and no whole reply has come since
  bool is_behind_ = false;           // the reply behind a part of the file before is still to come
  bool is_again_ = false;            // it replaces one that was kept
  bool must_look_ = false;           // FTP: this connection has not looked at the file
  bool has_brought_ = false;
};

}  // namespace loadgen
