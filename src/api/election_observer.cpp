#include <utility>

#include "api/observation.hpp"
#include "api/watch.hpp"
#include "holdfast/detail/async.hpp"
#include "holdfast/election.hpp"

namespace holdfast {
namespace detail {

observation::observation(client& through, std::string name)
    : shared_(access::shared(through)),
      name_(std::move(name)),
      lock_(runtime::make_plan(through.settings(), name_)->keys.lock) {}

std::shared_ptr<pending> start_next(election_observer& by, clock::time_point give_up_at,
                                    next_done done) {
    const auto& of = access::observation_of(by);
    auto look = of->look();
    return start_watch(of->through(), look_until(look, give_up_at),
                       [of, look, done = std::move(done)](std::exception_ptr why, bool changed) {
                           std::optional<leader> now;
                           if (changed) now = of->tell(*look);
                           done(std::move(why), std::move(now));
                       });
}

}  // namespace detail

election_observer::election_observer(client& through, std::string name)
    : observation_(std::make_shared<detail::observation>(through, std::move(name))) {}
election_observer::~election_observer() = default;
election_observer::election_observer(election_observer&&) noexcept = default;
election_observer& election_observer::operator=(election_observer&&) noexcept = default;

const std::string& election_observer::name() const noexcept { return observation_->name(); }

std::optional<leader> election_observer::next_until(clock::time_point when, std::stop_token stop) {
    const auto look = observation_->look();
    const bool changed =
        detail::watch(observation_->through(), detail::look_until(look, when), std::move(stop));
    if (!changed) return std::nullopt;
    return observation_->tell(*look);
}

std::optional<leader> election_observer::next_until(clock::time_point when, std::stop_token stop,
                                                    std::error_code& error) {
    return detail::catching(error, [&] { return next_until(when, std::move(stop)); });
}

}  // namespace holdfast
