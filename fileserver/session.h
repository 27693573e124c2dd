// Serves one client after another: reads a line, acts on it, replies. docs/protocol.md lists the
// lines and their replies.
#pragma once

#include <optional>
#include <utility>

#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/config.h"
#include "fileserver/files/files.h"
#include "fileserver/transfers/transfer_log.h"
#include "net/address.h"
#include "serve/line_worker.h"
#include "wire/request.h"

namespace fileserver {

// Belongs to one thread. The arguments are shared by all sessions and must outlive them. Without a
// transfer log, `transfer_log` is null.
class Session : public serve::LineWorker {
 public:
  Session(AuthClient& auth, LogIn& log_in, Files& files, TransferLog* transfer_log,
          NewAccounts new_accounts, std::optional<net::HostPort> http_listen)
      : auth_(auth),
        log_in_(log_in),
        files_(files),
        transfer_log_(transfer_log),
        new_accounts_(new_accounts),
        http_listen_(std::move(http_listen)) {}

 private:
  void converse(serve::LineConversation& connection) override;

  // One for each kind of line. Each sends exactly one reply, or cuts the connection.
  void handle(serve::LineConversation& connection, const wire::Ping& ping);
  void handle(serve::LineConversation& connection, const wire::New& request);
  void handle(serve::LineConversation& connection, const wire::Get& request);
  void handle(serve::LineConversation& connection, const wire::FileName& file);
  void handle(serve::LineConversation& connection, const wire::Refused& refused);

  void log_transfer(serve::LineConversation& connection, std::string_view name,
                    std::int64_t asked_ns, const base::Status& sent);

  AuthClient& auth_;
  LogIn& log_in_;
  Files& files_;
  TransferLog* const transfer_log_;
  const NewAccounts new_accounts_;
  const std::optional<net::HostPort> http_listen_;  // where HTTP is served, if it is

  // Whether the last `get:` line of this connection was answered OK.
  bool is_granted_ = false;

  // Whether the line that is answered now is the first one of this connection.
  bool is_first_line_ = true;
};

}  // namespace fileserver
