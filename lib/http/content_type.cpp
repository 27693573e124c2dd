#include "http/content_type.h"

#include <array>

#include "http/syntax.h"

namespace http {

namespace {

struct Entry {
  std::string_view ending;
  ContentType type;
};

constexpr Entry kTypes[] = {
    {"7z", {"application/x-7z-compressed", false}},
    {"aac", {"audio/aac", false}},
    {"apk", {"application/vnd.android.package-archive", false}},
    {"avi", {"video/x-msvideo", false}},
    {"avif", {"image/avif", false}},
    {"bmp", {"image/bmp", false}},
    {"bz2", {"application/x-bzip2", false}},
    {"c", {"text/plain; charset=utf-8", false}},
    {"cpp", {"text/plain; charset=utf-8", false}},
    {"css", {"text/css; charset=utf-8", false}},
    {"csv", {"text/csv; charset=utf-8", false}},
    {"deb", {"application/vnd.debian.binary-package", false}},
    {"docx", {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", false}},
    {"epub", {"application/epub+zip", false}},
    {"flac", {"audio/flac", false}},
    {"gif", {"image/gif", false}},
    {"go", {"text/plain; charset=utf-8", false}},
    {"gz", {"application/gzip", false}},
    {"h", {"text/plain; charset=utf-8", false}},
    {"heic", {"image/heic", false}},
    {"htm", {"text/html; charset=utf-8", true}},
    {"html", {"text/html; charset=utf-8", true}},
    {"ico", {"image/vnd.microsoft.icon", false}},
    {"ics", {"text/calendar; charset=utf-8", false}},
    {"ini", {"text/plain; charset=utf-8", false}},
    {"iso", {"application/x-iso9660-image", false}},
    {"jpeg", {"image/jpeg", false}},
    {"jpg", {"image/jpeg", false}},
    {"js", {"text/javascript; charset=utf-8", false}},
    {"json", {"application/json; charset=utf-8", false}},
    {"log", {"text/plain; charset=utf-8", false}},
    {"m4a", {"audio/mp4", false}},
    {"md", {"text/markdown; charset=utf-8", false}},
    {"mjs", {"text/javascript; charset=utf-8", false}},
    {"mkv", {"video/x-matroska", false}},
    {"mov", {"video/quicktime", false}},
    {"mp3", {"audio/mpeg", false}},
    {"mp4", {"video/mp4", false}},
    {"odp", {"application/vnd.oasis.opendocument.presentation", false}},
    {"ods", {"application/vnd.oasis.opendocument.spreadsheet", false}},
    {"odt", {"application/vnd.oasis.opendocument.text", false}},
    {"ogg", {"audio/ogg", false}},
    {"ogv", {"video/ogg", false}},
    {"opus", {"audio/ogg", false}},
    {"otf", {"font/otf", false}},
    {"pdf", {"application/pdf", false}},
    {"png", {"image/png", false}},
    {"pptx", {"application/vnd.openxmlformats-officedocument.presentationml.presentation", false}},
    {"py", {"text/plain; charset=utf-8", false}},
    {"rs", {"text/plain; charset=utf-8", false}},
    {"sh", {"text/plain; charset=utf-8", false}},
    {"svg", {"image/svg+xml; charset=utf-8", true}},
    {"tar", {"application/x-tar", false}},
    {"tgz", {"application/gzip", false}},
    {"tif", {"image/tiff", false}},
    {"tiff", {"image/tiff", false}},
    {"toml", {"text/plain; charset=utf-8", false}},
    {"ts", {"text/plain; charset=utf-8", false}},
    {"tsv", {"text/tab-separated-values; charset=utf-8", false}},
    {"ttf", {"font/ttf", false}},
    {"txt", {"text/plain; charset=utf-8", false}},
    {"wasm", {"application/wasm", false}},
    {"wav", {"audio/wav", false}},
    {"webm", {"video/webm", false}},
    {"webp", {"image/webp", false}},
    {"woff", {"font/woff", false}},
    {"woff2", {"font/woff2", false}},
    {"xhtml", {"application/xhtml+xml; charset=utf-8", true}},
    {"xlsx", {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false}},
    {"xml", {"application/xml; charset=utf-8", true}},
    {"xz", {"application/x-xz", false}},
    {"yaml", {"application/yaml", false}},
    {"yml", {"application/yaml", false}},
    {"zip", {"application/zip", false}},
    {"zst", {"application/zstd", false}},
};

}  // namespace

ContentType content_type_of(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos) {
    for (const Entry& entry : kTypes) {
      if (is_same(name.substr(dot + 1), entry.ending)) return entry.type;
    }
  }
  return {"application/octet-stream", false};
}

}  // namespace http
