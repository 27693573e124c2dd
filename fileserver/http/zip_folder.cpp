#include "fileserver/http/server_paths.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/utf8.h"
#include "base/waits.h"
#include "fileserver/files/fence.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/folder_links.h"
#include "fileserver/http/still_allowed.h"
#include "fileserver/http/zip_entries.h"
#include "fileserver/parts.h"
#include "http/path.h"

namespace fileserver {

namespace {

// What one zip may take for the names that it has sent. One whose names need more is cut.
constexpr std::int64_t kOneZipBytes = std::int64_t{64} << 20;

using Batch = base::Result<std::vector<ListedEntry>>;

// The name that a browser saves the zip as. The plain one is for programs that know no other, and
// has no byte that needs an escape. The encoded one is missing if the folder's name is not UTF-8.
std::string disposition_of(std::string_view folder) {
  constexpr std::size_t kMostPlainBytes = 64;
  const std::string_view last = folder.substr(folder.rfind('/') + 1);
  const std::string_view name = last.empty() ? "files" : last;
  std::string plain(name.substr(0, kMostPlainBytes));
  std::ranges::replace_if(
      plain, [](char c) { return c < 0x20 || c > 0x7e || c == '"' || c == '\\' || c == '%'; }, '_');
  std::string text = "attachment; filename=\"" + plain + ".zip\"";
  if (base::is_utf8(name)) text += "; filename*=UTF-8''" + http::encode_path(name) + ".zip";
  return text;
}

// Sends a folder and all that is below it, folder by folder: first what is in the folder itself, in
// the order of its listing, then what is in the folders that were found, in that order. Those wait
// in the directory of the zip, which has their names anyway. So only one folder is read at a time.
class ZipAnswer {
 public:
  ZipAnswer(Exchange& exchange, Parts& parts, std::string_view root)
      : exchange_(exchange),
        parts_(parts),
        root_(root),
        links_(*parts.fence, root),
        chosen_(http::query_values(exchange.head().target(), "name")),
        has_chunks_(!exchange.head().is_1_0()),
        body_(exchange.stream(), has_chunks_),
        entries_(*parts.files, parts.zips_memory, kOneZipBytes, body_) {}

  // Returns false if there was an error instead, which was answered.
  bool send() {
    FolderEntries listed(*parts_.fence, root_, parts_.listings_memory, exchange_.rights);
    const Batch first = base::may_block([&] { return listed.next(); });
    if (!first) {
      exchange_.answer(first.error());
      return false;
    }
    if (exchange_.method() == http::Method::kGet) {
      if (const auto refused = refusal_of_use(exchange_, parts_)) {
        exchange_.answer(*refused);
        return false;
      }
      body_.begin();
    }
    send_head();
    if (exchange_.method() != http::Method::kGet) return true;
    exchange_.stream().begin_sized_reply(UINT64_MAX);  // it is not known
    if (const auto sent = send_all(listed, first); !sent) cut(sent.error());
    return true;
  }

  bool is_whole() const { return is_whole_; }

 private:
  void send_head() {
    if (!has_chunks_) exchange_.connection().end_behind_answer();
    exchange_.further_fields.emplace_back("Content-Disposition", disposition_of(root_));  // long
    http::AnswerHead head = exchange_.begin(200);
    if (has_chunks_) head.field("Transfer-Encoding", "chunked");
    head.field("Content-Type", "application/zip")
        .field("Cache-Control", "private, no-cache")
        .field("X-Content-Type-Options", "nosniff");
    exchange_.connection().send(head.finish());
  }

  base::Status send_all(FolderEntries& listed, const Batch& first) {
    if (const auto sent = send_folder(listed, first, {}); !sent) return sent;
    for (;;) {
      std::string_view inside = entries_.next_folder();
      if (inside.empty()) break;
      inside.remove_suffix(1);
      const std::string name = joined(root_, inside);
      if (const auto allowed = look_again(name); !allowed) return allowed;
      FolderEntries below(*parts_.fence, name, parts_.listings_memory, exchange_.rights);
      const Batch batch = base::may_block([&] { return below.next(); });
      if (!batch && batch.error().code == base::ErrorCode::kNotFound) continue;  // it is gone
      if (const auto sent = send_folder(below, batch, inside); !sent) return sent;
    }
    entries_.end();
    is_whole_ = body_.end();
    return base::kDone;
  }

  // Whether the user still may have the folder. Its entries are listed with the rights of now.
  base::Status look_again(std::string_view folder) {
    if (const auto answer = ask_again(exchange_, parts_, exchange_.head()); !answer.status)
      return answer.status;
    exchange_.rights = rights_of(exchange_, parts_);
    if (exchange_.rights.may_list(folder)) return base::kDone;
    return base::Error{base::ErrorCode::kDenied, "its user may not read it any more"};
  }

  // `batch` is the first one of the folder. Ends early once the stream is over.
  base::Status send_folder(FolderEntries& listed, Batch batch, std::string_view inside) {
    for (;;) {
      if (!batch) return batch.error();
      for (std::span<const ListedEntry> left(*batch); !left.empty();) {
        const auto some = left.first(std::min(left.size(), kLookedAtOnce));
        left = left.subspan(some.size());
        if (const auto sent = send_some(some, inside); !sent) return sent;
      }
      if (listed.is_at_end() || exchange_.stream().is_over()) return base::kDone;
      batch = base::may_block([&] { return listed.next(); });
    }
  }

  base::Status send_some(std::span<const ListedEntry> some, std::string_view inside) {
    const auto links = links_.among(some, inside);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (exchange_.stream().is_over()) return base::kDone;
      if (links[i] || (inside.empty() && !is_chosen(some[i].name))) continue;
      std::string name = joined(inside, some[i].name);
      const auto sent = some[i].is_folder ? entries_.add_folder(name += '/', some[i].modified_s)
                                          : entries_.add_file(joined(root_, name), name);
      if (!sent) return sent;
    }
    return base::kDone;
  }

  bool is_chosen(std::string_view name) const {
    return chosen_.empty() || std::ranges::find(chosen_, name) != chosen_.end();
  }

  void cut(const base::Error& error) {
    exchange_.stream().abort();
    base::log::warn("the connection is cut while a folder is sent folder={} reason={}",
                    base::log::quoted_long(root_), base::log::quoted_long(error.context));
  }

  Exchange& exchange_;
  Parts& parts_;
  const std::string_view root_;
  FolderLinks links_;
  const std::vector<std::string> chosen_;  // in the folder itself; none: all that is in it
  const bool has_chunks_;
  UnsizedBody body_;
  ZipEntries entries_;
  bool is_whole_ = false;
};

// One line for the whole zip. Its size is only known if all of it was sent.
void log_zip(Exchange& exchange, Parts& parts, std::int64_t asked_ns, bool is_whole) {
  if (exchange.method() != http::Method::kGet) return;
  Transfer transfer{.asked_ns = asked_ns, .error = exchange.outcome()};
  if (!transfer.error) {
    transfer.reply = exchange.stream().sized_reply();
    transfer.reply.is_whole = is_whole;
    transfer.size_bytes = transfer.reply.sent_bytes;
  }
  log_transfer(exchange, parts, transfer);
}

}  // namespace

void get_zip(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const auto folder = folder_behind(kZipPaths, exchange, parts);
  if (!folder) return exchange.answer(404);
  const std::int64_t asked_ns = parts.time_for_log();
  ZipAnswer answer(exchange, parts, *folder);
  answer.send();
  log_zip(exchange, parts, asked_ns, answer.is_whole());
}

}  // namespace fileserver
