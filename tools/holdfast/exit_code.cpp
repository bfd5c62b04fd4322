#include "exit_code.hpp"

#include "holdfast/error.hpp"

namespace holdfast::tool {

int exit_code_of(const std::error_code& error) {
    if (error.category() != error_category()) return exit_code::system;
    switch (static_cast<errc>(error.value())) {
        case errc::unreachable:
        case errc::server_error: return exit_code::unavailable;
        case errc::authentication:
        case errc::untrusted:
        case errc::permission: return exit_code::permission;
        case errc::protocol:
        case errc::wrong_type: return exit_code::protocol;
        case errc::invalid_url:
        case errc::invalid_option:
        case errc::invalid_key: return exit_code::usage;
        case errc::other_max_ttl:
        case errc::other_limit:
        case errc::unsafe_server: return exit_code::configuration;
        case errc::lost: return exit_code::lost;
        case errc::not_held: return exit_code::not_acquired;
        case errc::cancelled:
        case errc::closed:
        case errc::forked: return exit_code::system;
    }
    return exit_code::system;
}

}  // namespace holdfast::tool
