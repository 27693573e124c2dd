#include "fileserver/config.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/host.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fileserver/http_hosts.h"
#include "fileserver/rights/rights.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "serve/flags.h"
#include "wire/request.h"

namespace fileserver {

namespace {

// What a server of processes does not have.
std::optional<std::string> wrong_for_processes(const Config& config) {
  if (config.serve.model != serve::Model::kProcess) return {};
  if (config.http_listen) return "--http-listen needs --model thread or event";
  if (config.https_listen) return "--https-listen needs --model thread or event";
  if (!config.transfer_log.path.empty()) return "--transfer-log needs --model thread or event";
  return {};
}

// Only what HTTP changes goes to the trash.
std::optional<std::string> wrong_for_trash(const Config& config) {
  if (config.trash_days == 0) return {};
  if (config.offer.uploads != UploadMode::kFolder) return "--trash needs --uploads folder";
  if (!config.serves_http()) return "--trash needs --http-listen or --https-listen";
  return {};
}

std::optional<std::string> wrong_for_tls(const Config& config) {
  if (config.tls.certificate.empty() != config.tls.key.empty())
    return "--tls-certificate and --tls-key need each other";
  const char* const listens = config.https_listen ? "--https-listen" : "--tls-listen";
  if (config.encrypts() && config.tls.key.empty())
    return std::string(listens) + " needs --tls-certificate and --tls-key";
  if (!config.encrypts() && !config.tls.key.empty())
    return "--tls-certificate needs --https-listen or --tls-listen";
  return {};
}

std::optional<std::string> wrong_for_auth(const AuthOptions& auth) {
  const auto& files = auth.tls;
  const bool has_all =
      !files.authorities.empty() && !files.own.certificate.empty() && !files.own.key.empty();
  const bool has_any =
      !files.authorities.empty() || !files.own.certificate.empty() || !files.own.key.empty();
  if (auth.is_encrypted && !has_all)
    return "--auth tls: needs --auth-ca, --auth-certificate and --auth-key";
  if (!auth.is_encrypted && has_any)
    return "--auth-ca, --auth-certificate and --auth-key need --auth tls:HOST:PORT";
  return {};
}

void declare_basics(flags::App& app, Config& config) {
  app.group("Basics");
  flags::add_path(app, "--root", config.root, "folder whose files are served")
      ->type_name("DIR")
      ->capture_default_str();
  flags::add_address(app, "--listen", config.listen,
                     "address to listen on; port 0 takes any free port");
  flags::add_optional_address(
      app, "--http-listen", config.http_listen,
      "address for browsers, WebDAV mounts and other clients of HTTP; a port alone means 127.0.0.1",
      flags::UnixPath::kAccepted);
  flags::add_optional_address(
      app, "--https-listen", config.https_listen,
      "the same in TLS, beside --http-listen or without it; needs --tls-certificate and --tls-key");
  flags::add_optional_address(app, "--tls-listen", config.tls_listen,
                              "what --listen serves in TLS, beside it; needs the same files");
  flags::add_address_or_tls(
      app, "--auth", config.auth.address, config.auth.is_encrypted,
      "address of the authserver; a host name may have several addresses, and all are used");
  flags::add_choice<FilesMode>(
      app, "--files", config.files,
      {{"prefetch", FilesMode::kPrefetch}, {"disk", FilesMode::kDisk}},
      "prefetch: read all files into memory at start; disk: read the file for each request");
}

void add_trusted_proxy(flags::App& app, std::vector<net::IpRange>& target) {
  const auto take = [&target](const std::string& text) {
    auto proxies = parse_trusted_proxies(text);
    if (proxies) target = std::move(*proxies);
    return proxies.has_value();
  };
  app.add_parsed("--trusted-proxy", "CIDR",
                 "an address, a range such as 10.0.0.0/8, or unix; with commas between several",
                 "believe the X-Forwarded-For of these addresses; unix: of whoever connects to a "
                 "Unix-domain socket; may be given several times",
                 take)
      ->repeatable();
}

void add_http_host(flags::App& app, std::vector<std::string>& target) {
  const auto take = [&target](const std::string& text) {
    auto names = parse_http_hosts(text);
    if (names) target = std::move(*names);
    return names.has_value();
  };
  app.add_parsed("--http-host", "NAME", "a name without a port; with commas between several",
                 "the names by which clients ask for the HTTP front, as a proxy passes them on; "
                 "other names in Host, but for IP addresses and localhost, are refused; without "
                 "it they are refused only if --http-listen is on loopback; may be given several "
                 "times",
                 take)
      ->repeatable();
}

void add_show_rights(flags::App& app, std::string& target) {
  const auto take = [&target](const std::string& text) {
    if (text != "-" && !wire::is_valid_user(text)) return false;
    target = text;
    return true;
  };
  app.add_parsed("--show-rights", "USER", "a user name: 1 to 64 of A-Z a-z 0-9 . _ - @ +",
                 "print what USER may do by --rights, and by which line, and exit; -: print the "
                 "names of all users in the file",
                 take);
}

// What neither moves nor hides the text around it: no control characters, and no marks of Unicode
// that end a line or turn the direction of writing.
bool is_plain_character(std::uint32_t code) {
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !is_control && !turns;
}

void add_share_name(flags::App& app, std::string& target) {
  const auto take = [&target](const std::string& text) {
    constexpr int kMostCharacters = 64;
    int characters = 0;
    for (std::string_view left = text; !left.empty(); ++characters) {
      const base::Utf8Front front = base::utf8_front(left);
      if (!front.code || !is_plain_character(*front.code)) return false;
      left.remove_prefix(front.size_bytes);
    }
    if (characters > kMostCharacters || base::trimmed(text) != text) return false;
    target = text;
    return true;
  };
  app.add_parsed("--share-name", "TEXT",
                 "up to 64 characters of UTF-8, without control characters, and without blanks at "
                 "its ends",
                 "the name of the share, which the title and the heading of its pages show; empty: "
                 "they have none",
                 take);
}

bool is_process_id(const std::string& text) {
  pid_t pid = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, pid);
  return failure == std::errc() && stopped == end && pid > 0 && text.front() != '0';
}

void add_locks(flags::App& app, LockQuestion& target) {
  const auto take_server = [&target](const std::string& text) {
    if (text != kOnlyOne && !is_process_id(text)) return false;
    target.server = text;
    return true;
  };
  app.add_parsed("--locks-of", "PID", "a process id, or - for the only fileserver",
                 "print the locks of the fileserver that runs as process PID, and exit; -: of the "
                 "only one; its user and root may ask",
                 take_server);
  const auto take_lock = [&target](const std::string& text) {
    const bool has_control = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; });
    if (has_control || (!text.starts_with('/') && !text.starts_with("urn:uuid:"))) return false;
    target.end = text;
    return true;
  };
  app.add_parsed("--end-lock", "LOCK", "a token that begins with urn:uuid:, or a path with a slash",
                 "end the lock of this token, or all locks of this path, of the fileserver that "
                 "--locks-of names, and exit",
                 take_lock);
}

