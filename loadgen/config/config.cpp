#include "loadgen/config/config.h"

#include <charconv>
#include <variant>

#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "loadgen/config/checks.h"
#include "loadgen/config/numbered.h"

namespace loadgen {

namespace {

constexpr double kLeastRate = 0.001;
constexpr double kMostRate = 1'000'000;

constexpr const char* kDescription =
    "Measures a fileserver. N threads send requests and each waits for the whole reply before it "
    "sends the next one, without a pause between them.\n\nA request is to make an account (new), "
    "to "
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
  app.group("FTP", flags::Shown::kInFullHelp);
  flags::add_choice<FtpData>(app, "--ftp-data", config.ftp_data,
                             {{"epsv", FtpData::kEpsv}, {"pasv", FtpData::kPasv}},
                             "how the port for the file is asked for (ftp only); pasv is tried too "
                             "where epsv is not known");
  app.group("Load");
  flags::Option* const threads =
      flags::add_whole(app, "--threads", config.threads, 1, 100'000,
                       "number of threads; each has one request under way. With --users: as many "
                       "as cores, unless it is given");
  flags::Option* const seconds = declare_length(app, config);
  declare_schedule(app, config);
  crowd::declare(app, config.crowd, seconds, threads, config.seconds_ms);
  app.group("Bursts", flags::Shown::kInFullHelp);
  flags::add_choice<Release>(
      app, "--release", config.release,
      {{"request", Release::kRequest}, {"transfer", Release::kTransfer}},
      "when a thread asks for its next file; request: when it has the one before; transfer: a "
      "burst of --requests rounds: all threads connect, log in and wait for each other, then they "
      "ask in the same moment (get only)");
  flags::add_path(app, "--hold", config.hold,
                  "control group of the server (with version 1, its folder of the controller "
                  "freezer): its processes stop while all threads ask, and go on when all have "
                  "asked (--release transfer only)")
      ->type_name("GROUP");
  app.group("Load");
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
  app.group("Files");
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
  app.group("Basics");
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

}  // namespace

bool makes_given_accounts(const Config& config) {
  return config.request == RequestKind::kNew && has_number(config.user);
}

bool is_open_loop(const Config& config) { return config.rate_rps > 0 && !is_crowd(config); }

bool is_crowd(const Config& config) { return config.crowd.users > 0; }

bool is_burst(const Config& config) { return config.release == Release::kTransfer; }

RunKind kind_of(const Config& config) {
  if (is_crowd(config)) return RunKind::kCrowd;
  if (is_burst(config)) return RunKind::kBurst;
  return is_open_loop(config) ? RunKind::kOpen : RunKind::kClosed;
}

bool notes_transfers(const Config& config) { return is_burst(config) || !config.transfers.empty(); }

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
    app.group("Basics");
    add_request(app, config.request)->required();
    declare_run(app, config);
    declare_accounts(app, config);
    declare_files(app, config);
    app.group("Results");
    flags::add_path(
        app, "--transfers", config.transfers,
        "write a line of CSV for each transfer of a closed loop to FILE: its bytes, its "
        "moments, and why it failed; `-` is standard output (get only)");
    flags::add_path(app, "--json", config.json,
                    "write the result as JSON to FILE; `-` is standard output");
  };
  const flags::Program program{
      "loadgen",
      kDescription,
      {{"Make accounts for ten seconds", "loadgen new --threads 4"},
       {"Get a file as one user, whose password is in the variable LOADGEN_PASSWORD",
        "loadgen get --user amy --file hello.txt --threads 8 --seconds 5"},
       {"The same by HTTP, with 500 requests a second and the result as JSON",
        "loadgen get --protocol http --server 127.0.0.1:8080 --user amy --file hello.txt "
        "--threads 64 --rate 500 --json -"}},
      1,
      {"fileserver(8)", "authserver(8)"}};
  const auto exit_status =
      flags::parse(program, argc, argv, declare, [&] { return what_is_wrong_with(config); });
  if (exit_status) return *exit_status;
  if (is_crowd(config)) {
    config.connection = Connection::kKeepAlive;
    config.threads = crowd::threads_of(config.crowd, config.threads);
  }
  return config;
}

}  // namespace loadgen
