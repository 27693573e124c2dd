#include "fileserver/http/methods.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/waits.h"
#include "fileserver/files/fence.h"
#include "fileserver/http/dav/body.h"
#include "fileserver/http/dav/destination.h"
#include "fileserver/http/dav/find_resource.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/dav/multistatus.h"
#include "fileserver/http/dav/property_request.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/parts.h"

namespace fileserver::dav {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

http::AnswerHead begin_multistatus(Exchange& exchange) {
  http::AnswerHead head = exchange.begin(207);
  head.field("Cache-Control", "private, no-cache");
  return head;
}

// Looks at what the properties that are asked for need beside the listing.
class FurtherLooks {
 public:
  // Both must outlive this.
  FurtherLooks(Parts& parts, const PropertyPrinter& printer)
      : parts_(parts),
        wants_creation_(printer.asks_for("creationdate")),
        wants_locks_(parts.offer.uploads == UploadMode::kFolder &&
                     printer.asks_for("lockdiscovery")) {}

  // At all of them in one job of a helper. Requires: they are in one folder, and not too many.
  void complete(std::span<Resource> some) const {
    const bool has_locks = wants_locks_ && !parts_.locks.is_empty(base::now_ns());
    if (some.empty() || (!wants_creation_ && !has_locks)) return;
    base::may_block([&] {
      const std::string first = has_locks ? name_for_locks(parts_, some.front().name) : "";
      const std::string folder = first.substr(0, first.size() - last_part(first).size());
      for (Resource& one : some) {
        if (wants_creation_) one.created_s = created_s(*parts_.fence, one.name);
        if (has_locks) one.lock_name = folder + std::string(last_part(one.name));
      }
    });
  }

 private:
  static std::string_view last_part(std::string_view name) {
    return name.substr(name.rfind('/') + 1);
  }

  Parts& parts_;
  const bool wants_creation_;
  const bool wants_locks_;
};

// Says to the client which depths it may ask for.
void answer_too_deep(Exchange& exchange) {
  http::AnswerHead head = exchange.begin(403);
  exchange.send_text(head, kXmlType,
                     "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                     "<D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n");
}

// Prints the folder itself, and what a listing of it names.
class MembersPrinter {
 public:
  // All must outlive the printer.
  MembersPrinter(const PropertyPrinter& printer, const FurtherLooks& looks, const Resource& folder)
      : printer_(printer), looks_(looks), folder_(folder) {}

  void begin(std::string& to) const {
    printer_.begin(to);
    printer_.add(folder_, to);
  }

  void look_at(std::span<const ListedEntry> next) {
    next_.clear();
    for (const ListedEntry& entry : next) next_.push_back(resource_of(entry));
    looks_.complete(next_);
    added_ = 0;
  }

  void add(const ListedEntry& /*entry*/, std::string& to) { printer_.add(next_[added_++], to); }

  void end(std::string& to) const { printer_.end(to); }

 private:
  Resource resource_of(const ListedEntry& entry) const {
    return {.name = joined(folder_.name, entry.name),
            .is_folder = entry.is_folder,
            .size_bytes = entry.size_bytes,
            .modified_ns = entry.modified_s * kNsPerSecond + entry.modified_part_ns,
            .strength = entry.is_distinct ? http::Strength::kStrong : http::Strength::kWeak};
  }

  const PropertyPrinter& printer_;
  const FurtherLooks& looks_;
  const Resource& folder_;
  std::vector<Resource> next_;  // those of the last look_at()
  std::size_t added_ = 0;       // of them
};

void send_one(Exchange& exchange, const PropertyPrinter& printer, const Resource& resource) {
  std::string text;
  printer.begin(text);
  printer.add(resource, text);
  printer.end(text);
  http::AnswerHead head = begin_multistatus(exchange);
  exchange.send_text(head, kXmlType, text);
}

void send_members(Exchange& exchange, Parts& parts, bool is_1_0, const PropertyPrinter& printer,
                  const FurtherLooks& looks, const Resource& folder) {
  const auto print = [&](std::string& last, const TakePiece& take) {
    FolderEntries entries(*parts.fence, folder.name, parts.listings_memory, exchange.rights,
                          parts.files.get());
    return print_entries(std::move(entries), MembersPrinter(printer, looks, folder), last, take);
  };
  send_streamed(exchange, {.type = kXmlType,
                           .is_1_0 = is_1_0,
                           .begin = [&] { return begin_multistatus(exchange); },
                           .print = print});
}

}  // namespace

void find_properties(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const auto depth = depth_of(exchange.head());
  const bool is_1_0 = exchange.head().is_1_0();
  const auto body = read_xml(exchange);
  if (!body) return;
  auto request = body->root ? parse_propfind(*body->root) : PropertyRequest();
  if (!depth || !request) return exchange.answer(400);
  if (*depth == Depth::kInfinity) return answer_too_deep(exchange);
  auto resource = find_resource(exchange, parts);
  if (!resource) return exchange.answer(resource.error());
  const PropertyPrinter printer(std::move(*request), lock_properties(parts, exchange.rights),
                                exchange.connection().now_s());
  const FurtherLooks looks(parts, printer);
  looks.complete({&*resource, 1});
  if (*depth == Depth::kZero || !resource->is_folder) return send_one(exchange, printer, *resource);
  send_members(exchange, parts, is_1_0, printer, looks, *resource);
}

void change_properties(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const auto body = read_xml(exchange);
  if (!body) return;
  const auto names = body->root ? parse_proppatch(*body->root) : std::nullopt;
  if (!names) return exchange.answer(400);
  const auto resource = find_resource(exchange, parts);
  if (!resource) return exchange.answer(resource.error());
  http::AnswerHead head = begin_multistatus(exchange);
  exchange.send_text(head, kXmlType,
                     print_refused(href_of(resource->name, resource->is_folder), *names));
}

}  // namespace fileserver::dav