void declare_access(flags::App& app, Config& config) {
  app.group("Accounts and access");
  flags::add_choice<NewAccounts>(
      app, "--new-accounts", config.offer.new_accounts,
      {{"open", NewAccounts::kOpen}, {"closed", NewAccounts::kClosed}},
      "open: whoever can connect may create accounts; closed: only scripts/accounts does");
  flags::add_choice<UploadMode>(
      app, "--uploads", config.offer.uploads,
      {{"off", UploadMode::kOff}, {"folder", UploadMode::kFolder}, {"sink", UploadMode::kSink}},
      "folder: users change the served folder by HTTP: browsers, mounts, PUT; sink: PUT is read "
      "and thrown away, to measure; off: none is allowed");
  flags::add_path(app, "--rights", config.rights_path,
                  "FILE says which users and groups may read and write which folders "
                  "(docs/access.md); SIGHUP reads it again; by default every user may read and "
                  "write everything");
  add_show_rights(app, config.show_rights_of);
  add_locks(app, config.locks);
  flags::add_choice<bool>(app, "--listings", config.offer.has_listings,
                          {{"on", true}, {"off", false}},
                          "whether HTTP lists folders, which browsers and mounts need; "
                          "off: they are not found");
  add_share_name(app, config.offer.share_name);
  add_trusted_proxy(app, config.trusted_proxies);
  add_http_host(app, config.http_hosts);
}

