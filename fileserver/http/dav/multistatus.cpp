#include "fileserver/http/dav/multistatus.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "http/content_type.h"
#include "http/date.h"
#include "http/path.h"
#include "xml/escaped.h"

namespace fileserver::dav {

namespace {

constexpr std::string_view kEnd = "</D:multistatus>\n";

// What the values of properties are made of.
struct Subject {
  const Resource& resource;
  const LockProperties& locks;
  std::int64_t now_s;

  http::Validators validators() const {
    return {resource.size_bytes, resource.modified_ns, now_s, resource.strength};
  }
};

// Nothing: the resource has no such property.
using Value = std::optional<std::string>;

Value content_length(const Subject& subject) {
  if (subject.resource.is_folder) return {};
  return std::to_string(subject.resource.size_bytes);
}

Value content_type(const Subject& subject) {
  if (subject.resource.is_folder) return {};
  return std::string(http::content_type_of(subject.resource.name).value);
}

// As RFC 3339 writes it, in years of four digits.
Value creation_date(const Subject& subject) {
  constexpr std::int64_t kYear10000 = 253'402'300'800;
  const auto& created = subject.resource.created_s;
  if (!created || *created < 0 || *created >= kYear10000) return {};
  const auto seconds = static_cast<std::time_t>(*created);
  std::tm utc{};
  if (::gmtime_r(&seconds, &utc) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

Value display_name(const Subject& subject) {
  const std::string_view name = subject.resource.name;
  return name.empty() ? "/" : xml::escaped(name.substr(name.rfind('/') + 1));
}

Value entity_tag(const Subject& subject) {
  if (subject.resource.is_folder) return {};
  return std::string(subject.validators().tag.view());
}

Value last_modified(const Subject& subject) {
  const auto modified = subject.validators().modified;
  if (!modified) return {};
  return std::string(http::date_text(*modified).view());
}

Value lock_discovery(const Subject& subject) {
  const auto& lock_name = subject.resource.lock_name;
  return lock_name ? subject.locks.active_on(subject.resource.name, *lock_name) : "";
}

Value resource_type(const Subject& subject) {
  return subject.resource.is_folder ? "<D:collection/>" : "";
}

Value supported_lock(const Subject& subject) { return subject.locks.supported; }

struct Property {
  std::string_view name;  // in DAV:
  Value (*value)(const Subject& subject);
};

constexpr std::array<Property, 9> kProperties{{
    {"resourcetype", &resource_type},
    {"displayname", &display_name},
    {"creationdate", &creation_date},
    {"getcontentlength", &content_length},
    {"getcontenttype", &content_type},
    {"getetag", &entity_tag},
    {"getlastmodified", &last_modified},
    {"supportedlock", &supported_lock},
    {"lockdiscovery", &lock_discovery},
}};

const Property* find(const PropertyName& asked) {
  if (asked.space != kDav) return nullptr;
  for (const Property& property : kProperties) {
    if (property.name == asked.name) return &property;
  }
  return nullptr;
}

// Appends the element with its value, or returns false.
bool append(const Property& property, const Subject& subject, std::string& to) {
  const Value value = property.value(subject);
  if (!value) return false;
  to += value->empty() ? fmt::format("<D:{}/>", property.name)
                       : fmt::format("<D:{0}>{1}</D:{0}>", property.name, *value);
  return true;
}

void append_propstat(std::string_view properties, http::Status status, std::string& to) {
  to += fmt::format(
      "<D:propstat><D:prop>{}</D:prop><D:status>HTTP/1.1 {} {}</D:status></D:propstat>\n",
      properties, status.number(), status.reason());
}

void append_response_start(std::string_view href, std::string& to) {
  to += fmt::format("<D:response><D:href>{}</D:href>\n", href);
}

void append_start(const NamePrinter& names, std::string& to) {
  to += kDeclaration;
  to += "<D:multistatus";
  names.append_declarations(to);
  to += ">\n";
}

constexpr std::string_view kResponseEnd = "</D:response>\n";

// Every document knows it, and none may give it another prefix.
constexpr std::string_view kXml = "http://www.w3.org/XML/1998/namespace";

}  // namespace

std::string href_of(std::string_view name, bool is_folder) {
  std::string href = "/" + http::encode_path(name);
  if (is_folder && !name.empty()) href += '/';
  return href;
}

bool PropertyPrinter::asks_for(std::string_view property) const {
  return request_.kind != PropertyRequest::Kind::kNamed ||
         std::ranges::any_of(request_.names, [&](const PropertyName& asked) {
           return asked.space == kDav && asked.name == property;
         });
}

void PropertyPrinter::begin(std::string& to) const { append_start(names_, to); }

void PropertyPrinter::end(std::string& to) const { to += kEnd; }

void PropertyPrinter::add(const Resource& resource, std::string& to) const {
  std::string found;
  std::string missing;
  if (request_.kind != PropertyRequest::Kind::kNamed)
    add_all(resource, found, request_.kind == PropertyRequest::Kind::kAll);
  add_named(resource, found, missing);
  append_response_start(href_of(resource.name, resource.is_folder), to);
  if (!found.empty() || missing.empty()) append_propstat(found, 200, to);
  if (!missing.empty()) append_propstat(missing, 404, to);
  to += kResponseEnd;
}

void PropertyPrinter::add_all(const Resource& resource, std::string& found,
                              bool with_values) const {
  const Subject subject{resource, locks_, now_s_};
  for (const Property& property : kProperties) {
    if (with_values) {
      append(property, subject, found);
    } else if (property.value(subject)) {
      found += fmt::format("<D:{}/>", property.name);
    }
  }
}

// Beside all properties, those that were asked for by name and are among them come once.
void PropertyPrinter::add_named(const Resource& resource, std::string& found,
                                std::string& missing) const {
  const Subject subject{resource, locks_, now_s_};
  for (const PropertyName& name : request_.names) {
    const Property* const property = find(name);
    if (property != nullptr && request_.kind == PropertyRequest::Kind::kAll) continue;
    if (property == nullptr || !append(*property, subject, found))
      names_.append_empty(name, missing);
  }
}

std::string print_refused(std::string_view href, const std::vector<PropertyName>& names) {
  const NamePrinter printer(names);
  std::string refused;
  for (const PropertyName& name : names) printer.append_empty(name, refused);
  std::string text;
  append_start(printer, text);
  append_response_start(href, text);
  append_propstat(refused, 403, text);
  text += kResponseEnd;
  text += kEnd;
  return text;
}

NamePrinter::NamePrinter(const std::vector<PropertyName>& names)
    : prefixes_{{"", ""}, {std::string(kDav), "D:"}, {std::string(kXml), "xml:"}} {
  for (const PropertyName& name : names)
    prefixes_.try_emplace(name.space, fmt::format("n{}:", prefixes_.size()));
}

void NamePrinter::append_declarations(std::string& to) const {
  for (const auto& [space, prefix] : prefixes_) {
    if (space.empty() || space == kXml) continue;
    to += fmt::format(" xmlns:{}=\"{}\"", prefix.substr(0, prefix.size() - 1), xml::escaped(space));
  }
}

void NamePrinter::append_empty(const PropertyName& name, std::string& to) const {
  to += '<';
  to += prefixes_.at(name.space);
  to += name.name;
  to += "/>";
}

}  // namespace fileserver::dav
