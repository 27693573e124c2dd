#include "fileserver/http/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/json_text.h"
#include "fileserver/http/page.h"
#include "fileserver/http/server_paths.h"
#include "http/path.h"
#include "xml/escaped.h"

namespace fileserver {

namespace {

constexpr std::string_view kTableHead =
    R"(<thead><tr><th scope="col">Name</th><th scope="col" class="size">Size</th>)"
    R"(<th scope="col" class="time">Modified (UTC)</th></tr></thead>
<tbody>
)";

constexpr std::size_t kRowsOfGroup = 100;  // page.css has it too
constexpr std::string_view kNextGroup = "</tbody>\n<tbody>\n";

// "2026-11-22 09:05"
std::string readable_time(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time - day).count();
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     minutes / 60, minutes % 60);
}

std::string size_cell(const ListedEntry& entry) {
  if (entry.is_folder) return "<td class=\"size\"></td>";
  return fmt::format("<td class=\"size\" data-n=\"{}\">{}</td>", entry.size_bytes,
                     readable_size(entry.size_bytes));
}

// A link that leads up as many folders.
std::string ups(std::size_t folders) {
  std::string link;
  for (; folders > 0; --folders) link += "../";
  return link;
}

void append_row(const ListedEntry& entry, std::string& to) {
  const std::string_view slash = entry.is_folder ? "/" : "";
  to += fmt::format(
      "<tr><td><a href=\"{0}{1}\"><bdi>{2}</bdi>{1}</a></td>{3}"
      "<td class=\"time\" data-n=\"{4}\">{5}</td></tr>\n",
      http::encode_path(entry.name), slash, xml::escaped(entry.name), size_cell(entry),
      entry.modified_s, readable_time(entry.modified_s));
}

// The path of the folder, each part a link to its listing but the last one. The links of a path
// with very many parts would be larger than all else.
std::string heading_of(std::string_view folder) {
  constexpr std::size_t kMostLinks = 32;
  if (folder.empty()) return "/";
  auto above = static_cast<std::size_t>(std::ranges::count(folder, '/')) + 1;
  if (above > kMostLinks) return "/<bdi>" + xml::escaped(folder) + "</bdi>/";
  std::string heading = "<a href=\"" + ups(above) + "\">/</a>";
  while (--above > 0) {
    const std::size_t size = folder.find('/');
    heading += fmt::format("<a href=\"{}\"><bdi>{}</bdi>/</a>", ups(above),
                           xml::escaped(folder.substr(0, size)));
    folder.remove_prefix(size + 1);
  }
  return heading += "<bdi>" + xml::escaped(folder) + "</bdi>/";
}

void append_object(const ListedEntry& entry, std::string& to) {
  to += fmt::format("{{\"name\": {}, \"type\": \"{}\"",
                    base::json_text(entry.name, base::JsonText::kUtf8),
                    entry.is_folder ? "directory" : "file");
  if (!entry.is_folder) to += fmt::format(", \"size\": {}", entry.size_bytes);
  to += fmt::format(", \"mtime\": {}}}", entry.modified_s);
}

}  // namespace

void ListingPrinter::begin(std::string& to) const {
  if (form_ == ListingForm::kJson) {
    to += '[';
    return;
  }
  const std::string_view folder = of_.name;
  std::string title = "/" + std::string(folder) + (folder.empty() ? "" : "/");
  if (!of_.share_name.empty()) title += " - " + std::string(of_.share_name);
  append_page_start(title, Script::kOurs, to);
  to += "<header>\n<h1>";
  if (!of_.share_name.empty()) to += "<bdi>" + xml::escaped(of_.share_name) + "</bdi> ";
  to += heading_of(folder) + "</h1>\n";
  if (!of_.user.empty()) append_who(of_.user, of_.is_by_session, to);
  const std::string zip =
      of_.is_for_guest
          ? "?zip"
          : fmt::format("/{}{}", kZipPaths, folder.empty() ? "" : http::encode_path(folder) + "/");
  to += fmt::format("<p><a href=\"{}\">Download as zip</a></p>\n", zip);
  to += fmt::format("</header>\n<main>\n<table{}{}>\n", of_.may_write ? " data-writable" : "",
                    of_.has_trash ? " data-trash" : "");
  to += kTableHead;
  if (folder.empty()) return;
  to +=
      "<tr class=\"up\"><td><a href=\"../\">../</a></td><td class=\"size\"></td>"
      "<td class=\"time\"></td></tr>\n";
}

void ListingPrinter::add(const ListedEntry& entry, std::string& to) {
  const std::size_t before = entries_++;
  if (form_ == ListingForm::kPage) {
    if (before > 0 && before % kRowsOfGroup == 0) to += kNextGroup;
    return append_row(entry, to);
  }
  to += before > 0 ? ",\n" : "\n";
  append_object(entry, to);
}

void ListingPrinter::end(std::string& to) const {
  if (form_ == ListingForm::kJson) {
    to += entries_ > 0 ? "\n]\n" : "]\n";
    return;
  }
  to += "</tbody>\n</table>\n";
  to += kPageEnd;
}

std::string readable_size(std::uint64_t size_bytes) {
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto size = static_cast<double>(size_bytes);
  std::size_t unit = 0;
  // 1023.5 would be shown as 1024.
  for (; size >= 1023.5 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  const bool has_fraction = unit > 0 && size < 9.95;
  return fmt::format("{:.{}f} {}", size, has_fraction ? 1 : 0, kUnits[unit]);
}

}  // namespace fileserver
