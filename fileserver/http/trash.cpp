#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/waits.h"
#include "fileserver/files/trash.h"
#include "fileserver/http/change_folder.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/streamed_text.h"
#include "fileserver/http/validated.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

constexpr std::size_t kFoundAtOnce = 64;  // in one job of a helper

std::optional<Trashed> find(Parts& parts, std::string_view id) {
  if (parts.trash == nullptr) return {};
  return base::may_block([&] { return parts.trash->find(id); });
}

std::vector<Trashed> find_all(Parts& parts, std::span<const std::string> ids) {
  return base::may_block([&] {
    std::vector<Trashed> found;
    for (const std::string& id : ids) {
      if (auto trashed = parts.trash->find(id)) found.push_back(std::move(*trashed));
    }
    return found;
  });
}

void append_object(const Trashed& trashed, std::int64_t keep_s, std::string& to) {
  const std::string_view name = std::string_view(trashed.name).substr(trashed.name.rfind('/') + 1);
  auto out = std::back_inserter(to);
  fmt::format_to(out, "{{\"id\": \"{}\", \"path\": {}, \"name\": {}, \"type\": \"{}\"", trashed.id,
                 base::json_text("/" + trashed.name, base::JsonText::kUtf8),
                 base::json_text(name, base::JsonText::kUtf8),
                 trashed.is_folder ? "directory" : "file");
  if (!trashed.is_folder) fmt::format_to(out, ", \"size\": {}", trashed.size_bytes);
  fmt::format_to(out, ", \"mtime\": {}, \"deleted\": {}, \"until\": {}}}", trashed.modified_s,
                 trashed.deleted_s, trashed.deleted_s + keep_s);
}

base::Status print(const Exchange& exchange, Parts& parts, std::string& last,
                   const TakePiece& take) {
  const auto ids = base::may_block([&] { return parts.trash->newest_ids(); });
  std::string_view between = "[\n";
  for (std::span<const std::string> left(ids); !left.empty();) {
    const auto some = left.first(std::min(left.size(), kFoundAtOnce));
    left = left.subspan(some.size());
    for (const Trashed& trashed : find_all(parts, some)) {
      if (refusal_of_target(exchange.rights, trashed.name)) continue;
      last += std::exchange(between, ",\n");
      append_object(trashed, parts.trash->keep_s(), last);
      if (last.size() < kTextPieceBytes) continue;
      if (!take(last)) return base::kDone;
      last.clear();
    }
  }
  last += between.starts_with('[') ? "[]\n" : "\n]\n";
  return base::kDone;
}

// What the path names, and the user may put back. Nothing: it is answered why not.
std::optional<Trashed> found_for_user(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const http::Path& path = *exchange.path();
  std::optional<Trashed> trashed;
  if (!path.ends_with_slash) trashed = find(parts, path.name.substr(kTrashPaths.size()));
  const auto refusal = trashed ? refusal_of_target(exchange.rights, trashed->name)
                               : RightsRefusal(http::Status(404));
  if (!refusal) return trashed;
  exchange.answer(*refusal);
  return {};
}

}  // namespace

void list_trash(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const bool is_top = exchange.path()->ends_with_slash && exchange.path()->name == "-/trash";
  if (parts.trash == nullptr || !is_top) return exchange.answer(404);
  send_streamed(exchange, {.type = "application/json; charset=utf-8",
                           .is_1_0 = exchange.head().is_1_0(),
                           .begin =
                               [&] {
                                 http::AnswerHead head = exchange.begin(200);
                                 head.field("Cache-Control", "no-store");
                                 return head;
                               },
                           .print =
                               [&](std::string& last, const TakePiece& take) {
                                 return print(exchange, parts, last, take);
                               }});
}

// A form of another site can send a POST, and a browser adds the password that it has kept.
void put_back_trashed(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const std::int64_t asked_ns = parts.time_for_log();
  const auto trashed = found_for_user(exchange, parts);
  if (!trashed) return;
  const std::string& name = trashed->name;
  if (dav::is_refused_by_locks(exchange, parts,
                               {.name = name, .is_whole = true, .is_of_members = true}))
    return;
  const UploadStatus done = base::may_block_long([&] { return parts.uploads->put_back(*trashed); });
  answer_change(exchange, parts, done == UploadStatus::kCreated ? UploadStatus::kReplaced : done);
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kMove, .to = name});
}

void end_trashed(Exchange& exchange, Parts& parts) {
  const std::int64_t asked_ns = parts.time_for_log();
  const auto trashed = found_for_user(exchange, parts);
  if (!trashed) return;
  answer_change(exchange, parts, base::may_block_long([&] {
                  return parts.trash->remove_soon(trashed->id)
                             ? UploadStatus::kReplaced
                             : status_of(errno, "remove something from the trash");
                }));
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kDelete});
}

}  // namespace fileserver
