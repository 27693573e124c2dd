#include "fileserver/config.h"

#include <optional>
#include <utility>

#include "base/host.h"
#include "fileserver/writers.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "serve/flags.h"

namespace fileserver {

namespace {

// What only a server of threads has. Each process would have its own count of wrong passwords, and
// whoever connects anew would begin at zero.
std::optional<std::string> wrong_for_processes(const Config& config) {
  if (config.serve.model == serve::Model::kThread) return {};
  if (config.http_listen) return "--http-listen needs --model thread";
  if (!config.transfer_log.path.empty()) return "--transfer-log needs --model thread";
  if (!config.writers_path.empty()) return "--writers needs --model thread";
  if (config.throttle.wrong_passwords != 0)
    return "--model process does not bound wrong passwords; if that is meant, add "
           "--wrong-passwords 0";
  return {};
}

void declare(flags::App& app, Config& config) {
  flags::add_address(app, "--listen", config.listen,
                     "address to listen on; port 0 takes any free port");
  flags::add_optional_address(
      app, "--http-listen", config.http_listen,
      "address to serve the same files on by HTTP/1.1; a port alone means 127.0.0.1")
      ->default_str("off");
  flags::add_choice<bool>(app, "--listings", config.has_listings, {{"on", true}, {"off", false}},
                          "on: GET /FOLDER/ by HTTP lists the folder; off: it is not found");
  flags::add_choice<UploadMode>(
      app, "--uploads", config.uploads,
      {{"off", UploadMode::kOff}, {"folder", UploadMode::kFolder}, {"sink", UploadMode::kSink}},
      "folder: PUT, DELETE and MKCOL by HTTP change the served folder; sink: PUT is read and "
      "thrown "
      "away, to measure; off: none is allowed");
  flags::add_size(app, "--max-upload", config.max_upload_bytes,
                  "most bytes of one PUT; a larger one is refused; 0: no limit")
      ->default_str("0");
  flags::add_address(
      app, "--auth", config.auth,
      "address of the authserver; a host name may have several addresses, and all are used");
  flags::add_choice<AuthConnection>(
      app, "--auth-connection", config.auth_connection,
      {{"persistent", AuthConnection::kPersistent}, {"per-request", AuthConnection::kPerRequest}},
      "keep idle connections to the authserver, or connect for each request");
  flags::add_seconds(
      app, "--auth-timeout", config.auth_timeout_ms,
      "time to connect to the authserver and get its answer; after it the reply is `unavailable`",
      1);
  flags::add_whole(app, "--wrong-passwords", config.throttle.wrong_passwords, 0, 1'000'000,
                   "how many wrong passwords an address may send (IPv6: a /64); then its log-ins "
                   "are answered `busy`, and one is forgiven every 6 seconds; 0: no limit");
  flags::add_whole(app, "--wrong-password-addresses", config.throttle.addresses, 8, 16'000'000,
                   "how many addresses with wrong passwords are remembered");
  flags::add_choice<NewAccounts>(
      app, "--new-accounts", config.new_accounts,
      {{"open", NewAccounts::kOpen}, {"closed", NewAccounts::kClosed}},
      "open: whoever can connect may create accounts; closed: only scripts/accounts does");
  flags::add_path(app, "--writers", config.writers_path,
                  "only the users that FILE names, one a line, may change files; SIGHUP reads it "
                  "again; by default every user may");
  const auto take_proxies = [&config](const std::string& text) {
    auto proxies = parse_trusted_proxies(text);
    if (proxies) config.trusted_proxies = std::move(*proxies);
    return proxies.has_value();
  };
  app.add_parsed("--trusted-proxy", "CIDR",
                 "an address, or a range such as 10.0.0.0/8; with commas between several",
                 "believe the X-Forwarded-For of these addresses; may be given several times",
                 take_proxies)
      ->repeatable();
  flags::add_path(app, "--root", config.root, "folder whose files are served")
      ->type_name("DIR")
      ->capture_default_str();
  flags::add_choice<FilesMode>(
      app, "--files", config.files,
      {{"prefetch", FilesMode::kPrefetch}, {"disk", FilesMode::kDisk}},
      "prefetch: read all files into memory at start; disk: read the file for each request");
  flags::add_size(app, "--memory-limit", config.memory_limit_bytes,
                  "memory for prefetched files; files that do not fit are served from disk")
      ->default_str("half of RAM");
  flags::add_size(app, "--read-size", config.read_bytes,
                  "how much one read of a file that is served from disk asks for",
                  {512, 16 << 20, "from 512 to 16M"})
      ->default_str("64K");
  flags::add_choice<bool>(app, "--read-ahead", config.has_read_ahead,
                          {{"on", true}, {"off", false}},
                          "off: the system reads from disk only what is asked for, as a file that "
                          "is served from disk is sent");
  flags::add_size(app, "--send-buffer", config.send_buffer_bytes,
                  "send buffer of each connection, which the system doubles; 0: it grows as the "
                  "system thinks best",
                  {0, 1 << 30, "up to 1G"})
      ->default_str("0");
  app.add_option(
         "--transfer-log", config.transfer_log.path,
         "append a line of JSON for each transfer to FILE, which SIGHUP opens again; empty: "
         "no such log")
      ->type_name("FILE");
  flags::add_whole(app, "--transfer-log-queue", config.transfer_log.queue_lines, 1, 1'000'000,
                   "how many lines may wait for the transfer log, 0.7 KiB each; further ones are "
                   "lost and counted");
  serve::add_options(app, config.serve, "--spare-threads");
  flags::add_size(app, "--min-rate", config.serve.min_rate,
                  "close a connection that takes fewer bytes per second of a file, on average over "
                  "--idle-timeout; 0: any byte is enough")
      ->default_str("0");
  using serve::Sandbox;
  flags::add_choice<Sandbox>(
      app, "--sandbox", config.serve.sandbox,
      {{"on", Sandbox::kOn}, {"strict", Sandbox::kStrict}, {"off", Sandbox::kOff}},
      "on: the process can read only the folder above --root, which lets it follow a --root that "
      "is removed and made again; strict: only --root; off: all that its user can, for debugging");
  flags::add_log_level(app, config.log_level);
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  config.memory_limit_bytes = base::usable_memory_bytes() / 2;
  const flags::Program program{
      "fileserver",
      "Serves the files of a folder to clients that the authserver has authenticated."};
  const auto exit_status = flags::parse(
      program, argc, argv, [&](flags::App& app) { declare(app, config); },
      [&]() -> std::optional<std::string> {
        const auto read = Writers(config.writers_path).read();
        if (!read) return "--writers: " + read.error().context;
        return wrong_for_processes(config);
      });
  if (exit_status) return *exit_status;
  return config;
}

}  // namespace fileserver
