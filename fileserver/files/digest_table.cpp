#include "fileserver/files/digest_table.h"

namespace fileserver {

std::optional<base::Sha256Digest> DigestTable::find(const FileVersion& version) const {
  const base::Lock lock(mutex_);
  const Slot& slot = slots_[version.inode % kSlots];
  if (!have_same_content(slot.version, version)) return {};
  return slot.digest;
}

void DigestTable::note(const FileVersion& version, const base::Sha256Digest& digest) {
  const base::Lock lock(mutex_);
  slots_[version.inode % kSlots] = {version, digest};
}

}  // namespace fileserver
