// One connection to MySQL or MariaDB, and the statements prepared on it. Only these files and
// mysql_store.cpp include the client library.
#pragma once

#include <mysql.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/stores/mysql_options.h"
#include "authserver/stores/retry.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/resolved_name.h"

namespace authserver {

// One thread. Closes the connection after a time-out and after any other failure that leaves its
// state unknown. So a late answer is never taken for the answer to the next request.
class MysqlLink {
 public:
  // All that is borrowed must outlive it. Does not connect yet.
  MysqlLink(const MysqlOptions& options, net::ResolvedName& host, MysqlNodes& nodes,
            std::int64_t timeout_ms)
      : options_(options), host_(host), nodes_(nodes), timeout_ms_(timeout_ms) {}

  // Connects and logs in. kUnavailable if the server cannot be reached or refuses the login, and at
  // once while the last failure is too recent (Backoff).
  base::Status connect();
  bool is_connected() const { return connection_ != nullptr; }

  // Closes a kept connection that the server has closed meanwhile, or that has bytes waiting which
  // nobody asked for. Nothing is pending on it, so it may be replaced.
  void close_if_stale();

  // Statements that were prepared on the connection are invalid then.
  void close() { connection_.reset(); }

  // Runs a statement without parameters. Calls `take_row` with the columns and the lengths of each
  // row. Columns are null for SQL's NULL, and borrowed for the time of the call.
  base::Status run(const std::string& sql,
                   const std::function<void(MYSQL_ROW, unsigned long*)>& take_row = {});

  // Called after each statement and its rows. If the server left a transaction open (autocommit=0),
  // commits it and turns autocommit on. The flag in the server's greeting is not reliable, so this
  // is checked after each statement.
  base::Status end_transaction();

  // Turns autocommit on, which commits an open transaction. Requires: is_connected().
  base::Status turn_autocommit_on();

  // The first column of a statement that has one row. Empty if it has none, or if it failed.
  std::string value(const std::string& sql);

  // The library's handle, borrowed; null while not connected.
  MYSQL* get() { return connection_.get(); }

  // The number of connections made. A statement that was prepared on an earlier one is invalid.
  unsigned generation() const { return generation_; }

  // Turns an error of the library into ours: kUnavailable if asking again may help, else kInternal.
  // Closes the connection if the error shows that it is lost, or that another host may do better.
  base::Error failure(unsigned code, std::string_view text);

  // What the last failure() was about. The server has taken back the transaction in favour of
  // another one (a deadlock, or a conflict on another node of Galera), or it has taken back the
  // statement, because it waited too long for another transaction.
  bool has_given_way() const;
  bool has_waited_for_lock() const;

 private:
  struct CloseConnection {
    void operator()(MYSQL* connection) const;
  };
  bool wants_tls() const;
  base::Status connect_before(base::Deadline deadline);
  base::Result<std::vector<std::string>> hosts(base::Deadline deadline);
  base::Status log_in(const char* host, std::int64_t connect_ms);
  void set_options(MYSQL* connection, std::int64_t connect_ms) const;
  // Adds which flag may help, where the server's text does not say it.
  base::Error login_error(unsigned code, std::string_view text) const;

  const MysqlOptions& options_;
  net::ResolvedName& host_;
  MysqlNodes& nodes_;
  const std::int64_t timeout_ms_;
  std::unique_ptr<MYSQL, CloseConnection> connection_;
  std::size_t host_index_ = 0;  // of the host that is connected
  std::size_t host_count_ = 1;
  bool may_try_next_ = false;  // after the last log_in()
  unsigned generation_ = 0;
  unsigned last_failure_ = 0;
  Backoff backoff_;
};

// A statement with parameters. One thread. Each call takes the same link, which must not be
// destroyed before the statement.
class MysqlStatement {
 public:
  // `sql` must outlive the statement. Does not prepare it yet.
  explicit MysqlStatement(std::string_view sql) : sql_(sql) {}

  // Prepares the statement unless that was done on this connection. Fails if the table is missing
  // or the user may not do this. Requires: link.is_connected().
  base::Status prepare(MysqlLink& link);

  // Prepares the statement if need be and executes it. At most three parameters, which are sent as
  // bytes. kExists for a duplicate key. Requires: link.is_connected().
  base::Status execute(MysqlLink& link, std::initializer_list<std::string_view> parameters);

  // How many rows an UPDATE or DELETE has found, whether it changed them or not. Requires:
  // execute() has just succeeded.
  std::uint64_t rows_found() const { return ::mysql_stmt_affected_rows(statement_.get()); }

  // The first row after execute() of a SELECT of one column; kNotFound if there is none.
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
