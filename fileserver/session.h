// Serves one client after another: reads a line, acts on it, replies. docs/protocol.md lists the
// lines and their replies.
#pragma once

#include "fileserver/auth_client.h"
#include "fileserver/files/files.h"
#include "serve/connection.h"
#include "serve/options.h"
#include "wire/request.h"

namespace fileserver {

// Belongs to one thread. `auth` and `files` are shared by all sessions and must outlive them.
class Session : public serve::Worker {
 public:
  Session(AuthClient& auth, Files& files) : auth_(auth), files_(files) {}

  void serve(serve::Connection& connection) override;

 private:
  // One for each kind of line. Each sends exactly one reply, or cuts the connection.
  void handle(serve::Connection& connection, const wire::Ping& ping);
  void handle(serve::Connection& connection, const wire::New& request);
  void handle(serve::Connection& connection, const wire::Get& request);
  void handle(serve::Connection& connection, const wire::FileName& file);
  void handle(serve::Connection& connection, const wire::Refused& refused);

  AuthClient& auth_;
  Files& files_;

  // Whether the last `get:` line of this connection was answered OK.
  bool is_granted_ = false;
};

}  // namespace fileserver
