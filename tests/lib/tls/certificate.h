// A certificate of localhost that signs itself, and its key, as files in PEM.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "tls/key_pair.h"

namespace tests {

inline tls::Files make_certificate(const std::filesystem::path& folder, int days = 30) {
  const tls::Files files{(folder / "one.pem").string(), (folder / "key.pem").string()};
  EVP_PKEY* const key = EVP_EC_gen("P-256");
  X509* const made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), long{60} * 60 * 24 * days);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(made));
  X509_set_pubkey(made, key);
  X509_sign(made, key, EVP_sha256());
  std::FILE* const certificate = std::fopen(files.certificate.c_str(), "w");
  PEM_write_X509(certificate, made);
  std::fclose(certificate);
  std::FILE* const secret = std::fopen(files.key.c_str(), "w");
  PEM_write_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(secret);
  ::chmod(files.key.c_str(), 0600);
  X509_free(made);
  EVP_PKEY_free(key);
  return files;
}

}  // namespace tests
