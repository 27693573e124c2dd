#include "fileserver/dav/propfind.h"

#include <optional>
#include <string>
#include <utility>

#include "base/waits.h"
#include "fileserver/dav/body.h"
#include "fileserver/dav/depth.h"
#include "fileserver/dav/find_resource.h"
#include "fileserver/dav/multistatus.h"
#include "fileserver/dav/xml_type.h"
#include "fileserver/files/creation_time.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/print_entries.h"
#include "fileserver/parts.h"

namespace fileserver::dav {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

http::AnswerHead begin_multistatus(Exchange& exchange) {
  http::AnswerHead head = exchange.begin(207);
  head.field("Cache-Control", "private, no-cache");
  return head;
}

CreatedAt created_at(Parts& parts) {
  return [&parts](std::string_view name) {
    return base::may_block([&] { return created_s(*parts.fence, name); });
  };
}

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
  MembersPrinter(const PropertyPrinter& printer, const Resource& folder)
      : printer_(printer), folder_(folder) {}

  void begin(std::string& to) const {
    printer_.begin(to);
    printer_.add(folder_, to);
  }

  void add(const ListedEntry& entry, std::string& to) const {
    std::string name = folder_.name.empty() ? "" : folder_.name + '/';
    name += entry.name;
    const auto strength = entry.is_distinct ? http::Strength::kStrong : http::Strength::kWeak;
    printer_.add({.name = std::move(name),
                  .is_folder = entry.is_folder,
                  .size_bytes = entry.size_bytes,
                  .modified_ns = entry.modified_s * kNsPerSecond + entry.modified_part_ns,
                  .strength = strength},
                 to);
  }

  void end(std::string& to) const { printer_.end(to); }

 private:
  const PropertyPrinter& printer_;
  const Resource& folder_;
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
                  const Resource& folder) {
  const auto print = [&](std::string& last, const TakePiece& take) {
    FolderEntries entries(*parts.fence, folder.name, parts.listings_memory, exchange.rights,
                          parts.files.get());
    return print_entries(std::move(entries), MembersPrinter(printer, folder), last, take);
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
  const auto resource = find_resource(exchange, parts);
  if (!resource) return exchange.answer(resource.error());
  const PropertyPrinter printer(std::move(*request), lock_properties(parts, exchange.rights),
                                created_at(parts), exchange.connection().now_s());
  if (*depth == Depth::kZero || !resource->is_folder) return send_one(exchange, printer, *resource);
  send_members(exchange, parts, is_1_0, printer, *resource);
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
