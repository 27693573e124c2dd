#include "authserver/stores/mysql_link.h"

#include <errmsg.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "net/socket_io.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// A bool in MySQL's client library, a char in MariaDB's.
using Flag = std::remove_pointer_t<decltype(MYSQL_BIND::is_null)>;

const char* null_if_empty(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// The time-out in whole seconds, as the client libraries take it, rounded up. MySQL's library tries
// each read three times, so it gets a third.
unsigned limit_s(std::int64_t timeout_ms, unsigned tries) {
  constexpr std::int64_t kMostS = 1'000'000;  // the libraries count milliseconds in 32 bits
  const std::int64_t try_ms = std::int64_t{1000} * tries;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((timeout_ms + try_ms - 1) / try_ms, 1, kMostS));
}

// Error numbers of the servers. They are the same in all versions, but no header names all of them.
enum ServerError : unsigned {
  kDiskFull = 1021,
  kTooManyConnections = 1040,
  kDatabaseAccessDenied = 1044,
  kAccessDenied = 1045,
  kNodeNotReady = 1047,  // of Galera: the node has lost the others
  kUnknownDatabase = 1049,
  kServerShutdown = 1053,
  kDuplicateEntry = 1062,
  kNormalShutdown = 1077,
  kTableAccessDenied = 1142,
  kRecordFileFull = 1114,
  kTooManyConnectionsOfUser = 1203,
  kLockWaitTimeout = 1205,
  kDeadlock = 1213,
  kReadOnly = 1290,
  kQueryInterrupted = 1317,
  kTooManyStatements = 1461,
  kConnectionKilled = 1927,
  kSecureTransportRequired = 3159,
  kClosedWhileIdle = 4031,
};

bool is_connection_lost(unsigned code) {
  const bool is_client_side = (code >= 2000 && code < 3000) || (code >= 5000 && code < 6000);
  return is_client_side || code == kServerShutdown || code == kNormalShutdown ||
         code == kConnectionKilled || code == kClosedWhileIdle;
}

// Whether asking again later may help. Otherwise somebody has to repair something first.
bool may_pass(unsigned code) {
  switch (code) {
    case kDiskFull:
    case kTooManyConnections:
    case kNodeNotReady:
    case kRecordFileFull:
    case kTooManyConnectionsOfUser:
    case kLockWaitTimeout:
    case kDeadlock:
    case kReadOnly:
    case kQueryInterrupted:
    case kTooManyStatements: return true;
    default: return is_connection_lost(code);
  }
}

// What to do about the error.
std::string_view hint_for(unsigned code) {
  switch (code) {
    case CR_CONNECTION_ERROR:
    case CR_CONN_HOST_ERROR: return "; is the server running?";
    case kDatabaseAccessDenied:
    case kAccessDenied:
    case kUnknownDatabase: return "; scripts/setup-mysql makes the user and the database";
    default: return "";
  }
}

std::string text_of(unsigned code, std::string_view text) {
  return "mysql: " + std::string(text) + " (" + std::to_string(code) + ")" +
         std::string(hint_for(code));
}

}  // namespace

base::Status MysqlLink::connect() {
  if (!backoff_.may_try_now()) return waiting_after_failure("mysql");
  const FailureTimer timer(timeout_ms_);
  const auto outcome = connect_before(base::Deadline::in_ms(timeout_ms_));
  if (outcome) {
    backoff_.succeeded();
  } else {
    backoff_.failed(timer.failure());
  }
  return outcome;
}

// Tries all hosts, or all addresses of one, beginning with the one that worked last. Each gets an
// equal share of the time.
base::Status MysqlLink::connect_before(base::Deadline deadline) {
  if (!options_.socket.empty()) return log_in(nullptr, timeout_ms_);
  const auto all = hosts(deadline);
  if (!all) return Error{ErrorCode::kUnavailable, "mysql: " + all.error().context};
  host_count_ = all->size();
  const std::size_t first = nodes_.preferred.first_of(host_count_);
  base::Status outcome = base::kDone;
  for (std::size_t tried = 0; tried < host_count_; ++tried) {
    host_index_ = (first + tried) % host_count_;
    const auto left = static_cast<std::int64_t>(host_count_ - tried);
    outcome = log_in((*all)[host_index_].c_str(), deadline.left_ms() / left);
    if (outcome) nodes_.preferred.has_worked(host_index_);
    if (outcome || !may_try_next_) return outcome;
  }
  host_.none_works();
  return outcome;
}

