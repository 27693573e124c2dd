// What a protocol is to loadgen: a parser that is fed with bytes and says what to do next. No
// sockets, no clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loadgen/clients/request.h"
#include "loadgen/config/config.h"
#include "loadgen/figures/cause.h"

namespace loadgen {

// What the caller of a driver must do next.
struct Step {
  enum class Kind {
    kSend,      // send `bytes`, which may be empty, and ask again
    kReceive,   // nothing is taken: receive at least one more byte, and ask again
    kUpload,    // send `size_bytes` bytes of upload_bytes(), and ask again
    kFile,      // receive `size_bytes` bytes of the file, and ask again
    kOpenData,  // connect to `data_port` of the server, and ask again
    kData,      // receive the file on that connection until it ends, close it, and ask again;
                // `size_bytes` of them, unless that is kUnknownSize. Of a part of a file, it ends
                // behind so many bytes, whatever else comes
    kSendData,  // send `size_bytes` bytes of upload_bytes() on that connection, close it, and ask
                // again
    kSkip,      // receive `size_bytes` bytes that are of no file, and ask again
    kDone,      // the request is over: `failure` and the members behind it count
  };
  Kind kind;

  // Of the bytes that the driver was shown, so many are used up.
  std::size_t taken_bytes = 0;

  std::string_view bytes = {};  // valid until the next call
  std::uint64_t size_bytes = 0;
  std::uint64_t file_bytes = 0;  // kSend: so many of `bytes`, at their end, are of the file
  std::uint16_t data_port = 0;
  bool asks_for_file = false;  // kSend: `bytes` ask for the file or begin to put it, and none
                               // before did
  bool is_logged_in = false;   // the log-in has just ended, for a protocol where that is a moment

  static constexpr std::uint64_t kUnknownSize = UINT64_MAX;

  std::optional<Cause> failure = {};  // empty: the request succeeded
  bool keeps_connection = false;      // the connection can take the next request; of kFile, too

  // The failure is what a server says before it closes a connection that was idle for too long. On
  // a kept connection it may have been said before the request had come.
  bool is_idle_end = false;

  // When a request for no part of the file has succeeded: how large it is, and which version this
  // is. Two files with one name and one version are the same. Empty: the server does not tell.
  std::uint64_t whole_bytes = 0;
  std::string_view version = {};  // valid until the next call

  std::string_view why = {};  // what the server said about the failure, as it came
};

// The answer is none of this protocol.
inline Step not_understood(std::string_view answer) {
  return {.kind = Step::Kind::kDone, .failure = Fault::kProtocol, .why = answer};
}

// The client's side of one protocol, for one connection at a time and one request after the other.
//
// A file is sent and received by the caller, not by the driver, so its bytes need not be in memory
// at once. If the server answers before all of kUpload was sent, or no longer takes all of
// kSendData, the caller stops sending, and the request fails.
//
// One thread.
class Driver {
 public:
  Driver() = default;
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  // A new connection was made. The next request is the first one on it.
  virtual void begin_connection() {}

  // Starts a request, which must stay valid until kDone. The request before it may be unfinished.
  virtual void begin(const Request& request) = 0;

  // `received` is what has come and was not taken yet. The answer does not depend on how the bytes
  // were cut on their way, except for `why` of bytes that are not understood. Requires: begin() was
  // called, and kDone was not returned since.
  virtual Step next(std::string_view received) = 0;
};

// The driver for the protocol of `config`, which must outlive it.
std::unique_ptr<Driver> make_driver(const Config& config);

}  // namespace loadgen
