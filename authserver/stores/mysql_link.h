// One connection to MySQL or MariaDB and the statements prepared on it. The only files that know
// the client library.
#pragma once

#include <mysql.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "authserver/stores/mysql_options.h"
#include "authserver/stores/retry.h"
#include "base/result.h"

namespace authserver {

class MysqlStatement;

// One thread. Closed after anything that leaves its state unknown, and after a time-out: a late
// answer finds nobody.
class MysqlLink {
 public:
  // `options` must outlive it. Does not connect yet.
  MysqlLink(const MysqlOptions& options, std::int64_t timeout_ms)
      : options_(options), timeout_ms_(timeout_ms) {}

  // kUnavailable when the server cannot be reached or refuses us.
  base::Status connect();
  bool is_connected() const { return connection_ != nullptr; }

  // Closes a kept connection that the server has closed meanwhile, or that has bytes waiting which
  // nobody asked for. Nothing is pending on it, so it may be replaced.
  void close_if_stale();

  // Statements without parameters. Each row's columns go to `take_row`.
  using Row = std::initializer_list<std::string_view>;
  base::Status run(const std::string& sql,
                   const std::function<void(MYSQL_ROW, unsigned long*)>& take_row = {});

  // After a statement and its rows. A server may be set not to commit each statement by itself
  // (autocommit=0), and what it says about it when it lets us in need not be true. Then this
  // commits the one just done, and has those to come commit themselves.
  base::Status end_transaction();

  // The first column of the first row; empty when there is none, or the statement failed.
  std::string value(const std::string& sql);

  MYSQL* get() { return connection_.get(); }
  // Counts connections: a statement prepared on an earlier one is worth nothing.
  unsigned generation() const { return generation_; }

  // What the last failure means for who asks us. Closes the connection when it is of no further
  // use.
  base::Error failure(unsigned code, std::string_view text);

 private:
  void close() { connection_.reset(); }
  struct CloseConnection {
    void operator()(MYSQL* connection) const { ::mysql_close(connection); }
  };
  void set_options(MYSQL* connection) const;
  base::Error login_error(unsigned code, std::string_view text) const;

  const MysqlOptions& options_;
  const std::int64_t timeout_ms_;
  std::unique_ptr<MYSQL, CloseConnection> connection_;
  unsigned generation_ = 0;
  Backoff backoff_;
};

// A statement with parameters, prepared on the link's connection when first needed.
class MysqlStatement {
 public:
  explicit MysqlStatement(std::string_view sql) : sql_(sql) {}

  // Once for each connection; execute() does it too. An error where the server would not carry the
  // statement out.
  base::Status prepare(MysqlLink& link);

  // The parameters are bytes.
  base::Status execute(MysqlLink& link, std::initializer_list<std::string_view> parameters);

  // After execute() of a SELECT of one column: the first row; kNotFound when there is none.
  base::Result<std::string> first_row(MysqlLink& link);

 private:
  struct CloseStatement {
    void operator()(MYSQL_STMT* statement) const { ::mysql_stmt_close(statement); }
  };
  base::Error failure(MysqlLink& link);

  const std::string_view sql_;
  std::unique_ptr<MYSQL_STMT, CloseStatement> statement_;
  unsigned generation_ = 0;
};

}  // namespace authserver
