// How to reach Redis: the flags --redis-... as plain values.
#pragma once

#include <string>
#include <vector>

#include "net/address.h"

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
  int wait = 0;  // how many replicas must have a change before it is acknowledged
};

}  // namespace authserver
