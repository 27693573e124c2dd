#include "loadgen/config.h"

#include <fmt/format.h>

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

// Nothing where all is well.
using Wrong = std::optional<std::string>;

constexpr const char* kDescription =
    "Asks a fileserver for accounts (new) or files (get) as fast as it answers: N threads, one "
    "request outstanding "
    "each, no think time. A request's response time ends with the last byte of its reply. It "
    "begins, with "
    "--connection per-request, when the thread turns to it: closing the connection before it and "
    "connecting are part "
    "of it; with keep-alive, when its first line is sent. SIGINT and SIGTERM end the run early, "
    "with the results so "
    "far and exit status 130 or 143; a second one ends it at once.";

flags::Option* add_request(flags::App& app, RequestKind& target) {
  const auto take = [&target](const std::string& text) {
    target = text == "new" ? RequestKind::kNew : RequestKind::kGet;
    return text == "new" || text == "get";
  };
  return app.add_parsed("request", "new|get", "one of new, get", "make accounts, or get files",
                        take);
}

void declare_length(flags::App& app, Config& config) {
  flags::Option* const seconds =
      flags::add_seconds(app, "--seconds", config.seconds_ms, "how long to run", 1);
  flags::Option* const requests =
      flags::add_whole(app, "--requests", config.requests, 1, 1'000'000'000,
                       "or how many requests for EACH thread, failed ones included");
  requests->default_str("");
  flags::make_alternatives({seconds, [&config] { config.seconds_ms = Config{}.seconds_ms; }},
                           {requests, [&config] { config.requests = 0; }});
}

void declare_run(flags::App& app, Config& config) {
  flags::add_address(app, "--server", config.server, "the fileserver");
  flags::add_whole(app, "--threads", config.threads, 1, 100'000, "requests under way at once");
  declare_length(app, config);
  flags::add_seconds(app, "--warmup", config.warmup_ms, "run so long before, without counting");
  flags::add_choice<Connection>(
      app, "--connection", config.connection,
      {{"per-request", Connection::kPerRequest}, {"keep-alive", Connection::kKeepAlive}},
      "a new connection for each request, the paper's way, or one for each thread; `get:` is sent "
      "every time");
  app.add_flag("--pipeline", config.is_pipelined, "send `get:` and the file name in one write");
  flags::add_seconds(app, "--timeout", config.timeout_ms,
                     "for one request; then the error `timeout`", 1);
}

void declare_get(flags::App& app, Config& config) {
  app.add_option("--user", config.user, "for get")->type_name("USER");
  app.add_option("--password", config.password,
                 "for get; better in the variable, as a command line is for all to see")
      ->type_name("PASSWORD");
  app.add_option("--file", config.file, "for get; %d in it is replaced by a number, see --unique")
      ->type_name("NAME");
  flags::add_whole(
      app, "--unique", config.unique, 1, 1'000'000'000,
      "thread t (from 0) asks for numbers t*COUNT+1 ... (t+1)*COUNT, in order, wrapping")
      ->type_name("COUNT")
      ->default_str("");
  app.add_flag(
      "--once", config.asks_once,
      "ask for no file twice: the run ends early when a thread has asked for all its COUNT files");
  app.add_flag("--verify", config.must_verify,
               "compare the bytes of every file with its copy; that counts as response time");
  app.add_option("--verify-root", config.verify_root, "the folder with the copies")
      ->type_name("DIR");
  app.add_option("--save", config.save,
                 "keep the files that come in this folder; that counts as response time too")
      ->type_name("DIR");
}

Wrong check_credentials(const Config& config) {
  if (config.user.empty()) return "get needs --user";
  if (!wire::is_valid_user(config.user)) {
    return fmt::format("--user: {} is not 1 to 64 bytes of A-Z a-z 0-9 . _ - @ +",
                       base::log::quoted(config.user));
  }
  if (config.password.empty()) return "get needs --password, or the variable LOADGEN_PASSWORD";
  if (!wire::is_valid_password(config.password))
    return "--password: it is not 1 to 128 bytes without control bytes";
  return {};
}

Wrong check_file(const Config& config) {
  if (config.file.empty()) return "get needs --file";
  if (has_number(config.file) && config.unique == 0) return "--file: %d needs --unique";
  if (config.asks_once && config.unique == 0) return "--once needs --unique";
  if (!has_number(config.file) && config.unique != 0)
    return "--unique needs a --file with %d in its name";
  const std::string longest = file_name(config.file, std::int64_t{config.threads} * config.unique);
  const bool is_name = std::holds_alternative<wire::FileName>(wire::parse_client_line(longest));
  if (!is_name || longest.size() >= wire::kMaxLineBytes) {
    return fmt::format(
        "--file: {} is not a name that can be asked for: up to {} bytes, no control bytes, no "
        "request",
        base::log::quoted(config.file), wire::kMaxLineBytes - 1);
  }
  return {};
}

Wrong check_save(const Config& config) {
  if (config.save.empty()) return {};
  for (const auto& part : std::filesystem::path(config.file)) {
    if (part == "..") return "--save: the name in --file leads out of the folder";
  }
  return {};
}

Wrong check_get(const Config& config) {
  if (Wrong wrong = check_credentials(config)) return wrong;
  if (Wrong wrong = check_file(config)) return wrong;
  if (config.must_verify && config.verify_root.empty()) return "--verify needs --verify-root";
  return check_save(config);
}

Wrong check(const Config& config) {
  return config.request == RequestKind::kGet ? check_get(config) : Wrong();
}

}  // namespace

const char* word_of(RequestKind request) { return request == RequestKind::kNew ? "new" : "get"; }

const char* word_of(Connection connection) {
  return connection == Connection::kPerRequest ? "per-request" : "keep-alive";
}

std::optional<Config> read_config(int argc, char** argv, int& exit_status) {
  Config config;
  const auto declare = [&](flags::App& app) {
    add_request(app, config.request)->required();
    declare_run(app, config);
    declare_get(app, config);
    app.add_option("--json", config.json, "write the result to FILE; `-` is standard output")
        ->type_name("FILE");
  };
  const auto done =
      flags::parse({"loadgen", kDescription}, argc, argv, declare, [&] { return check(config); });
  if (!done) return config;
  exit_status = *done;
  return {};
}

}  // namespace loadgen
