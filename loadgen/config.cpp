#include "loadgen/config.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <variant>

#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "loadgen/workload.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

namespace loadgen {

namespace {

// What is wrong with the flags, in one line; empty if they are acceptable.
using Wrong = std::optional<std::string>;

constexpr double kLeastRate = 0.001;
constexpr double kMostRate = 1'000'000;

constexpr const char* kDescription =
    "Measures a fileserver. N threads send requests and each waits for the whole reply before it "
    "sends the next one, without a pause between them. A request is to make an account (new), to "
    "get "
    "a file (get) or, with --protocol http, to put one (put). The response time of a request ends "
    "with the last byte of its reply. With "
    "--connection per-request it includes closing the previous connection and connecting. With "
    "--connection keep-alive it starts when the first line is sent. With --rate, requests are sent "
    "by a schedule instead, and the response time starts when the request is due. SIGINT and "
    "SIGTERM end the run "
    "early: the results so far are reported and the exit status is 130 or 143. A second signal "
    "ends loadgen at once, without results.";

flags::Option* add_request(flags::App& app, RequestKind& target) {
  const auto take = [&target](const std::string& text) {
    for (const RequestKind kind : {RequestKind::kNew, RequestKind::kGet, RequestKind::kPut}) {
      if (text != word_of(kind)) continue;
      target = kind;
      return true;
    }
    return false;
  };
  return app.add_parsed("request", "new|get|put", "one of new, get, put",
                        "new: make accounts; get: get files; put: put files, whose names no other "
                        "run uses",
                        take);
}

// Returns --seconds.
flags::Option* declare_length(flags::App& app, Config& config) {
  flags::Option* const seconds =
      flags::add_seconds(app, "--seconds", config.seconds_ms, "how long to measure", 1);
  flags::Option* const requests =
      flags::add_whole(app, "--requests", config.requests, 1, 1'000'000'000,
                       "measure this many requests per thread instead; failed requests count");
  requests->default_str("");
  flags::make_alternatives({seconds, [&config] { config.seconds_ms = Config{}.seconds_ms; }},
                           {requests, [&config] { config.requests = 0; }});
  return seconds;
}

flags::Option* add_rate(flags::App& app, double& target) {
  const auto take = [&target](const std::string& text) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) return false;
    if (!(value >= kLeastRate && value <= kMostRate)) return false;
    target = value;
    return true;
  };
  return app.add_parsed("--rate", "R", "a number from 0.001 to 1000000",
                        "open loop: R requests a second are due, whether or not earlier ones were "
                        "answered. At most --threads are under way; others wait, and their time "
                        "counts. With --users: each user reads R bytes a second",
                        take);
}

void declare_schedule(flags::App& app, Config& config) {
  add_rate(app, config.rate_rps);
  flags::add_choice<ArrivalKind>(
      app, "--arrivals", config.arrivals,
      {{"fixed", ArrivalKind::kFixed}, {"poisson", ArrivalKind::kPoisson}},
      "gaps between the requests of --rate; fixed: all equal; poisson: at random, as those of many "
      "users who do not know of each other");
  flags::add_whole(app, "--seed", config.seed, 0, 1'000'000'000,
                   "chooses the gaps of --arrivals poisson; the same seed gives the same gaps");
}

void declare_run(flags::App& app, Config& config) {
  flags::add_address(
      app, "--server", config.server,
      "address of the fileserver; the connections go to all addresses of a name in turn");
  flags::add_choice<Protocol>(
      app, "--protocol", config.protocol,
      {{"native", Protocol::kNative}, {"http", Protocol::kHttp}, {"ftp", Protocol::kFtp}},
      "native: the fileserver's own; http: get is GET /NAME with Basic credentials, new is POST "
      "/-/accounts, put is PUT; ftp: get is RETR, for FTP servers of others");
  flags::add_choice<FtpData>(app, "--ftp-data", config.ftp_data,
                             {{"epsv", FtpData::kEpsv}, {"pasv", FtpData::kPasv}},
                             "how the port for the file is asked for (ftp only); pasv is tried too "
                             "where epsv is not known");
  flags::Option* const threads =
      flags::add_whole(app, "--threads", config.threads, 1, 100'000,
                       "number of threads; each has one request under way. With --users: as many "
                       "as cores, unless it is given");
  flags::Option* const seconds = declare_length(app, config);
  declare_schedule(app, config);
  crowd::declare(app, config.crowd, seconds, threads, config.seconds_ms);
  flags::add_seconds(app, "--warmup", config.warmup_ms,
                     "seconds to run before measuring; these requests do not count");
  flags::add_choice<Connection>(
      app, "--connection", config.connection,
      {{"per-request", Connection::kPerRequest}, {"keep-alive", Connection::kKeepAlive}},
      "per-request: a new connection for each request; keep-alive: one connection per thread. Both "
      "send the credentials with each request, but ftp only with each connection");
  app.add_flag("--pipeline", config.is_pipelined,
               "send `get:` and the file name in one write, without waiting for the first reply "
               "(native only: over HTTP they are one message)");
  flags::add_seconds(app, "--timeout", config.timeout_ms,
                     "time limit of one request; after it the request fails with `timeout`", 1);
}