void declare_encryption(flags::App& app, Config& config) {
  serve::add_encryption(app, config.tls, config.tls_handshakes);
  flags::add_choice<bool>(app, "--tls-kernel", config.tls.in_kernel, {{"on", true}, {"off", false}},
                          "whether the kernel encrypts what is sent, where it can; it needs its "
                          "module tls, and saves copies of large files");
  auto& hop = config.auth.tls;
  flags::add_path(app, "--auth-ca", hop.authorities,
                  "who issues certificates of authservers, in PEM; for --auth tls:HOST:PORT, where "
                  "HOST must stand in the certificate")
      ->type_name("FILE");
  flags::add_path(app, "--auth-certificate", hop.own.certificate,
                  "the certificate to show to the authserver; SIGHUP reads it, its key and "
                  "--auth-ca again")
      ->type_name("FILE");
  flags::add_path(app, "--auth-key", hop.own.key,
                  "its key in PEM; others must not be able to read it")
      ->type_name("FILE");
}

void declare_limits(flags::App& app, Config& config) {
  app.group("Limits");
  flags::add_size(app, "--memory-limit", config.memory_limit_bytes,
                  "memory for prefetched files; files that do not fit are served from disk")
      ->default_is("half of RAM");
  flags::add_choice<bool>(app, "--evict", config.evicts, {{"on", true}, {"off", false}},
                          "on: a file that does not fit gets the memory of files that are asked "
                          "for less; off: those that came first keep it");
  flags::add_size(app, "--max-upload", config.offer.max_upload_bytes,
                  "most bytes of one PUT, 0: any number; a larger one is refused")
      ->default_str("0");
  flags::add_whole(app, "--trash", config.trash_days, 0, 36'500,
                   "how many days clients can put back what is deleted or replaced by HTTP; or "
                   "until its room is needed; 0: nothing is kept");
  flags::add_seconds(app, "--parts-keep", config.offer.parts_keep_ms,
                     "how long an upload in parts that is not finished is kept after its last "
                     "byte; then it is removed",
                     1000);
  flags::add_size(app, "--min-rate", config.serve.min_rate,
                  "least bytes per second that a client must take of a file; on average over "
                  "--idle-timeout; 0: any byte is enough")
      ->default_str("0");
  flags::add_whole(app, "--wrong-passwords", config.throttle.wrong_passwords, 0, 1'000'000,
                   "how many wrong passwords an address may send for a user; 0: no limit; then the "
                   "log-ins of this user from there are answered `busy`, and one is forgiven every "
                   "6 seconds; for all users together ten times as many, and one every second; for "
                   "IPv6 a /64 is an address");
  flags::add_whole(app, "--wrong-password-addresses", config.throttle.addresses, 8, 16'000'000,
                   "how many such addresses are remembered; as many users of them, and as many "
                   "addresses that made accounts");
  flags::add_whole(app, "--accounts-per-address", config.accounts_per_address, 0, 1'000'000,
                   "how many accounts an address may make; 0: no limit; then the answer is `busy`, "
                   "and one is forgiven every minute; clients on this machine have no limit, "
                   "unless they are a --trusted-proxy");
  flags::add_seconds(app, "--auth-timeout", config.auth.timeout_ms,
                     "how long to wait for the authserver; after it the reply is `unavailable`", 1);
}

