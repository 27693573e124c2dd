#include "fileserver/files/loaded_files.h"

#include <memory>

#include "base/log.h"

namespace fileserver {

namespace {

using base::ErrorCode;

FileTable::Entry on_disk() { return std::make_shared<const WholeFile>(); }

}  // namespace

LoadedFiles::Look LoadedFiles::look(const std::string& name) {
  const auto status = fence_.look_at(name, Fence::Links::kRefused);
  if (!status) {
    if (status.error().code != ErrorCode::kNotFound) return {State::kUnseen};
    table_.erase(name);
    return {State::kInStep};
  }
  const FileVersion version = version_in(*status);
  const auto known = table_.find(name);
  if (known && known->data && have_same_content(known->version, version))
    return {State::kInStep, version};
  if (!known) table_.put(name, on_disk());
  return {is_settled(version) ? State::kLoadable : State::kChanging, version};
}

LoadedFiles::State LoadedFiles::load(const std::string& name, const Pieces& pieces) {
  const Look seen = look(name);
  if (seen.state != State::kLoadable) return seen.state;
  auto share = budget_.take(memory_for(seen.version.size_bytes), memory_of(name));
  if (!share) {
    serve_from_disk(name);
    return State::kInStep;
  }
  auto file = read_whole_file(fence_, name, std::move(*share), {direct_, pieces});
  if (!file) return after_failed_read(name, file.error());
  // Whoever follows the folder may have been told meanwhile, and will not be told again.
  if (!is_still(name, file->version)) return look_at(name);
  table_.put(name, std::make_shared<const WholeFile>(std::move(*file)));
  return State::kInStep;
}

LoadedFiles::State LoadedFiles::after_failed_read(const std::string& name,
                                                  const base::Error& error) {
  if (error.code == ErrorCode::kUnavailable) return State::kChanging;
  if (error.code == ErrorCode::kNotFound) {
    table_.erase(name);
  } else {
    base::log::warn("cannot prefetch, served from disk reason={}",
                    base::log::quoted(error.context));
    serve_from_disk(name);
  }
  return State::kInStep;
}

void LoadedFiles::serve_from_disk(const std::string& name) {
  const auto known = table_.find(name);
  if (known && known->data) table_.put(name, on_disk());
}

bool LoadedFiles::is_still(const std::string& name, const FileVersion& version) const {
  const auto status = fence_.look_at(name, Fence::Links::kRefused);
  return status && have_same_content(version_in(*status), version);
}

// What is freed when another version takes the place of the known one.
std::int64_t LoadedFiles::memory_of(const std::string& name) const {
  const auto known = table_.find(name);
  return known ? known->share.bytes() : 0;
}

}  // namespace fileserver
