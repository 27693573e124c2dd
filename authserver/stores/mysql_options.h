// How to reach MySQL or MariaDB: the flags --mysql-... as plain values.
#pragma once

#include <string>

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

}  // namespace authserver
