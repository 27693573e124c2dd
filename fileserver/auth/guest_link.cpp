#include "fileserver/auth/guest_link.h"

#include <sodium.h>

#include <array>

#include "base/sha256.h"
#include "wire/request.h"

namespace fileserver {

namespace {

std::string_view take_word(std::string_view& rest) {
  const std::size_t blank = rest.find(' ');
  const std::string_view word = rest.substr(0, blank);
  rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  return word;
}

}  // namespace

std::optional<GuestLink> parse_guest_link(std::string_view told) {
  if (take_word(told) != "open") return {};
  const std::string_view id = take_word(told);
  const std::string_view maker = take_word(told);
  const auto may = wire::parse_guests_may(take_word(told));
  const bool counts_uses = take_word(told) != "-";
  if (!wire::is_token_id(id) || !wire::is_valid_user(maker) || !may) return {};
  std::string_view path = told;
  const bool is_folder = path.ends_with('/');
  if (is_folder) path.remove_suffix(1);
  if (path.empty() ? !is_folder : !wire::is_file_name(path)) return {};
  return GuestLink{std::string(id), std::string(maker), *may,
                   counts_uses,     std::string(path),  is_folder};
}

std::string secret_of_link(std::string_view password) {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  if (password.empty()) return {};
  base::Sha256 sha256;
  sha256.add(password);
  const base::Sha256Digest digest = sha256.finish();
  std::array<char, sodium_base64_ENCODED_LEN(digest.size(), kVariant)> text;
  ::sodium_bin2base64(text.data(), text.size(), digest.data(), digest.size(), kVariant);
  return text.data();
}

}  // namespace fileserver
