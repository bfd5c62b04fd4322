#include "sim/world/observer.hpp"

#include <utility>

#include "sim/world/client.hpp"

namespace holdfast::sim {

observer::observer(client& of) : client_(of), process_(of.self()) {}

void observer::say(const std::string& what) {
    if (!process_.in().traced()) return;
    const auto who = "client " + std::to_string(process_.index()) + ".o";
    process_.in().tracer().line(process_.now(), who.c_str(), "%s", what.c_str());
}

void observer::look() {
    auto& engine = *client_.engine();
    const auto lock = engine.lock();
    if (engine.closed()) return;
    engine.driving().require_background();
    engine.begin_unattended();
    look_ = std::make_shared<detail::leader_look>(std::string(election_key), known_);
    watching_ =
        new runtime::watching(client_.engine(), {.what = look_}, [this](runtime::watching& over) {
            result_ = over.take_result();
            client_.engine()->end_unattended();
            client_.engine()->driving().call_back(told_);
        });
    watching_->start(engine.now());
    engine.submit();
    engine.driving().attend_by(engine.now());
}

void observer::act(std::uint32_t generation) {
    if (generation == timer_) look();
}

void observer::told() {
    process_.maybe_pause(network::pauses_per_write);
    watching_.reset();
    const auto result = std::exchange(result_, {});
    if (result.how == runtime::watching::outcome::satisfied) {
        known_ = look_->found();
        say("is told of " + (*known_ ? known_->value + " in term " + std::to_string(known_->term)
                                     : std::string("nobody")));
        client_.watched().leaders().told(
            process_.index(),
            {.owner = known_->who.owner, .term = known_->term, .value = known_->value});
        return look();
    }
    say("is told of nothing");
    constexpr core::duration after_error = std::chrono::milliseconds(50);
    process_.in().schedule(process_.when(process_.local() + after_error), event::kind::caller_acts,
                           process_.index(), slot, ++timer_);
}

}  // namespace holdfast::sim
