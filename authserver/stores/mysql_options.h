// How to reach MySQL or MariaDB: the flags --mysql-... as plain values, and what is known of the
// servers.
#pragma once

#include <string>

#include "authserver/stores/host_list.h"

namespace authserver {

enum class MysqlTls { kOff, kOn };

struct MysqlOptions {
  std::string host = "127.0.0.1";  // or several, with commas between them, which share the port
  int port = 3306;
  std::string socket;  // if set, this socket file is used instead of host and port
  std::string user = "turnstile";
  std::string password;
  std::string password_file;  // if set, its first line becomes the password
  std::string database = "turnstile";

  // Encrypts without checking whose certificate the server shows.
  MysqlTls tls = MysqlTls::kOff;
  // Encrypts, and accepts only a certificate that this file has signed and that names the host.
  std::string tls_ca;
  // The server's RSA key, for logins without TLS. If empty, the server is asked for it.
  std::string server_public_key;
};

// What all connections of one authserver know of the servers in --mysql-host.
struct MysqlNodes {
  PreferredAddress preferred;

  // Of a Galera cluster. Set once, at the start.
  bool are_galera = false;
};

}  // namespace authserver
