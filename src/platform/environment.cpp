#include "platform/environment.hpp"

#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "platform/threaded_driver.hpp"
#include "platform/transport.hpp"
#include "runtime/owner_token.hpp"

namespace holdfast::platform {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string user_name() {
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr ? found->pw_name : std::to_string(::geteuid());
}

class environment final : public runtime::environment {
  public:
    environment() { io_.get_executor().on_work_started(); }  // an idle loop is not a finished one

    [[nodiscard]] clock::time_point now() const noexcept override { return clock::now(); }

    void draw(std::span<std::uint8_t> into) override {
        for (std::size_t filled = 0; filled < into.size();) {
            const auto got = ::getrandom(into.data() + filled, into.size() - filled, 0);
            if (got < 0 && errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "getrandom");
            }
            filled += got > 0 ? static_cast<std::size_t>(got) : 0;
        }
    }

    [[nodiscard]] std::string signature() const override {
        static const std::string who =
            ":" + runtime::readable(user_name()) + "@" + runtime::readable(host_name()) + ":";
        return who + std::to_string(::getpid()) + ":";
    }

    [[nodiscard]] std::shared_ptr<net::credentials> prepare(const net::endpoint& where) override {
        return platform::prepare(io_, where);
    }

    [[nodiscard]] std::shared_ptr<net::transport> make_transport(
        const net::endpoint& where, std::shared_ptr<net::credentials> with,
        base::client_mutex& guard, net::transport::events& listener) override HOLDFAST_LOCKED {
        return platform::make_transport(io_, where, std::move(with), guard, listener);
    }

    [[nodiscard]] std::unique_ptr<runtime::driver> make_driver(
        base::client_mutex& guard, runtime::driver::machinery& driven) override {
        // Asio's loop needs descriptors. Its errors are Boost's, which no user of the library
        // knows.
        try {
            return std::make_unique<threaded_driver>(io_, guard, driven);
        } catch (const boost::system::system_error& failed) {
            throw std::system_error(failed.code(), "cannot make a client");
        }
    }

  private:
    boost::asio::io_context io_{1};
};

}  // namespace

std::shared_ptr<runtime::environment> make_environment() { return std::make_shared<environment>(); }

}  // namespace holdfast::platform
