#include "support/certificates.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace holdfast::test {

namespace {

template <auto Free>
struct freed_by {
    template <typename Object>
    void operator()(Object* object) const {
        Free(object);
    }
};
using key_pointer = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_pointer = std::unique_ptr<X509, freed_by<X509_free>>;
using extension_pointer = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;
using file_pointer = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

constexpr long day = 24 * 60 * 60;

/// Checks the result of an OpenSSL call, which is null or not positive when it failed.
template <typename Result>
Result ensure(Result result, const char* action) {
    if (result > Result{}) return result;
    std::array<char, 256> reason{};
    ::ERR_error_string_n(::ERR_get_error(), reason.data(), reason.size());
    throw std::runtime_error{std::string{"cannot "} + action + ": " + reason.data()};
}

/// What distinguishes one certificate from another.
struct description {
    std::string common_name;
    validity period;
    std::vector<std::pair<int, std::string>> extensions;  // the number of each, and its value
};

void set_period(X509* certificate, validity period) {
    long begin = -day;
    long end = day;
    if (period == validity::expired) std::tie(begin, end) = std::pair{-2 * day, -day};
    if (period == validity::not_yet) std::tie(begin, end) = std::pair{day, 2 * day};
    ensure(::X509_gmtime_adj(X509_getm_notBefore(certificate), begin), "set the beginning");
    ensure(::X509_gmtime_adj(X509_getm_notAfter(certificate), end), "set the end");
}

/// A random one: a client may refuse two certificates of one issuer with the same number.
void set_serial_number(X509* certificate) {
    std::array<unsigned char, 8> bytes{};
    ensure(::RAND_bytes(bytes.data(), bytes.size()), "draw a serial number");
    std::uint64_t number = 0;
    for (const unsigned char byte : bytes) number = number << 8 | byte;
    ensure(::ASN1_INTEGER_set_uint64(::X509_get_serialNumber(certificate), number),
           "set the serial number");
}

void set_common_name(X509* certificate, const std::string& name) {
    ensure(::X509_NAME_add_entry_by_txt(::X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                        reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                                        -1, 0),
           "set the subject");
}

void add_extension(X509* certificate, X509* issuer, int number, const std::string& value) {
    X509V3_CTX context{};
    ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const extension_pointer extension{
        ensure(::X509V3_EXT_conf_nid(nullptr, &context, number, value.c_str()), "read extension")};
    ensure(::X509_add_ext(certificate, extension.get(), -1), "add an extension");
}

/// A certificate for `key`. Without an issuer it is signed by itself.
certificate_pointer make_certificate(const description& wanted, EVP_PKEY* key, X509* issuer,
                                     EVP_PKEY* issuer_key) {
    certificate_pointer made{ensure(::X509_new(), "create a certificate")};
    if (issuer == nullptr) issuer = made.get();
    ensure(::X509_set_version(made.get(), X509_VERSION_3), "set the version");
    set_serial_number(made.get());
    set_period(made.get(), wanted.period);
    set_common_name(made.get(), wanted.common_name);
    ensure(::X509_set_issuer_name(made.get(), ::X509_get_subject_name(issuer)), "set the issuer");
    ensure(::X509_set_pubkey(made.get(), key), "set the key");
    for (const auto& [number, value] : wanted.extensions)
        add_extension(made.get(), issuer, number, value);
    ensure(::X509_sign(made.get(), issuer_key, ::EVP_sha256()), "sign");
    return made;
}

key_pointer make_key() { return key_pointer{ensure(EVP_EC_gen("P-256"), "generate a key")}; }

file_pointer create_file(const std::filesystem::path& path) {
    file_pointer file{std::fopen(path.c_str(), "w")};
    if (!file) throw std::runtime_error{"cannot create " + path.native()};
    return file;
}

certificate_files write_files(const std::filesystem::path& directory, const std::string& label,
                              X509* certificate, EVP_PKEY* key) {
    certificate_files files{.certificate = directory / (label + ".pem"),
                            .key = directory / (label + ".key")};
    ensure(::PEM_write_X509(create_file(files.certificate).get(), certificate), "write");
    ensure(::PEM_write_PrivateKey(create_file(files.key).get(), key, nullptr, nullptr, 0, nullptr,
                                  nullptr),
           "write a key");
    return files;
}

bool is_address(const std::string& name) {
    return name.find(':') != std::string::npos ||
           name.find_first_not_of("0123456789.") == std::string::npos;
}

std::string alternative_names(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names)
        list += (list.empty() ? "" : ",") + std::string{is_address(name) ? "IP:" : "DNS:"} + name;
    return list;
}

description server_description(const std::string& label, const std::vector<std::string>& names,
                               validity period) {
    return {.common_name = label,
            .period = period,
            .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_ext_key_usage, "serverAuth"},
                           {NID_subject_alt_name, alternative_names(names)}}};
}

description client_description(const std::string& label, validity period) {
    return {.common_name = label,
            .period = period,
            .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                           {NID_ext_key_usage, "clientAuth"}}};
}

description authority_description(const std::string& label) {
    return {.common_name = "Holdfast test authority " + label,
            .period = validity::current,
            .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                           {NID_key_usage, "critical,keyCertSign,cRLSign"},
                           {NID_subject_key_identifier, "hash"}}};
}

}  // namespace

struct certificate_authority::identity {
    key_pointer key = make_key();
    certificate_pointer certificate;

    certificate_files issue(const std::filesystem::path& directory, const std::string& label,
                            const description& wanted) const {
        const key_pointer subject_key = make_key();
        const certificate_pointer issued =
            make_certificate(wanted, subject_key.get(), certificate.get(), key.get());
        return write_files(directory, label, issued.get(), subject_key.get());
    }
};

certificate_authority::certificate_authority(std::filesystem::path directory, std::string label)
    : directory_{std::move(directory)},
      label_{std::move(label)},
      identity_{std::make_unique<identity>()} {
    identity_->certificate = make_certificate(authority_description(label_), identity_->key.get(),
                                              nullptr, identity_->key.get());
    write_files(directory_, label_, identity_->certificate.get(), identity_->key.get());
}

certificate_authority::~certificate_authority() = default;
certificate_authority::certificate_authority(certificate_authority&&) noexcept = default;
certificate_authority& certificate_authority::operator=(certificate_authority&&) noexcept = default;

std::filesystem::path certificate_authority::file() const { return directory_ / (label_ + ".pem"); }

certificate_files certificate_authority::issue_server(const std::string& label,
                                                      const std::vector<std::string>& names,
                                                      validity period) {
    return identity_->issue(directory_, label, server_description(label, names, period));
}

certificate_files certificate_authority::issue_client(const std::string& label, validity period) {
    return identity_->issue(directory_, label, client_description(label, period));
}

certificate_files make_self_signed(const std::filesystem::path& directory, const std::string& label,
                                   const std::vector<std::string>& names) {
    const key_pointer key = make_key();
    const certificate_pointer made = make_certificate(
        server_description(label, names, validity::current), key.get(), nullptr, key.get());
    return write_files(directory, label, made.get(), key.get());
}

}  // namespace holdfast::test