void declare_files(flags::App& app, Config& config) {
  app.add_option("--file", config.file,
                 "file to get (get only); --unique replaces %d in it by a number")
      ->type_name("NAME");
  flags::add_whole(app, "--unique", config.unique, 1, 1'000'000'000,
                   "number of files per thread: thread t (from 0) gets the files with the numbers "
                   "t*COUNT+1 to (t+1)*COUNT, in order, and then starts over")
      ->type_name("COUNT")
      ->default_str("");
  flags::add_size(app, "--size", config.size_bytes, "size of the files to put (put only)");
  app.add_flag("--once", config.asks_once,
               "get no file twice: the run ends when a thread has asked for all its COUNT files");
  app.add_flag("--verify", config.must_verify,
               "compare every file with its copy; the response time includes this");
  flags::add_path(app, "--verify-root", config.verify_root, "folder with the copies for --verify")
      ->type_name("DIR");
  flags::add_path(app, "--save", config.save,
                  "save received files in this folder; the response time includes this")
      ->type_name("DIR");
}

void declare_accounts(flags::App& app, Config& config) {
  app.add_option("--user", config.user,
                 "user name; new needs none, and then makes names that no other run makes. %d in "
                 "it is replaced by a number from 1 to --accounts: get draws one for each request; "
                 "new makes exactly these accounts, each once, and then ends")
      ->type_name("USER");
  app.add_option("--password", config.password,
                 "password; %d in it is replaced by the number of the user. Prefer the variable, "
                 "because other users of the machine can see command lines")
      ->type_name("PASSWORD");
  flags::add_whole(app, "--accounts", config.accounts, 1, 1'000'000'000,
                   "number of accounts that %d in --user stands for")
      ->type_name("COUNT");
}

// Checks the longest user name and password that the run will send.
Wrong check_credentials(const Config& config) {
  if (config.user.empty()) return fmt::format("{} needs --user", word_of(config.request));
  if (!wire::is_valid_user(numbered(config.user, config.accounts))) {
    return fmt::format("--user: {} is not 1 to 64 bytes of A-Z a-z 0-9 . _ - @ +",
                       base::log::quoted(config.user));
  }
  if (config.password.empty()) {
    return fmt::format(
        "{} needs --password, or the variable LOADGEN_PASSWORD",
        config.request == RequestKind::kNew ? "new with %d in --user" : word_of(config.request));
  }
  if (!wire::is_valid_password(numbered(config.password, config.accounts)))
    return "--password: a password has 1 to 128 bytes, none of them a control byte";
  return {};
}

Wrong check_accounts(const Config& config) {
  if (config.accounts > 1 && !has_number(config.user)) return "--accounts needs %d in --user";
  const bool sends_them = config.request != RequestKind::kNew || makes_given_accounts(config);
  return sends_them ? check_credentials(config) : Wrong();
}

Wrong check_native_name(const std::string& longest) {
  const bool is_name = std::holds_alternative<wire::FileName>(wire::parse_client_line(longest));
  if (!is_name || longest.size() >= wire::kMaxLineBytes) {
    return fmt::format(
        "--file: {} cannot be requested; a name has at most {} bytes, no control bytes, and does "
        "not look like another request",
        base::log::quoted(longest), wire::kMaxLineBytes - 1);
  }
  return {};
}

// The server decides what else is no name. Of the bytes of a target, at most three are needed for
// one of the name.
Wrong check_http_name(const std::string& longest) {
  constexpr std::size_t kMaxNameBytes = 2'700;
  if (longest.size() <= kMaxNameBytes) return {};
  return fmt::format("--file: {} cannot be requested; a name has at most {} bytes",
                     base::log::quoted(longest), kMaxNameBytes);
}

Wrong check_file(const Config& config) {
  if (config.file.empty()) return "get needs --file";
  if (has_number(config.file) && config.unique == 0) return "--file: a name with %d needs --unique";
  if (config.asks_once && config.unique == 0) return "--once needs --unique";
  if (!has_number(config.file) && config.unique != 0) return "--unique needs %d in --file";
  const std::string longest =
      numbered(config.file, std::int64_t{connections_of(config)} * config.unique);
  return config.protocol == Protocol::kHttp ? check_http_name(longest) : check_native_name(longest);
}