// The library compares the certificate with the name that it is given, so it needs the name and
// looks it up itself. The name server has just answered.
base::Result<std::vector<std::string>> MysqlLink::hosts(base::Deadline deadline) {
  const bool must_check_name = !options_.tls_ca.empty();
  const auto addresses =
      must_check_name ? host_.fresh_addresses(deadline) : host_.addresses(deadline);
  if (!addresses) return addresses.error();
  if (must_check_name) return split_hosts(options_.host);
  std::vector<std::string> hosts;
  for (const net::SocketAddress& address : *addresses) hosts.push_back(address.host());
  return hosts;
}

// `host` is null for a socket file.
base::Status MysqlLink::log_in(const char* host, std::int64_t connect_ms) {
  std::unique_ptr<MYSQL, CloseConnection> connection(::mysql_init(nullptr));
  if (connection == nullptr) return Error{ErrorCode::kUnavailable, "mysql: out of memory"};
  set_options(connection.get(), connect_ms);
  if (::mysql_real_connect(connection.get(), host, options_.user.c_str(), options_.password.c_str(),
                           options_.database.c_str(), static_cast<unsigned>(options_.port),
                           null_if_empty(options_.socket),
                           CLIENT_REMEMBER_OPTIONS | CLIENT_FOUND_ROWS) == nullptr) {
    const unsigned code = ::mysql_errno(connection.get());
    may_try_next_ = may_pass(code);
    return login_error(code, ::mysql_error(connection.get()));
  }
  // MariaDB's library goes on in plain text if the server offers no TLS, even if TLS is enforced.
  if (wants_tls() && ::mysql_get_ssl_cipher(connection.get()) == nullptr)
    return login_error(CR_SSL_CONNECTION_ERROR, "the server offers no TLS");
  connection_ = std::move(connection);
  ++generation_;
  return base::kDone;
}

bool MysqlLink::wants_tls() const {
  return options_.tls == MysqlTls::kOn || !options_.tls_ca.empty();
}

void MysqlLink::CloseConnection::operator()(MYSQL* connection) const {
  // MariaDB's library never frees its copy of this file name. So connect() keeps the options of a
  // connection that failed, and they are cleared here.
  ::mysql_options(connection, MYSQL_SERVER_PUBLIC_KEY, nullptr);
  ::mysql_close(connection);
}

