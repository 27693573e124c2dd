#include <algorithm>
#include <cmath>
#include <variant>

#include "base/host.h"
#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "loadgen/config/channels.h"
#include "loadgen/config/checks.h"
#include "loadgen/config/choices.h"
#include "loadgen/config/config.h"
#include "loadgen/config/decimal.h"
#include "loadgen/config/effects.h"
#include "loadgen/config/loops.h"
#include "loadgen/config/mixed_work.h"
#include "loadgen/config/share.h"
#include "loadgen/config/think.h"

namespace loadgen {

namespace {

void declare_request(flags::App& app, RequestKind& target) {
  const auto take = [&target](const std::string& text) {
    for (const RequestKind kind : {RequestKind::kNew, RequestKind::kGet, RequestKind::kPut}) {
      if (text != word_of(kind)) continue;
      target = kind;
      return true;
    }
    return false;
  };
  app.add_parsed("request", "new|get|put", "one of new, get, put",
                 "new: make accounts; get: get files; put: put files, whose names no other run "
                 "uses unless --file gives one",
                 take)
      ->required();
}

void declare_basics(flags::App& app, Config& config) {
  app.group("Basics");
  declare_request(app, config.request);
  flags::add_address(
      app, "--server", config.server,
      "address of the fileserver; the connections go to all addresses of a name in turn");
  flags::add_choice<Protocol>(
      app, "--protocol", config.protocol,
      choices({Protocol::kNative, Protocol::kHttp, Protocol::kFtp}),
      "what the server speaks; native: the fileserver's own protocol; http: get is GET /NAME with "
      "Basic credentials, new is POST /-/accounts, put is PUT; ftp: get is RETR, put is STOR, for "
      "FTP servers of others");
  app.add_option("--user", config.user,
                 "user name; new needs none, and then makes names that no other run makes. %d in "
                 "it is replaced by a number from 1 to --accounts: get draws one for each request; "
                 "new makes exactly the accounts that it names, each once, and then ends")
      ->type_name("USER");
  app.add_option("--password", config.password,
                 "password of --user; %d in it is replaced by the number of the user. Prefer the "
                 "variable, because other users of the machine can see command lines")
      ->type_name("PASSWORD");
  flags::Option* const threads =
      flags::add_whole(app, "--threads", config.threads, 1, 100'000,
                       "number of threads; each has one request under way. With --users: as many "
                       "as cores, unless it is given");
  flags::forget_when_taken(threads, [&config] { config.has_threads = true; });
  flags::add_whole(app, "--users", config.users, 1, 1'000'000,
                   "so many users share the threads, each with one request under way: for many "
                   "connections; with --rate: at most so many requests are under way; with "
                   "--pace: a crowd")
      ->type_name("COUNT")
      ->default_str("");
}

// The threads of a run with users.
int threads_of(const Config& config) {
  const int threads =
      config.has_threads ? config.threads : static_cast<int>(std::ceil(base::usable_cores()));
  return std::clamp(threads, 1, config.users);
}

// From here on, the threads or users are those of this tester.
void take_share(Config& config) {
  config.load_clients = testers_of(config);
  int& clients = config.users > 0 ? config.users : config.threads;
  clients = config.share.count_of(clients);
}

void declare_files(flags::App& app, Config& config) {
  app.group("What to request");
  app.add_option("--file", config.file,
                 "file to get; --unique or --files replaces %d in it by a number. put: where all "
                 "uploads go, with the number of the thread or user for %d")
      ->type_name("NAME");
  flags::add_whole(app, "--unique", config.unique, 1, 1'000'000'000,
                   "number of files per thread; thread t (from 0) gets the files with the numbers "
                   "t*COUNT+1 to (t+1)*COUNT, in order, and then starts over")
      ->type_name("COUNT")
      ->default_str("");
  app.add_flag("--once", config.asks_once,
               "get no file twice; the run ends when a thread has asked for all its COUNT files");
  flags::add_size(app, "--size", config.size_bytes, "size of the files to put (put only)");
  flags::add_whole(app, "--accounts", config.accounts, 1, 1'000'000'000,
                   "number of accounts that %d in --user stands for")
      ->type_name("COUNT");
  app.add_flag("--verify", config.must_verify,
               "compare every file with its copy; the response time includes this");
  flags::add_path(app, "--verify-root", config.verify_root, "folder with the copies for --verify")
      ->type_name("DIR");
  flags::add_path(app, "--save", config.save,
                  "save received files in this folder; the response time includes this")
      ->type_name("DIR");
}

void declare_start(flags::App& app, Config& config) {
  constexpr double kLatest = 10'000'000'000;  // what is later is in milliseconds
  add_decimal(app, "--start-at", "UNIX_SECONDS", "seconds since 1970, such as 1790000000.5",
              "begin at this time of the wall clock, with the warm-up if there is one; a time that "
              "has passed: at once. `start_late_s` in the JSON says how late it was",
              0.001, kLatest, config.start_at_unix_s);
}

// Returns --seconds.
flags::Option* declare_length(flags::App& app, Config& config) {
  app.group("How much");
  flags::Option* const seconds =
      flags::add_seconds(app, "--seconds", config.seconds_ms, "how long to measure", 1);
  flags::Option* const requests =
      flags::add_whole(app, "--requests", config.requests, 1, 1'000'000'000,
                       "measure this many requests per thread instead; failed requests count");
  requests->default_str("");
  flags::make_alternatives({seconds, [&config] { config.seconds_ms = Config{}.seconds_ms; }},
                           {requests, [&config] { config.requests = 0; }});
  flags::forget_when_taken(seconds, [&config] { config.has_seconds = true; });
  flags::add_seconds(app, "--life", config.life_ms,
                     "end each thread of a closed loop after SECONDS, and the run with the last "
                     "one, or by --seconds; `plateau` in the JSON is the time in which all run, "
                     "see --ramp",
                     1)
      ->default_str("");
  declare_start(app, config);
  declare_share(app, config.share);
  flags::add_seconds(app, "--warmup", config.warmup_ms,
                     "seconds to run before measuring; these requests do not count");
  flags::add_seconds(app, "--timeout", config.timeout_ms,
                     "time limit of one request; after it the request fails with `timeout`", 1);
  return seconds;
}

void declare_connections(flags::App& app, Config& config) {
  app.group("Connections");
  flags::add_choice<Connection>(
      app, "--connection", config.connection,
      choices({Connection::kPerRequest, Connection::kKeepAlive}),
      "a new connection for each request, or one for each thread; both send the credentials with "
      "each request, but ftp only with each connection");
  app.add_flag("--pipeline", config.is_pipelined,
               "send `get:` and the file name in one write, without waiting for the first reply "
               "(native only); over HTTP they are one message");
  flags::add_choice<FtpData>(app, "--ftp-data", config.ftp_data,
                             choices({FtpData::kEpsv, FtpData::kPasv}),
                             "how the port for the file is asked for (ftp only); pasv is tried too "
                             "where epsv is not known");
}

void declare_tls(flags::App& app, Config& config) {
  app.group("TLS", flags::Shown::kInFullHelp);
  app.add_flag("--tls", config.is_encrypted,
               "encrypt the connections (native and http); not with --pace. The response time of "
               "a request that connects includes the handshake");
  flags::add_path(app, "--tls-ca", config.tls_ca,
                  "believe servers with a certificate of the authorities in FILE; without it, of "
                  "those of the system");
  app.add_flag("--tls-insecure", config.believes_anybody,
               "believe a server whatever certificate it has");
  flags::add_choice<bool>(
      app, "--tls-resume", config.resumes, {{"on", true}, {"off", false}},
      "whether a new connection resumes an earlier one of its thread, or of its user");
}

void declare_output(flags::App& app, Config& config) {
  app.group("Output");
  flags::add_path(app, "--json", config.json,
                  "write the result as JSON to FILE; `-` is standard output. See also "
                  "`loadgen merge --help`");
  flags::add_path(app, "--distribution", config.distribution,
                  "write all percentiles of the response times to FILE; in the text form of "
                  "HdrHistogram (.hgrm); `-` is standard output");
  flags::add_path(
      app, "--transfers", config.transfers,
      "write a line of CSV for each transfer to FILE (get and put, but not of a crowd); it has its "
      "bytes, its moments, and why it failed; `-` is standard output");
  flags::add_optional_address(
      app, "--telemetry", config.telemetry,
      "compare the requests that loadgen counts with those that the fileserver counts, which tells "
      "them at its --telemetry-listen");
  flags::add_path(app, "--series", config.series,
                  "write a line of CSV for each second of the run to FILE, while it goes on; bytes "
                  "count when they move; `-` is standard output");
}

void declare(flags::App& app, Config& config) {
  declare_basics(app, config);
  declare_files(app, config);
  flags::Option* const seconds = declare_length(app, config);
  declare_output(app, config);
  declare_closed_loop(app, config.think);
  declare_open_loop(app, config);
  declare_mixed_work(app, config);
  declare_connections(app, config);
  declare_tls(app, config);
  declare_channels(app, config.channels);
  declare_bursts(app, config);
  crowd::declare(app, config.crowd, seconds, config.seconds_ms);
}

flags::Program program() {
  return {
      "loadgen",
      "Measures a fileserver: how many requests it answers in a second, and how long each "
      "takes.\n\n"
      "N threads send requests and each waits for the whole reply before it sends the next one, "
      "without a pause between them unless --think asks for one. A request is to make an account "
      "(new), to get a file (get) "
      "or, with --protocol http or ftp, to put one (put).\n\n"
      "The response time of a request ends with the last byte of its reply. With --connection "
      "per-request it includes closing the previous connection and connecting. With --connection "
      "keep-alive it starts when the first line is sent. With --rate, requests are sent by a "
      "schedule instead, and the response time starts when the request is due.\n\n"
      "SIGINT and SIGTERM end the run early: the results so far are reported and the exit status "
      "is 130 or 143. A second signal ends loadgen at once, without results. A run that is not "
      "valid, or in which a request failed, ends with status 1.\n\n"
      "loadgen merge makes one result of those of several testers (loadgen merge --help).",
      {{"Make the accounts user1 to user100",
        "loadgen new --user user%d --accounts 100 --password secret"},
       {"Get one file again and again for ten seconds, with eight threads",
        "loadgen get --user user1 --password secret --file 1KB1.txt --threads 8"},
       {"Send 500 requests a second by HTTP, and keep the result",
        "loadgen get --server 127.0.0.1:8080 --protocol http --user user1 --password secret --file "
        "1KB1.txt --rate 500 --threads 64 --json result.json"}},
      1,
      {"fileserver(8)", "authserver(8)", "wrk(1)", "ab(1)"}};
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  const auto exit_status = flags::parse(
      program(), argc, argv, [&](flags::App& app) { declare(app, config); },
      [&](flags::App& app) {
        if (auto wrong = settle_effects(app, config)) return wrong;
        config.settings = flags::settings_of(app);
        return what_is_wrong_with(config);
      });
  if (exit_status) return *exit_status;
  if (is_crowd(config)) {
    config.connection = Connection::kKeepAlive;
    config.crowd.ramp_ms = crowd::ramp_ms_of(config.crowd, config.seconds_ms);
  }
  take_share(config);
  if (config.users > 0) config.threads = threads_of(config);
  return config;
}

}  // namespace loadgen
