#include "fileserver/http/page_files.h"

#include "fileserver/http/exchange.h"
#include "http/conditions.h"
#include "page/files.h"

namespace fileserver {

namespace {

struct PageFile {
  std::string_view address;
  std::string_view type;
  std::string_view text;
  std::int64_t version;
};

void answer_with(const PageFile& file, Exchange& exchange) {
  const std::int64_t now_s = exchange.connection().now_s();
  http::Validators current(file.text.size(), file.version, now_s);
  current.modified.reset();  // there is a version, and no time
  const http::Verdict verdict = http::evaluate(exchange.head(), &current, now_s);
  if (verdict == http::Verdict::kPreconditionFailed) return exchange.answer(412);
  const bool is_same = verdict == http::Verdict::kNotModified;
  http::AnswerHead head = exchange.begin(is_same ? http::Status(304) : http::Status(200));
  const bool may_be_kept = exchange.head().target().ends_with(file.address);
  head.field("ETag", current.tag.view())
      .field("Cache-Control", may_be_kept ? "public, max-age=31536000, immutable" : "no-cache");
  if (is_same) return exchange.connection().send(head.finish());
  exchange.send_text(head, file.type, file.text);
}

}  // namespace

const std::string_view kStyleAddress = page_files::kStyleAddress;
const std::string_view kScriptAddress = page_files::kScriptAddress;

void get_page_style(Exchange& exchange, Parts&) {
  answer_with(
      {kStyleAddress, "text/css; charset=utf-8", page_files::kStyle, page_files::kStyleVersion},
      exchange);
}

void get_page_script(Exchange& exchange, Parts&) {
  answer_with({kScriptAddress, "text/javascript; charset=utf-8", page_files::kScript,
               page_files::kScriptVersion},
              exchange);
}

}  // namespace fileserver
