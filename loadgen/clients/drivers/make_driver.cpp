#include "loadgen/clients/drivers/driver.h"
#include "loadgen/clients/drivers/ftp.h"
#include "loadgen/clients/drivers/http.h"
#include "loadgen/clients/drivers/native.h"

namespace loadgen {

std::unique_ptr<Driver> make_driver(const Config& config) {
  switch (config.protocol) {
    case Protocol::kNative: break;
    case Protocol::kFtp:
      return std::make_unique<FtpDriver>(
          config.ftp_data, FtpDriver::Ways{.sizes = is_crowd(config) ? FtpDriver::Sizes::kAlways
                                                                     : FtpDriver::Sizes::kOnce,
                                           .quits = config.connection == Connection::kPerRequest});
    case Protocol::kHttp: {
      std::string host = config.server.is_unix() ? "localhost" : net::to_string(config.server);
      const bool is_kept = config.connection == Connection::kKeepAlive;
      return std::make_unique<HttpDriver>(std::move(host), is_kept);
    }
  }
  return std::make_unique<NativeDriver>(config.is_pipelined);
}

}  // namespace loadgen
