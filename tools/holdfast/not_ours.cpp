#include "not_ours.hpp"

#include <system_error>

#include "exit_code.hpp"
#include "holdfast/error.hpp"
#include "holdfast/operate.hpp"
#include "message.hpp"

namespace holdfast::tool {

int no_longer_ours(client& through, const std::string& key) {
    try {
        (void)inspect(through, key);
    } catch (const std::system_error& error) {
        if (error.code() == errc::wrong_type) throw;
    }
    say("'" + printable(key) + "' is not held by that owner, or no longer");
    return exit_code::not_acquired;
}

}  // namespace holdfast::tool
