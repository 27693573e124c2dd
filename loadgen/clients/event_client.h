// The client of a user that shares its thread with others: it never waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loadgen/clients/download.h"
#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/engines/engine.h"
#include "loadgen/clients/reference.h"
#include "loadgen/clients/request.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/handshakes.h"
#include "loadgen/figures/thread_series.h"
#include "loadgen/sources.h"
#include "net/address.h"
#include "tls/client_context.h"
#include "tls/socket.h"

namespace loadgen {

// What the clients of one thread share. It must outlive them.
struct ClientTools {
  const Config& config;
  const std::vector<net::SocketAddress>& servers;  // not empty
  const Sources& sources;
  ThreadSeries* series;  // null: nobody is told which bytes move
  std::uint32_t users;   // of the thread
  std::span<char> buffer;
  std::unique_ptr<Engine> engine = {};
  tls::ClientContext* tls = nullptr;              // null: the connections are in clear
  std::optional<HandshakeTally> handshakes = {};  // nothing: the same

  // What the system has refused to the engine: the run has to end. Nothing: all is well.
  std::optional<std::string> failure = {};
};

// Carries out requests as Client does, and with the same figures. Where Client waits, this one
// returns, and goes on when the engine has reported its user.
//
// One thread.
class EventClient {
 public:
  enum class State {
    kDone,    // nothing is under way: the request is over, exchange() has it
    kWaits,   // for the engine
    kMore,    // there is more to do at once, but the others should have their turn
    kPauses,  // until resumes_ns()
  };

  // `user`, counted from 0, is its number among the users of the run, which chooses the addresses.
  // The engine knows its connection as `number`, and that for a file as `number + tools.users`.
  EventClient(ClientTools& tools, int user, std::uint32_t number);
  EventClient(const EventClient&) = delete;
  EventClient& operator=(const EventClient&) = delete;

  // See Client::prepare(). Not kDone: begins to connect, and go_on() ends that.
  State prepare();

  // Begins a request, which must stay valid until kDone. The series is told which bytes of it move
  // if it `counts`. Requires: nothing is under way.
  State begin(const Request& request, bool counts);

  // The engine has reported the user, by the number of its connection for the file or by the other.
  void note_ready(bool is_for_data) { (is_for_data ? is_data_ready_ : is_ready_) = true; }

  // Does what can be done without waiting. Requires: something is under way.
  State go_on();

  // The request, or prepare(), ends now as one that took too long, if it does not end by what has
  // come meanwhile. Requires: something is under way. Nothing is afterwards.
  void run_out_of_time();

  bool is_under_way() const { return stage_ != Stage::kIdle; }
  std::int64_t deadline_ns() const { return deadline_ns_; }  // of the request
  std::int64_t resumes_ns() const { return resumes_ns_; }
  const Exchange& exchange() const { return exchange_; }

  // As the functions of Client that have these names.
  void hang_up();
  std::optional<std::string> save_failure() const;
  std::uint64_t connections() const { return made_; }
  std::uint64_t reconnects() const { return reconnects_; }

 private:
  enum class Stage {
    kIdle,
    kConnecting,
    kShakingHands,
    kConversing,  // the driver says what comes next
    kSending,
    kUploading,
    kReceiving,  // a file
    kSkipping,   // bytes that are of no file
    kConnectingData,
    kUploadingData,
    kReceivingData,
    kRetrying,  // the server has no room for a connection
    kFailing,   // connecting has failed too early to be the end of a request
  };

  // What each stage returns: nothing if go_on() goes on with the next one.
  using Pause = std::optional<State>;

  // For --verify and --save.
  struct Look {
    Look(const Config& config, int user)
        : reference(config.verify_root), download(config.save, user) {}
    Reference reference;
    Download download;
  };

  // The conversation, from its begin to its end. In event_client.cpp.
  Pause do_stage();
  Pause converse();
  Pause follow(const Step& step);
  std::int64_t take(std::size_t count);
  void note_reply(std::int64_t first_byte_ns);
  Pause conclude(const Step& end);
  std::optional<Cause> check_file();
  bool looks_at_file() const;
  bool can_be_repeated() const;
  Pause fail(Cause cause, std::string why = {});
  Pause finish();
  static std::string text_of(int errno_value);

  // Both connections, and pauses before a retry. In event_client_connecting.cpp.
  Pause connect();
  void watch(std::uint32_t number, int fd);
  Pause retry();
  Pause fail_to_connect(const std::string& why);
  Pause pause(Stage stage, std::int64_t pause_ns);
  bool is_pause_over() const;
  Pause finish_connecting();
  Pause encrypt();
  Pause shake_hands();
  Pause begin_connection();
  Pause connect_for_data(std::uint16_t port);
  Pause finish_connecting_for_data();
  void close_data();

  // Bytes that move. In event_client_moving.cpp.
  Pause send();
  Pause upload(tls::Socket& socket);
  void note_sent();
  Pause upload_data();
  Pause receive_more();
  Pause closed(ssize_t got);
  void note_received();
  void begin_file(std::uint64_t size_bytes);
  Pause receive_file();
  ssize_t receive_file_piece();
  Pause receive_data();
  Pause end_of_data(std::optional<Cause> failure);
  Pause skip();
  void take_piece(std::string_view piece);
  std::span<char> room_for(std::uint64_t bytes) const;
  void keep_pending();
  void tell(std::uint64_t moved_bytes) const;

  ClientTools& tools_;
  const int user_;
  const std::uint32_t number_;
  const bool is_kept_;
  const bool notes_transfers_;
  const std::unique_ptr<Driver> driver_;
  const std::unique_ptr<Look> look_;  // null: nobody looks at files

  const Request* request_ = nullptr;  // null in prepare()
  Exchange exchange_;
  Stage stage_ = Stage::kIdle;
  std::int64_t deadline_ns_ = 0;
  std::int64_t resumes_ns_ = 0;
  std::int64_t retry_ns_ = 0;       // how long the next pause before a retry is
  ThreadSeries* series_ = nullptr;  // null: the request does not count, or there is none

  tls::Socket socket_;
  tls::Socket data_socket_;  // of a protocol with a connection for the file
  const net::SocketAddress* server_ = nullptr;
  const net::SocketAddress* source_ = nullptr;
  std::int64_t encrypts_since_ns_ = 0;       // the connection, with --tls
  std::shared_ptr<ssl_session_st> session_;  // what the next connection resumes; null: nothing
  bool is_ready_ = false;                    // bytes may be there, so receiving is worth a call
  bool is_data_ready_ = false;
  bool is_usable_ = false;  // as in Client, these five
  bool is_reused_ = false;
  bool is_upload_cut_ = false;
  std::int64_t connections_ = 0;
  std::uint64_t made_ = 0;
  std::uint64_t reconnects_ = 0;
  bool is_again_ = false;  // the connection that is being made replaces one that has ended

  // What was received and is not used up. It is in the buffer of the thread only while this client
  // has its turn; otherwise in `kept_`.
  std::string_view pending_;
  std::string kept_;
  bool was_short_ = false;  // fewer bytes came than were asked for
  std::string_view unsent_;
  std::uint64_t unsent_file_bytes_ = 0;  // of `unsent_`, at its end
  std::uint64_t left_bytes_ = 0;         // of the file, in the stages that move one
  std::uint64_t data_size_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;    // that were received
  std::int64_t first_byte_ns_ = 0;  // of `pending_`; 0: nothing has come
  std::int64_t first_received_ns_ = 0;
  std::int64_t first_data_ns_ = 0;
  std::int64_t last_byte_ns_ = 0;
};

}  // namespace loadgen
