#include "fileserver/http/get_folder.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "base/waits.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/listing.h"
#include "fileserver/http/page.h"

namespace fileserver {

namespace {

constexpr std::size_t kPieceBytes = 32 * 1024;  // of a listing

// Prints the listing, and calls take(piece) for each piece but the last one, which is left in
// `last`. A take() that returns false ends it.
template <typename Take>
base::Status print_listing(FolderEntries entries, ListingPrinter printer, std::string& last,
                           Take take) {
  printer.begin(last);
  for (;;) {
    const auto batch = base::may_block([&] { return entries.next(); });
    if (!batch) return batch.error();
    if (batch->empty()) break;
    for (const ListedEntry& entry : *batch) {
      printer.add(entry, last);
      if (last.size() < kPieceBytes) continue;
      if (!take(std::string_view(last))) return base::kDone;
      last.clear();
    }
  }
  printer.end(last);
  return base::kDone;
}

// Answers with a listing. One of a single piece has its size in the head. A longer one comes in
// chunks, and is sent while it is made. HTTP/1.0 knows no chunks. There it is made twice, the first
// time to count its bytes. A listing that cannot be sent to its end ends the connection, so that
// the client sees that it was cut.
class FolderAnswer {
 public:
  FolderAnswer(Exchange& exchange, Parts& parts)
      : exchange_(exchange),
        parts_(parts),
        form_(preferred_form(exchange.head()) == Preferred::kJson ? ListingForm::kJson
                                                                  : ListingForm::kPage) {}

  void send() {
    std::string last;
    const auto printed = print_listing(entries(), printer(), last,
                                       [this](std::string_view piece) { return take(piece); });
    if (has_failed_ || exchange_.stream().is_over()) return;
    if (!printed && !has_begun_) return exchange_.answer(printed.error());
    if (!printed) return exchange_.stream().abort();
    if (!has_begun_) return send_whole(last);
    if (is_body_wanted()) end(last);
  }

 private:
  FolderEntries entries() const {
    return {*parts_.fence, exchange_.path()->name, parts_.listings_memory, exchange_.rights};
  }
  ListingPrinter printer() const { return {form_, exchange_.path()->name}; }
  bool is_body_wanted() const { return exchange_.method() == http::Method::kGet; }
  std::string_view type() const {
    return form_ == ListingForm::kJson ? "application/json; charset=utf-8"
                                       : "text/html; charset=utf-8";
  }

  http::AnswerHead begin() {
    http::AnswerHead head = exchange_.begin(200);
    head.field("Vary", "Accept").field("Cache-Control", "private, no-cache");
    if (form_ == ListingForm::kPage) head.field("Content-Security-Policy", kPagePolicy);
    return head;
  }

  void send_whole(std::string_view text) {
    http::AnswerHead head = begin();
    exchange_.send_text(head, type(), text);
  }

  bool take(std::string_view piece) {
    if (!has_begun_ && !send_head()) return false;
    return is_body_wanted() && send_piece(piece);
  }

  bool send_head() {
    if (exchange_.head().is_1_0()) {
      const auto size = count();
      if (!size) {
        has_failed_ = true;
        exchange_.answer(size.error());
        return false;
      }
      left_ = *size;
    }
    http::AnswerHead head = begin();
    head.field("Content-Type", type()).field("X-Content-Type-Options", "nosniff");
    if (left_) {
      head.field("Content-Length", *left_);
    } else {
      head.field("Transfer-Encoding", "chunked");
    }
    has_begun_ = true;
    return exchange_.stream().send(head.finish());
  }

  base::Result<std::uint64_t> count() const {
    std::uint64_t size = 0;
    std::string last;
    const auto printed = print_listing(entries(), printer(), last, [&](std::string_view piece) {
      size += piece.size();
      return true;
    });
    if (!printed) return printed.error();
    return size + last.size();
  }

  bool send_piece(std::string_view piece) {
    serve::Stream& stream = exchange_.stream();
    if (!left_) {
      stream.send(fmt::format("{:x}\r\n", piece.size()), piece);
      return stream.send(std::string_view("\r\n"));
    }
    if (piece.size() > *left_) stream.abort();  // the folder has changed since it was counted
    if (!stream.send({}, piece)) return false;
    *left_ -= piece.size();
    return true;
  }

  void end(std::string_view last) {
    if (!send_piece(last)) return;
    if (!left_) {
      exchange_.stream().send(std::string_view("0\r\n\r\n"));
    } else if (*left_ > 0) {
      exchange_.stream().abort();
    }
  }

  Exchange& exchange_;
  Parts& parts_;
  const ListingForm form_;
  bool has_begun_ = false;
  bool has_failed_ = false;            // it was answered with the error
  std::optional<std::uint64_t> left_;  // of the size in the head; nothing: it comes in chunks
};

}  // namespace

void get_folder(Exchange& exchange, Parts& parts) {
  if (!parts.config.has_listings) return exchange.answer(404);
  FolderAnswer(exchange, parts).send();
}

bool is_folder_without_slash(const Exchange& exchange, Parts& parts) {
  if (!parts.config.has_listings || exchange.path()->name == kOwnFolder) return false;
  const auto status =
      base::may_block([&] { return parts.fence->status_of_readable(exchange.path()->name); });
  return status && S_ISDIR(status->st_mode);
}

void redirect_to_folder(Exchange& exchange) {
  const std::string_view name = exchange.path()->name;
  const std::string last = http::encode_path(name.substr(name.rfind('/') + 1)) + "/";
  http::AnswerHead head = exchange.begin(301);
  head.field("Location", last).field("Cache-Control", "private, no-cache");
  exchange.send_text(head, "text/plain; charset=utf-8", "Moved Permanently\n");
}

}  // namespace fileserver
