#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// PEM files.
struct certificate_files {
    std::filesystem::path certificate;
    std::filesystem::path key;
};

enum class validity { current, expired, not_yet };

/// An authority, with a new key, that issues certificates for tests into one directory.
/// A name made of digits and dots, or with a colon, is an IP address; all others are DNS names.
/// A server for the wrong host is one issued for another name.
///
/// Thread safety: one object from one thread at a time.
/// Errors: std::runtime_error with what OpenSSL says.
class certificate_authority {
  public:
    /// `label` begins the names of the files, so that one directory can hold several authorities.
    explicit certificate_authority(std::filesystem::path directory, std::string label = "ca");
    ~certificate_authority();

    certificate_authority(certificate_authority&&) noexcept;
    certificate_authority& operator=(certificate_authority&&) noexcept;

    /// The certificate that clients trust.
    std::filesystem::path file() const;

    certificate_files issue_server(const std::string& label, const std::vector<std::string>& names,
                                   validity period = validity::current);
    certificate_files issue_client(const std::string& label, validity period = validity::current);

  private:
    struct identity;
    std::filesystem::path directory_;
    std::string label_;
    std::unique_ptr<identity> identity_;
};

/// A server certificate that no authority vouches for.
certificate_files make_self_signed(const std::filesystem::path& directory, const std::string& label,
                                   const std::vector<std::string>& names);

}  // namespace holdfast::test
