// FTP (RFC 959), as a client of other people's servers.
#pragma once

#include <string>

#include "loadgen/drivers/driver.h"
#include "loadgen/drivers/ftp_reply.h"

namespace loadgen {

// Logs in once for each connection, with USER, PASS and TYPE I. Then each file takes EPSV or PASV,
// RETR, and a connection for its bytes. QUIT is not sent: the connection is just closed.
//
// A file is whole when the server says 226 or 250 behind it. If the reply to RETR says how many
// bytes it has, so many must come. A refusal is an error of the native protocol where there is a
// matching one, and kProtocol for any other reply.
class FtpDriver : public Driver {
 public:
  explicit FtpDriver(FtpData data) : wanted_(data), data_(data) {}

  void begin_connection() override {
    state_ = State::kConnected;
    data_ = wanted_;
  }
  void begin(const Request& request) override;
  Step next(std::string_view received) override;

 private:
  enum class State {
    kConnected,  // the greeting comes next
    kUser,       // each of these was sent, and its reply comes next
    kPassword,
    kType,
    kAskedPort,
    kRetrieve,  // RETR is sent when the data connection is there
    kPromised,  // RETR was sent
    kData,      // the file was received; the last reply comes next
    kIdle,      // logged in
  };

  Step take(const FtpReply& reply);
  Step command(State state, std::string_view verb, std::string_view argument = {});
  Step ask_port(bool is_log_in_over);
  Step take_port(const FtpReply& reply);

  const FtpData wanted_;
  FtpData data_;  // of this connection
  State state_ = State::kConnected;
  const Request* request_ = nullptr;
  std::string line_;
};

}  // namespace loadgen
