#include "fileserver/http/dav/name_printer.h"

#include <fmt/core.h>

#include "xml/escaped.h"

namespace fileserver::dav {

namespace {

// Every document knows it, and none may give it another prefix.
constexpr std::string_view kXml = "http://www.w3.org/XML/1998/namespace";

}  // namespace

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
