#include "fileserver/http/file_digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/clock.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

constexpr int kGraceMs = 1000;

}  // namespace

base::Result<base::Sha256Digest> digest_for(Exchange& exchange, Parts& parts,
                                            const OpenedFile& file) {
  const auto grace = base::Deadline::in_ms(kGraceMs);
  return parts.digests.of(file, [&] {
    return !exchange.is_hung_up() && !(grace.has_passed() && exchange.has_client_finished());
  });
}

void get_digest(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  http::Path path = *exchange.path();
  path.name.remove_prefix(kDigestPaths.size());
  if (path.ends_with_slash || server_path(path) != nullptr || !exchange.rights.may_read(path.name))
    return exchange.answer(404);
  const auto file = parts.files->open(path.name);
  if (!file) return exchange.answer(file.error());
  const auto digest = digest_for(exchange, parts, *file);
  if (!digest) return exchange.answer(digest.error());
  http::AnswerHead head = exchange.begin(200);
  head.field("Cache-Control", "no-store");
  const std::string_view folder = path.name == "-" ? "./" : "";  // else it is standard input
  exchange.send_text(head, "text/plain; charset=utf-8",
                     fmt::format("{:02x}  {}{}\n", fmt::join(*digest, ""), folder, path.name));
}

}  // namespace fileserver
