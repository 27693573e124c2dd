// Which store, and how to reach it: plain values.
#pragma once

#include <cstdint>
#include <string>

namespace authserver {

enum class StoreKind { kSqlite, kMysql, kRedis };
enum class StoreConnection { kPersistent, kPerRequest };

struct SqliteConfig {
  std::string path = "accounts.db";
};

enum class MysqlTls { kOff, kOn };

struct MysqlConfig {
  std::string host = "127.0.0.1";
  int port = 3306;
  std::string socket;  // instead of host and port
  std::string user = "turnstile";
  std::string password;
  std::string password_file;
  std::string database = "turnstile";
  MysqlTls tls = MysqlTls::kOff;
  std::string tls_ca;             // the server must show a certificate that this one has signed
  std::string server_public_key;  // else the server is asked for its key where the login needs one
};

struct RedisConfig {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string password;
  std::string password_file;
  int database = 0;
};

struct StoreConfig {
  StoreKind kind = StoreKind::kSqlite;
  StoreConnection connection = StoreConnection::kPersistent;
  std::int64_t timeout_ms = 2'000;
  int most_connections = 1;  // that this server may ask its store for
  SqliteConfig sqlite;
  MysqlConfig mysql;
  RedisConfig redis;
};

}  // namespace authserver
