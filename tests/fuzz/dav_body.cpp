// Random bytes for the parser of XML, for what PROPFIND, PROPPATCH and LOCK ask for in it, and for
// what is printed of that: it is XML again, and names each property once.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fileserver/http/dav/lock_xml.h"
#include "fileserver/http/dav/multistatus.h"
#include "fileserver/http/dav/property_request.h"
#include "tests/fuzz/require.h"
#include "xml/element.h"

namespace {

using fileserver::Lock;
using fileserver::dav::LockInfo;
using fileserver::dav::PropertyName;
using fileserver::dav::PropertyPrinter;
using fileserver::dav::PropertyRequest;
using fuzz::require;

constexpr std::string_view kDav = "DAV:";

struct Size {
  std::size_t elements = 0;
  std::size_t depth = 0;

  // Whether a document with this in it is within the limits of the parser.
  bool leaves_room() const {
    return elements + 100 < xml::kMaxElements && depth + 8 < xml::kMaxDepth;
  }
};

// The parser bounds the depth, and with it this recursion.
void measure(const xml::Element& element, std::size_t depth, Size& size) {
  require(!element.name.empty());
  require(element.space.size() + element.name.size() <= xml::kMaxNameBytes);
  size.depth = std::max(size.depth, depth);
  ++size.elements;
  for (const xml::Element& child : element.children) measure(child, depth + 1, size);
}

// The names in all propstats of the first response.
std::vector<PropertyName> names_in(const std::string& document) {
  const auto root = xml::parse(document);
  require(root && root->is(kDav, "multistatus") && root->children.size() == 1);
  std::vector<PropertyName> names;
  for (const xml::Element& child : root->children.front().children) {
    if (!child.is(kDav, "propstat")) continue;
    for (const xml::Element& name : child.child(kDav, "prop")->children)
      names.push_back({name.space, name.name});
  }
  return names;
}

bool has_each_once(std::vector<PropertyName> asked, std::vector<PropertyName> told) {
  const auto by_name = [](const PropertyName& one, const PropertyName& other) {
    return std::pair(one.space, one.name) < std::pair(other.space, other.name);
  };
  std::ranges::sort(asked, by_name);
  std::ranges::sort(told, by_name);
  return asked == told;
}

void check_propfind(const xml::Element& root, const Size& size) {
  const auto request = fileserver::dav::parse_propfind(root);
  if (!request || !size.leaves_room()) return;
  const auto no_locks = [](auto&&...) { return std::string(); };
  const PropertyPrinter printer(*request, {.supported = "", .active_on = no_locks}, 0);
  std::string text;
  printer.begin(text);
  printer.add({.name = "a", .size_bytes = 1}, text);
  printer.end(text);
  std::vector<PropertyName> told = names_in(text);
  if (request->kind == PropertyRequest::Kind::kNamed) {
    require(has_each_once(request->names, std::move(told)));
  } else {
    require(std::ranges::count(told, PropertyName{"DAV:", "getetag"}) == 1);
  }
}

void check_proppatch(const xml::Element& root, const Size& size) {
  const auto names = fileserver::dav::parse_proppatch(root);
  if (!names) return;
  require(!names->empty() && names->size() <= size.elements);
  if (!size.leaves_room()) return;
  require(names_in(fileserver::dav::print_refused("/a", *names)) == *names);
}

// What a lock tells of its owner is read back as the same. It is the user if none was named.
void check_lock(const xml::Element& root, const Size& size) {
  const auto info = fileserver::dav::parse_lock_info(root);
  const auto* const wanted = std::get_if<LockInfo>(&info);
  if (wanted == nullptr) return;
  require(wanted->owner_xml.size() <= fileserver::kMaxOwnerBytes);
  if (!size.leaves_room()) return;
  Lock lock{.name = "a", .scope = wanted->scope, .owner_xml = wanted->owner_xml};
  lock.token = "urn:uuid:0";
  const auto told = xml::parse(fileserver::dav::lock_document(lock, 0));
  require(told.ok());
  const xml::Element& active = told->children.front().children.front();
  const xml::Element* const owner = active.child(kDav, "owner");
  require(owner != nullptr);
  if (wanted->owner_xml.empty()) return;
  xml::Element again{.space = "DAV:", .name = "lockinfo"};
  again.children = {*active.child(kDav, "lockscope"), *active.child(kDav, "locktype"), *owner};
  const auto info_again = fileserver::dav::parse_lock_info(again);
  const auto* const same = std::get_if<LockInfo>(&info_again);
  require(same != nullptr && same->scope == wanted->scope);
  require(same->owner_xml == wanted->owner_xml);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto root = xml::parse(fuzz::text_of(data, size));
  if (!root) return 0;
  Size measured;
  measure(*root, 1, measured);
  require(measured.elements <= xml::kMaxElements && measured.depth <= xml::kMaxDepth);
  check_propfind(*root, measured);
  check_proppatch(*root, measured);
  check_lock(*root, measured);
  return 0;
}
