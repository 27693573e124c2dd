#include "loadgen/drivers/driver.h"
#include "loadgen/drivers/ftp.h"
#include "loadgen/drivers/http.h"
#include "loadgen/drivers/native.h"

namespace loadgen {

std::unique_ptr<Driver> make_driver(const Config& config) {
  switch (config.protocol) {
    case Protocol::kNative: break;
    case Protocol::kFtp:
      return std::make_unique<FtpDriver>(config.ftp_data, is_crowd(config)
                                                              ? FtpDriver::Sizes::kAsked
                                                              : FtpDriver::Sizes::kAsAnnounced);
    case Protocol::kHttp: {
      std::string host = config.server.is_unix() ? "localhost" : net::to_string(config.server);
      const bool is_kept = config.connection == Connection::kKeepAlive;
      return std::make_unique<HttpDriver>(config.request, std::move(host), is_kept);
    }
  }
  return std::make_unique<NativeDriver>(config.request, config.is_pipelined);
}

}  // namespace loadgen