void declare_logs(flags::App& app, Config& config) {
  app.group("Logs and telemetry");
  flags::add_log_level(app, config.log_level);
  app.add_option("--transfer-log", config.transfer_log.path,
                 "append a line of JSON for each transfer to FILE; SIGHUP opens it again; empty: "
                 "no such log")
      ->type_name("FILE");
  flags::add_whole(app, "--transfer-log-queue", config.transfer_log.queue_lines, 1, 1'000'000,
                   "how many lines may wait for it; each takes 1.5 KiB; further ones "
                   "are lost and counted");
  flags::add_choice<bool>(app, "--transfer-log-users", config.transfer_log.has_users,
                          {{"on", true}, {"off", false}},
                          "on: each line has the user, and requests that are refused have lines");
}

void declare_measuring(flags::App& app, Config& config) {
  serve::group_to_measure(app);
  flags::add_choice<AuthConnection>(
      app, "--auth-connection", config.auth.connection,
      {{"persistent", AuthConnection::kPersistent}, {"per-request", AuthConnection::kPerRequest}},
      "keep idle connections to the authserver, or connect for each request");
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
}

void declare(flags::App& app, Config& config) {
  declare_basics(app, config);
  declare_access(app, config);
  declare_encryption(app, config);
  declare_limits(app, config);
  declare_logs(app, config);
  serve::add_options(app, config.serve, "--spare-threads", serve::Models::kAll);
  serve::group_security(app);
  using serve::Sandbox;
  flags::add_choice<Sandbox>(
      app, "--sandbox", config.serve.sandbox,
      {{"on", Sandbox::kOn}, {"strict", Sandbox::kStrict}, {"off", Sandbox::kOff}},
      "what the process can reach; on: only the folder above --root, which lets it follow a --root "
      "that is removed and made again; strict: only --root; off: all that its user can, for "
      "debugging");
  declare_measuring(app, config);
}

flags::Program program() {
  return {
      "fileserver",
      "Serves the files of a folder to clients that the authserver has authenticated.\n\n"
      "Clients speak the protocol of docs/protocol.md at --listen, or HTTP/1.1 at --http-listen; "
      "in TLS the same at --tls-listen and --https-listen. "
      "Once the server can serve, it prints one line, READY and its addresses, on standard output. "
      "The log is on standard error. SIGTERM and SIGINT stop the server after the requests under "
      "way. SIGHUP opens --transfer-log again, and reads --rights and the certificate again.",
      {{"Share the folder docs at http://127.0.0.1:8080/ with those who have accounts "
        "(authserver --help says how to make one)",
        "authserver & fileserver --root docs --http-listen 8080"},
       {"Let users upload, behind a TLS proxy on this machine",
        "authserver & fileserver --root /srv/share --http-listen 8080 --uploads folder "
        "--new-accounts closed --trusted-proxy 127.0.0.1 --http-host files.example.com"},
       {"Serve more than fits into memory, with figures for Prometheus",
        "authserver & fileserver --root /srv/big --files disk --telemetry-listen 9010"}},
      8,
      {"authserver(8)", "loadgen(1)", "nginx(8)"},
      {{"writers",
        "write --rights FILE, with a line `* / read`, and `USER / read write` for each writer"}}};
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  config.memory_limit_bytes = base::usable_memory_bytes() / 2;
  const auto exit_status = flags::parse(
      program(), argc, argv, [&](flags::App& app) { declare(app, config); },
      [&](flags::App&) -> std::optional<std::string> {
        const auto read = Rights(config.rights_path).read();
        if (!read) return "--rights " + read.error().context;
        if (!config.show_rights_of.empty() && config.rights_path.empty())
          return "--show-rights needs --rights FILE";
        if (config.serve.loops != 0 && config.serve.model != serve::Model::kEvent)
          return "--loops needs --model event";
        if (config.transfer_log.has_users && config.transfer_log.path.empty())
          return "--transfer-log-users on needs --transfer-log";
        if (const auto wrong = wrong_for_tls(config)) return wrong;
        if (const auto wrong = wrong_for_trash(config)) return wrong;
        if (const auto wrong = wrong_for_auth(config.auth)) return wrong;
        return wrong_for_processes(config);
      });
  if (exit_status) return *exit_status;
  return config;
}

}  // namespace fileserver
