// How to reach Redis: the flags --redis-... as plain values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/address.h"
#include "tls/client_context.h"

namespace authserver {

struct RedisOptions {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string socket;         // "unix:" and the path of a socket; empty: host and port
  std::string password;       // empty: no login
  std::string password_file;  // if set, its first line becomes the password
  int database = 0;           // its number, as SELECT takes it

  std::vector<net::HostPort> sentinels;  // if any, they say where the server is
  std::string primary = "mymaster";      // its name, as the sentinels know it
  bool is_encrypted = false;
  std::string tls_ca;  // who has issued the server's certificate; empty: those that the system has

  // Made of these two. Shared with copies, as all connect in the same way. Null: in clear.
  std::shared_ptr<tls::ClientContext> encryption = {};

  int wait = 0;  // how many replicas must have a change before it is acknowledged
};

}  // namespace authserver
