#include "fileserver/config.h"

#include <optional>

#include "base/memory.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "serve/flags.h"

namespace fileserver {

namespace {

void declare(flags::App& app, Config& config) {
  flags::add_address(app, "--listen", config.listen, "where clients connect; port 0: any free one");
  flags::add_address(app, "--auth", config.auth,
                     "the authserver; all addresses of a name are used");
  flags::add_choice<AuthConnection>(
      app, "--auth-connection", config.auth_connection,
      {{"persistent", AuthConnection::kPersistent}, {"per-request", AuthConnection::kPerRequest}},
      "keep connections to the authserver, or make one for every validation, the paper's way");
  flags::add_seconds(app, "--auth-timeout", config.auth_timeout_ms,
                     "connecting to the authserver and its answer, together; then `unavailable`",
                     1);
  app.add_option("--root", config.root, "the served folder")
      ->type_name("DIR")
      ->capture_default_str();
  flags::add_choice<FilesMode>(
      app, "--files", config.files,
      {{"prefetch", FilesMode::kPrefetch}, {"disk", FilesMode::kDisk}},
      "read all files into memory at start, or each from disk for every request");
  flags::add_size(app, "--memory-limit", config.memory_limit_bytes,
                  "what prefetching may take; files over it are served from disk")
      ->default_str("half of RAM");
  serve::add_options(app, config.serve, "--spare-threads");
  flags::add_log_level(app, config.log_level);
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  config.memory_limit_bytes = base::usable_memory_bytes() / 2;
  const flags::Program program{
      "fileserver",
      "Serves the files of a folder to clients whose user and password the authserver has "
      "said yes to."};
  const auto exit_status = flags::parse(
      program, argc, argv, [&](flags::App& app) { declare(app, config); },
      []() -> std::optional<std::string> { return {}; });
  if (exit_status) return *exit_status;
  return config;
}

}  // namespace fileserver
