#include "fileserver/http/methods.h"

namespace fileserver {

using http::Method;

Handler handler_of(Method method, bool is_folder, const Offer& offer) {
  const bool has_folder = offer.uploads == UploadMode::kFolder;
  switch (method) {
    case Method::kGet:
    case Method::kHead: return is_folder ? &get_folder : &get_file;
    case Method::kPut:
      if (offer.uploads == UploadMode::kOff) return nullptr;
      return has_folder ? &put_file : &put_nowhere;
    case Method::kDelete:
      if (!has_folder) return nullptr;
      return is_folder ? &delete_folder : &delete_file;
    case Method::kMkcol: return has_folder ? &make_collection : nullptr;
    case Method::kPropfind: return offer.has_listings ? &dav::find_properties : nullptr;
    case Method::kProppatch:
      return has_folder && offer.has_listings ? &dav::change_properties : nullptr;
    case Method::kMove: return has_folder ? &move_name : nullptr;
    case Method::kCopy: return has_folder ? &copy_name : nullptr;
    case Method::kLock: return has_folder ? &dav::lock : nullptr;
    case Method::kUnlock: return has_folder ? &dav::unlock : nullptr;
    case Method::kPost:
    case Method::kPatch:
    case Method::kOptions:
    case Method::kConnect:
    case Method::kTrace:
    case Method::kOther: return nullptr;
  }
  return nullptr;
}

std::string allowed_with(const Offer& offer, Method refused) {
  std::string allowed = "GET, HEAD, OPTIONS";
  for (const Method method :
       {Method::kPut, Method::kDelete, Method::kMkcol, Method::kPropfind, Method::kProppatch,
        Method::kMove, Method::kCopy, Method::kLock, Method::kUnlock}) {
    if (method == refused || handler_of(method, false, offer) == nullptr) continue;
    allowed += ", ";
    allowed += http::text_of(method);
  }
  return allowed;
}

}  // namespace fileserver
