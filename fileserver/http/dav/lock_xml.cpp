#include "fileserver/http/dav/lock_xml.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "fileserver/http/dav/property_request.h"
#include "http/path.h"
#include "xml/escaped.h"

namespace fileserver::dav {

namespace {

std::string href_element(std::string_view name, bool is_folder) {
  const bool has_slash = is_folder && !name.empty();
  return fmt::format("<D:href>/{}{}</D:href>", http::encode_path(name), has_slash ? "/" : "");
}

std::int64_t seconds_left(const Lock& lock, std::int64_t now_ns) {
  return (lock.ends_ns - now_ns + base::kNsPerS - 1) / base::kNsPerS;
}

void append_active_lock(const Lock& lock, std::int64_t now_ns, std::string& to) {
  const bool is_shared = lock.scope == Lock::Scope::kShared;
  to += fmt::format(
      "<D:activelock><D:lockscope><D:{}/></D:lockscope><D:locktype><D:write/></D:locktype>"
      "<D:depth>{}</D:depth>",
      is_shared ? "shared" : "exclusive", lock.depth == Lock::Depth::kZero ? "0" : "infinity");
  to += fmt::format("<D:owner>{}</D:owner>",
                    lock.owner_xml.empty() ? xml::escaped(lock.user) : lock.owner_xml);
  to += fmt::format(
      "<D:timeout>Second-{}</D:timeout><D:locktoken><D:href>{}</D:href></D:locktoken>"
      "<D:lockroot>{}</D:lockroot></D:activelock>",
      seconds_left(lock, now_ns), lock.token, href_element(lock.name, lock.is_folder));
}

// Appends what stands inside of the element: its text, then its children, each with its namespace.
// Returns false once it is over the limit.
bool append_content(const xml::Element& element, std::string& to) {
  to += xml::escaped(element.text);
  for (const xml::Element& child : element.children) {
    // No element may declare this namespace; each document has its prefix.
    const bool is_xml = child.space == "http://www.w3.org/XML/1998/namespace";
    const std::string name = is_xml ? "xml:" + child.name : child.name;
    to += is_xml ? fmt::format("<{}>", name)
                 : fmt::format("<{} xmlns=\"{}\">", name, xml::escaped(child.space));
    if (to.size() > kMaxOwnerBytes || !append_content(child, to)) return false;
    to += fmt::format("</{}>", name);
  }
  return to.size() <= kMaxOwnerBytes;
}

std::optional<Lock::Scope> scope_of(const xml::Element& root) {
  const xml::Element* const scope = root.child(kDav, "lockscope");
  const xml::Element* const type = root.child(kDav, "locktype");
  if (scope == nullptr || type == nullptr || type->child(kDav, "write") == nullptr) return {};
  const bool is_exclusive = scope->child(kDav, "exclusive") != nullptr;
  const bool is_shared = scope->child(kDav, "shared") != nullptr;
  if (is_exclusive == is_shared) return {};
  return is_shared ? Lock::Scope::kShared : Lock::Scope::kExclusive;
}

}  // namespace

const std::string_view kSupportedLock =
    "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype></D:lockentry>"
    "<D:lockentry><D:lockscope><D:shared/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype></D:lockentry>";

void append_active_locks(std::span<const Lock> locks, std::int64_t now_ns, std::string& to) {
  for (const Lock& lock : locks) append_active_lock(lock, now_ns, to);
}

std::string lock_document(const Lock& lock, std::int64_t now_ns) {
  std::string text(kDeclaration);
  text += "<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery>";
  append_active_locks({&lock, 1}, now_ns, text);
  return text + "</D:lockdiscovery></D:prop>\n";
}

std::string conflict_document(std::string_view condition, const Locks::Conflict& conflict) {
  return fmt::format("{0}<D:error xmlns:D=\"DAV:\"><D:{1}>{2}</D:{1}></D:error>\n", kDeclaration,
                     condition, href_element(conflict.name, conflict.is_folder));
}

std::variant<LockInfo, http::Status> parse_lock_info(const xml::Element& root) {
  const auto scope = root.is(kDav, "lockinfo") ? scope_of(root) : std::nullopt;
  if (!scope) return http::Status(422);
  LockInfo info{*scope, {}};
  const xml::Element* const owner = root.child(kDav, "owner");
  if (owner != nullptr && !append_content(*owner, info.owner_xml)) return http::Status(413);
  return info;
}

}  // namespace fileserver::dav