void MysqlLink::set_options(MYSQL* connection, std::int64_t connect_ms) const {
  const unsigned connect_limit_s = limit_s(connect_ms, 1);
  ::mysql_options(connection, MYSQL_OPT_CONNECT_TIMEOUT, &connect_limit_s);
  if (!options_.tls_ca.empty())
    ::mysql_ssl_set(connection, nullptr, nullptr, options_.tls_ca.c_str(), nullptr, nullptr);
#ifdef MARIADB_BASE_VERSION
  const unsigned io_limit_s = limit_s(timeout_ms_, 1);
  const Flag verify = options_.tls_ca.empty() ? 0 : 1;
  const Flag enforce = wants_tls() ? 1 : 0;
  ::mysql_options(connection, MYSQL_OPT_SSL_ENFORCE, &enforce);
  // Without this the library obeys a server that asks for the password in clear text. MySQL's own
  // library refuses that by default.
  ::mysql_optionsv(connection, MARIADB_OPT_RESTRICTED_AUTH,
                   "mysql_native_password,caching_sha2_password,sha256_password,client_ed25519");
  ::mysql_options(connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
#else
  const unsigned io_limit_s = limit_s(timeout_ms_, 3);
  const unsigned with_tls = options_.tls_ca.empty() ? SSL_MODE_REQUIRED : SSL_MODE_VERIFY_IDENTITY;
  const unsigned mode = wants_tls() ? with_tls : SSL_MODE_DISABLED;
  ::mysql_options(connection, MYSQL_OPT_SSL_MODE, &mode);
  const Flag ask_for_key = true;
  ::mysql_options(connection, MYSQL_OPT_GET_SERVER_PUBLIC_KEY, &ask_for_key);
#endif
  if (!options_.server_public_key.empty()) {
    ::mysql_options(connection, MYSQL_SERVER_PUBLIC_KEY, options_.server_public_key.c_str());
  }
  // A hostile server could ask the library for any file that we may read (LOAD DATA LOCAL). Not
  // every build of the libraries refuses that by default.
  const unsigned local_infile = 0;
  ::mysql_options(connection, MYSQL_OPT_LOCAL_INFILE, &local_infile);
  // A node of Galera has what another one has committed some moments later. So it waits before each
  // look-up until it has everything, and a removed account is gone everywhere.
  if (nodes_.are_galera)
    ::mysql_options(connection, MYSQL_INIT_COMMAND, "SET SESSION wsrep_sync_wait = 1");
  ::mysql_options(connection, MYSQL_OPT_READ_TIMEOUT, &io_limit_s);
  ::mysql_options(connection, MYSQL_OPT_WRITE_TIMEOUT, &io_limit_s);
  // Without this the library uses a socket file for the host "localhost", whatever the port, and
  // ignores --mysql-socket for any other host.
  const unsigned protocol = options_.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  ::mysql_options(connection, MYSQL_OPT_PROTOCOL, &protocol);
}

base::Error MysqlLink::login_error(unsigned code, std::string_view text) const {
  std::string hint;
  if (code == kSecureTransportRequired)
    hint = "; the server requires TLS (--mysql-tls on, or --mysql-tls-ca FILE)";
  // With a key that is not the server's, the library only reports an unknown error.
  if (code == CR_UNKNOWN_ERROR || text.find("caching_sha2") != std::string_view::npos) {
    hint =
        "; this login needs TLS (--mysql-tls on) or the server's RSA key "
        "(--mysql-server-public-key FILE)";
  }
  if (code == CR_SSL_CONNECTION_ERROR && !options_.tls_ca.empty()) {
    hint = "; the server's certificate must be signed by " + options_.tls_ca + " and name the host";
  }
  const std::string where = options_.socket.empty()
                                ? options_.host + ":" + std::to_string(options_.port)
                                : options_.socket;
  return {ErrorCode::kUnavailable, text_of(code, text) + " at " + where + hint};
}

void MysqlLink::close_if_stale() {
  if (is_connected() && !net::is_quiet_and_open(static_cast<int>(get()->net.fd))) close();
}

base::Status MysqlLink::run(const std::string& sql,
                            const std::function<void(MYSQL_ROW, unsigned long*)>& take_row) {
  if (!is_connected()) return Error{ErrorCode::kUnavailable, "mysql: the connection was lost"};
  if (::mysql_real_query(get(), sql.data(), sql.size()) != 0) {
    return failure(::mysql_errno(get()), ::mysql_error(get()));
  }
  std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> result(::mysql_use_result(get()),
                                                                    &::mysql_free_result);
  if (result == nullptr) return base::kDone;
  while (MYSQL_ROW row = ::mysql_fetch_row(result.get())) {
    if (take_row) take_row(row, ::mysql_fetch_lengths(result.get()));
  }
  result.reset();
  if (::mysql_errno(get()) != 0) return failure(::mysql_errno(get()), ::mysql_error(get()));
  return base::kDone;
}

base::Status MysqlLink::end_transaction() {
  if (!is_connected() || (get()->server_status & SERVER_STATUS_IN_TRANS) == 0) return base::kDone;
  return turn_autocommit_on();
}

base::Status MysqlLink::turn_autocommit_on() {
  if (::mysql_autocommit(get(), true) != 0)
    return failure(::mysql_errno(get()), ::mysql_error(get()));
  return base::kDone;
}

std::string MysqlLink::value(const std::string& sql) {
  std::string found;
  const auto take = [&](MYSQL_ROW row, const unsigned long* sizes) {
    if (row[0] != nullptr) found.assign(row[0], sizes[0]);
  };
  return run(sql, take) ? found : std::string();
}

bool MysqlLink::has_given_way() const { return last_failure_ == kDeadlock; }

bool MysqlLink::has_waited_for_lock() const { return last_failure_ == kLockWaitTimeout; }

base::Error MysqlLink::failure(unsigned code, std::string_view text) {
  last_failure_ = code;
  Error error{may_pass(code) ? ErrorCode::kUnavailable : ErrorCode::kInternal, text_of(code, text)};
  if (code == kTableAccessDenied) error.context += "; run scripts/setup-mysql, which grants it";
  // A node that has lost the others, or a replica, would refuse the next request as well.
  const bool is_wrong_host = host_count_ > 1 && (code == kNodeNotReady || code == kReadOnly);
  if (is_wrong_host) nodes_.preferred.has_refused(host_index_);
  if (is_wrong_host || is_connection_lost(code)) close();
  return error;
}

base::Status MysqlStatement::execute(MysqlLink& link,
                                     std::initializer_list<std::string_view> parameters) {
  if (const auto prepared = prepare(link); !prepared) return prepared.error();
  std::array<MYSQL_BIND, 3> binds{};
  std::size_t count = 0;
  for (const std::string_view parameter : parameters) {
    MYSQL_BIND& bind = binds.at(count++);
    bind.buffer_type = MYSQL_TYPE_BLOB;
    bind.buffer = const_cast<char*>(parameter.data());
    bind.buffer_length = parameter.size();
  }
  if (::mysql_stmt_bind_param(statement_.get(), binds.data()) != 0) return failure(link);
  if (::mysql_stmt_execute(statement_.get()) != 0) {
    if (::mysql_stmt_errno(statement_.get()) == kDuplicateEntry)
      return Error{ErrorCode::kExists, "the user exists"};
    return failure(link);
  }
  return base::kDone;
}

base::Result<std::string> MysqlStatement::first_row(MysqlLink& link) {
  std::array<char, 256> bytes;
  unsigned long size = 0;
  MYSQL_BIND bind{};
  bind.buffer_type = MYSQL_TYPE_BLOB;
  bind.buffer = bytes.data();
  bind.buffer_length = bytes.size();
  bind.length = &size;
  if (::mysql_stmt_bind_result(statement_.get(), &bind) != 0) return failure(link);
  const int fetched = ::mysql_stmt_fetch(statement_.get());
  if (fetched == MYSQL_NO_DATA) return Error{ErrorCode::kNotFound, "no such user"};
  if (fetched == MYSQL_DATA_TRUNCATED)
    return Error{ErrorCode::kInternal, "mysql: the record has more than 255 bytes"};
  if (fetched != 0) return failure(link);
  std::string row(bytes.data(), size);
  // Drops the rest of this answer, so that nothing of it is read by the next request.
  if (::mysql_stmt_free_result(statement_.get()) != 0) return failure(link);
  return row;
}

base::Status MysqlStatement::prepare(MysqlLink& link) {
  if (statement_ != nullptr && generation_ == link.generation()) return base::kDone;
  statement_.reset(::mysql_stmt_init(link.get()));
  if (statement_ == nullptr) return Error{ErrorCode::kUnavailable, "mysql: out of memory"};
  generation_ = link.generation();
  if (::mysql_stmt_prepare(statement_.get(), sql_.data(), sql_.size()) != 0) return failure(link);
  return base::kDone;
}

base::Error MysqlStatement::failure(MysqlLink& link) {
  // If the connection is lost while a row is read, MariaDB's library sets only its error.
  const bool is_of_statement = ::mysql_stmt_errno(statement_.get()) != 0;
  const unsigned code =
      is_of_statement ? ::mysql_stmt_errno(statement_.get()) : ::mysql_errno(link.get());
  const std::string text =
      is_of_statement ? ::mysql_stmt_error(statement_.get()) : ::mysql_error(link.get());
  statement_.reset();  // before the connection that it was prepared on
  return link.failure(code, text);
}

}  // namespace authserver
