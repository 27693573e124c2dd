#include "fileserver/http/methods.h"

#include <string>
#include <utility>

#include "base/waits.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/listing.h"
#include "fileserver/http/page.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

http::AnswerHead begin_listing(Exchange& exchange, ListingForm form) {
  http::AnswerHead head = exchange.begin(200);
  head.field("Vary", "Accept").field("Cache-Control", "private, no-cache");
  if (form == ListingForm::kPage) head.field("Content-Security-Policy", kScriptedPagePolicy);
  return head;
}

}  // namespace

void get_folder(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  if (!parts.offer.has_listings) return exchange.answer(404);
  const ListingForm form =
      preferred_form(exchange.head()) == Preferred::kJson ? ListingForm::kJson : ListingForm::kPage;
  const std::string_view folder = exchange.path()->name;
  const auto& guest = exchange.guest;
  const ListedFolder listed{.name = guest ? name_for_guest(*guest, folder) : folder,
                            .user = guest ? std::string_view() : exchange.user,
                            .is_for_guest = guest.has_value(),
                            .is_by_session = exchange.is_by_session,
                            .may_write = !guest && parts.offer.uploads == UploadMode::kFolder &&
                                         exchange.rights.may_write(folder),
                            .has_trash = !guest && parts.trash != nullptr,
                            .share_name = guest && !title_for_guest(*guest).empty()
                                              ? title_for_guest(*guest)
                                              : parts.offer.share_name};
  send_streamed(exchange, {.type = form == ListingForm::kJson ? "application/json; charset=utf-8"
                                                              : "text/html; charset=utf-8",
                           .is_1_0 = exchange.head().is_1_0(),
                           .begin = [&] { return begin_listing(exchange, form); },
                           .print =
                               [&](std::string& last, const TakePiece& take) {
                                 FolderEntries entries(*parts.fence, folder, parts.listings_memory,
                                                       exchange.rights);
                                 return print_entries(std::move(entries),
                                                      ListingPrinter(form, listed), last, take);
                               }});
}

bool is_folder_without_slash(const Exchange& exchange, Parts& parts) {
  if (!parts.offer.has_listings || exchange.path()->name == kServerFolder) return false;
  const auto status =
      base::may_block([&] { return parts.fence->status_of_readable(exchange.path()->name); });
  return status && S_ISDIR(status->st_mode);
}

void redirect_to_folder(Exchange& exchange) {
  const std::string_view name = exchange.path()->name;
  redirect_to(exchange, http::encode_path(name.substr(name.rfind('/') + 1)) + "/");
}

void redirect_to(Exchange& exchange, std::string_view where) {
  exchange.further_fields.emplace_back("Location", where);  // it may be long
  http::AnswerHead head = exchange.begin(301);
  head.field("Cache-Control", "private, no-cache");
  exchange.send_text(head, "text/plain; charset=utf-8", "Moved Permanently\n");
}

}  // namespace fileserver
