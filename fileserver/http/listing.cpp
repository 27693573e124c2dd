#include "fileserver/http/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "fileserver/http/page.h"
#include "http/path.h"

namespace fileserver {

namespace {

constexpr std::string_view kTableStart =
    R"(<table>
<thead><tr><th scope="col">Name</th><th scope="col" class="size">Size</th>)"
    R"(<th scope="col" class="time">Modified (UTC)</th></tr></thead>
<tbody>
)";

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

void append_row(std::string& page, const ListedEntry& entry) {
  const std::string_view slash = entry.is_folder ? "/" : "";
  page += fmt::format(
      "<tr><td><a href=\"{0}{1}\">{2}{1}</a></td><td class=\"size\">{3}</td>"
      "<td class=\"time\">{4}</td></tr>\n",
      http::encode_path(entry.name), slash, escaped(entry.name),
      entry.is_folder ? "" : readable_size(entry.size_bytes), readable_time(entry.modified_s));
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void sort_listing(std::vector<ListedEntry>& entries) {
  std::ranges::sort(entries, {}, &ListedEntry::name);
}

std::string listing_json(const std::vector<ListedEntry>& entries) {
  std::string json = "[";
  for (const ListedEntry& entry : entries) {
    json += json.size() > 1 ? ",\n" : "\n";
    json += fmt::format("{{\"name\": {}, \"type\": \"{}\"", json_text(entry.name),
                        entry.is_folder ? "directory" : "file");
    if (!entry.is_folder) json += fmt::format(", \"size\": {}", entry.size_bytes);
    json += fmt::format(", \"mtime\": {}}}", entry.modified_s);
  }
  return json + (entries.empty() ? "]\n" : "\n]\n");
}

std::string listing_page(std::string_view folder, const std::vector<ListedEntry>& entries) {
  std::string table(kTableStart);
  if (!folder.empty())
    table +=
        "<tr><td><a href=\"../\">../</a></td><td class=\"size\"></td>"
        "<td class=\"time\"></td></tr>\n";
  for (const ListedEntry& entry : entries) append_row(table, entry);
  const std::string title = "/" + std::string(folder) + (folder.empty() ? "" : "/");
  return html_page(title, table + "</tbody>\n</table>\n");
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
