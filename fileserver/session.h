// One client's conversation with the fileserver: docs/protocol.md, "from a client to the
// fileserver".
#pragma once

#include "fileserver/auth_client.h"
#include "fileserver/files/files.h"
#include "serve/connection.h"
#include "serve/options.h"
#include "wire/request.h"

namespace fileserver {

// Belongs to one thread; `auth` and `files` are shared by all and must outlive it.
class Session : public serve::Worker {
 public:
  Session(AuthClient& auth, Files& files) : auth_(auth), files_(files) {}

  void serve(serve::Connection& connection) override;

 private:
  void handle(serve::Connection& connection, const wire::Ping& ping);
  void handle(serve::Connection& connection, const wire::New& request);
  void handle(serve::Connection& connection, const wire::Get& request);
  void handle(serve::Connection& connection, const wire::FileName& file);
  void handle(serve::Connection& connection, const wire::Refused& refused);

  AuthClient& auth_;
  Files& files_;
  bool is_granted_ = false;  // whether the last `get:` of this connection was answered OK
};

}  // namespace fileserver