Wrong check_save(const Config& config) {
  if (config.save.empty()) return {};
  for (const auto& part : std::filesystem::path(config.file)) {
    if (part == "..") return "--save: the name in --file contains `..` and would leave the folder";
  }
  return {};
}

Wrong check_get(const Config& config) {
  if (Wrong wrong = check_file(config)) return wrong;
  if (config.must_verify && config.verify_root.empty()) return "--verify needs --verify-root";
  return check_save(config);
}

Wrong check_protocol(const Config& config) {
  const bool is_native = config.protocol == Protocol::kNative;
  if (config.request == RequestKind::kPut && config.protocol != Protocol::kHttp)
    return "put needs --protocol http";
  if (config.protocol == Protocol::kFtp) {
    if (config.request == RequestKind::kNew) return "new needs --protocol native or http";
    if (config.server.is_unix()) return "--protocol ftp needs a server with a port";
    if (config.accounts > 1 && config.connection == Connection::kKeepAlive)
      return "--accounts needs --connection per-request with ftp: a connection logs in once";
  }
  if (config.is_pipelined && !is_native) return "--pipeline needs --protocol native";
  return {};
}

Wrong check_crowd(const Config& config) {
  if (!is_crowd(config)) return {};
  if (config.request != RequestKind::kGet) return "--users needs get";
  if (config.rate_rps < 1) return "--users needs --rate, the bytes a second of each user";
  if (config.requests > 0) return "--users needs --seconds or --until-stable, not --requests";
  if (config.must_verify || !config.save.empty()) return "--users does not compare or save files";
  if (config.asks_once || config.warmup_ms > 0) return "--users has no --once and no --warmup";
  const std::int64_t buffer_bytes = config.crowd.receive_buffer_bytes;
  constexpr std::int64_t kMostBufferBytes = std::int64_t{1} << 30;
  if (buffer_bytes < 1 || buffer_bytes > kMostBufferBytes)
    return "--receive-buffer: from 1 byte to 1G";
  return {};
}

Wrong check_schedule(const Config& config) {
  if (!is_open_loop(config)) return {};
  if (config.requests > 0) return "--rate needs --seconds instead of --requests";
  if (config.asks_once) return "--once needs a closed loop, without --rate";
  if (makes_given_accounts(config))
    return "new with %d in --user needs a closed loop, without --rate";
  return {};
}

Wrong check(const Config& config) {
  if (Wrong wrong = check_crowd(config)) return wrong;
  if (Wrong wrong = check_schedule(config)) return wrong;
  if (Wrong wrong = check_protocol(config)) return wrong;
  if (Wrong wrong = check_accounts(config)) return wrong;
  switch (config.request) {
    case RequestKind::kNew: return {};
    case RequestKind::kGet: return check_get(config);
    case RequestKind::kPut: break;
  }
  return config.size_bytes > 0 ? Wrong() : "put needs --size, which is at least 1";
}

}  // namespace

bool makes_given_accounts(const Config& config) {
  return config.request == RequestKind::kNew && has_number(config.user);
}

bool is_open_loop(const Config& config) { return config.rate_rps > 0 && !is_crowd(config); }

bool is_crowd(const Config& config) { return config.crowd.users > 0; }

int connections_of(const Config& config) {
  return is_crowd(config) ? config.crowd.users : config.threads;
}

unsigned sockets_of(const Config& config) { return config.protocol == Protocol::kFtp ? 2 : 1; }

bool ends_by_number(const Config& config) {
  return config.requests > 0 || makes_given_accounts(config);
}

const char* word_of(RequestKind request) {
  switch (request) {
    case RequestKind::kNew: return "new";
    case RequestKind::kGet: return "get";
    case RequestKind::kPut: return "put";
  }
  return "";
}

const char* word_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kNative: return "native";
    case Protocol::kHttp: return "http";
    case Protocol::kFtp: return "ftp";
  }
  return "";
}

const char* word_of(Connection connection) {
  return connection == Connection::kPerRequest ? "per-request" : "keep-alive";
}

const char* word_of(ArrivalKind arrivals) {
  return arrivals == ArrivalKind::kPoisson ? "poisson" : "fixed";
}

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  const auto declare = [&](flags::App& app) {
    add_request(app, config.request)->required();
    declare_run(app, config);
    declare_accounts(app, config);
    declare_files(app, config);
    flags::add_path(app, "--json", config.json,
                    "write the result as JSON to FILE; `-` is standard output");
  };
  const auto exit_status =
      flags::parse({"loadgen", kDescription}, argc, argv, declare, [&] { return check(config); });
  if (exit_status) return *exit_status;
  if (is_crowd(config)) config.connection = Connection::kKeepAlive;
  return config;
}

}  // namespace loadgen
