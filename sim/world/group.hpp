#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/server/replication.hpp"
#include "sim/world/host.hpp"
#include "sim/world/incident.hpp"
#include "sim/world/sentinel_host.hpp"

namespace holdfast::sim {

/// The servers of one replication group: the streams between them, the Sentinels that clients ask,
/// and the fail-overs that these would decide on. How they agree is not simulated; what comes of it
/// is, and in every order that it can come in: a replica is promoted, one Sentinel after the other
/// knows, one server after the other follows, and the old master goes on until it is told.
///
///   a stream   connecting --- PSYNC ---> following     all of the data first, or what is missing
///                  ^-- its master is gone, demoted, promoted, or another one: --|
///
/// What holds of every group: each fail-over has an epoch, and a server is told to follow the
/// master of the newest one alone. So none goes back to a master that was replaced.
class group final : host_watcher {
  public:
    group(world& in, network& on, checkers& watched, std::vector<std::unique_ptr<host>>& members);
    ~group();
    group(const group&) = delete;
    group& operator=(const group&) = delete;

    /// All follow the first, and an operator has vouched for it, long ago.
    void begin();

    /// Its events: what, and of whom.
    void acts(const event& e);
    [[nodiscard]] sentinel_host& at(std::uint32_t machine) {
        return *sentinels_[machine - hosts_.size()];
    }

    void begin(const incident& what);
    void end(const incident& what);
    void heal();

    [[nodiscard]] std::uint32_t master() const { return master_; }
    [[nodiscard]] std::uint64_t fail_overs() const { return masters_.size() - 1; }
    [[nodiscard]] bool is_replica(std::uint32_t server) const;

    /// How many servers have known that the owner has the lock until then, or for longer.
    [[nodiscard]] std::size_t backing(std::string_view owner, instant until) const;

  private:
    class feeder;

    enum step : std::uint16_t {
        part_arrives,     // `subject`: replica, `generation`: of its link
        tries_again,      // the same; it connects to its master
        psync_arrives,    // the same, at its master
        ack_arrives,      // `subject`: which
        close_arrives,    // the same; a replica has left
        is_told,          // `subject`: server; whom to follow now
        is_suspected,     // `generation`: the epoch; is the master still not there?
        is_brought_back,  // `subject`: server; it was the master before
        sentinel_learns,  // `subject`: which, `generation`: the epoch
        address_moves,    // where clients have an address; `subject`: whether it has arrived
        must_be_granted,  // after healing, by now
    };

    /// What a master has sent to a replica.
    struct part {
        enum class kind : std::uint8_t { changes, all, rest_follows, asks_for_word, end };
        kind what{};
        transaction_pointer changes{};
        std::shared_ptr<const snapshot> all{};
        std::string replication_id{};
    };

    /// Between a replica and the master that it follows.
    struct link {
        std::uint32_t generation = 0;
        std::uint32_t attachment = 0;  // at the master; 0: it does not send to it
        std::deque<part> under_way{};
        instant last_down{};
        instant last_up{};
        core::duration lag{};
        instant lags_until{};
    };

    /// What a replica says to its master.
    struct word {
        std::uint32_t master = 0;
        std::uint32_t attachment = 0;
        std::int64_t offset = 0;
    };

    struct known {
        std::int64_t expires_at_ms = 0;
        instant until{};
        core::node_set by{};
    };

    void went_down(std::uint32_t server) override;
    void came_up(std::uint32_t server) override;
    void went_silent(std::uint32_t server) override;

    // Streams.
    void carry(std::uint32_t master, const transaction_pointer& next);
    void ask_for_acknowledgements(std::uint32_t master);
    void send(std::uint32_t replica, part what);
    void take_part(std::uint32_t replica);
    void acknowledge(std::uint32_t replica);
    void send_word(std::uint32_t replica, step what, std::int64_t offset);
    void take_word(step what, const word& said);
    void unlink(std::uint32_t replica);
    void unlink_all_of(std::uint32_t master);
    void try_again(std::uint32_t replica);
    void request_psync(std::uint32_t replica);
    void take_psync(std::uint32_t replica);
    [[nodiscard]] core::duration draw_delay();
    [[nodiscard]] instant cut_between(std::uint32_t one, std::uint32_t other) const;

    // Fail-overs.
    [[nodiscard]] bool reached(std::uint32_t server) const;
    void suspect(std::uint32_t server);
    void fail_over(std::uint32_t variety);
    void bring_back(std::uint32_t server);
    void replace_by(std::uint32_t next);
    void promote(std::uint32_t server);
    void announce();
    void tell(std::uint32_t server);
    void follow(std::uint32_t server, std::uint32_t master);
    void move_address(bool arrived);
    void teach(std::uint32_t which, std::uint64_t epoch);
    void isolate(const incident& what);
    void cut_off_from_sentinels(std::uint32_t client, instant until);
    void heal(std::uint32_t server);
    void mislead(const incident& what, bool begins);
    void check_granted();

    [[nodiscard]] bool lasts(const known& what, instant until) const;
    void note(std::uint32_t server, const transaction::effect& what);
    void plan_step(core::duration in, step what, std::uint32_t subject,
                   std::uint32_t generation = 0) {
        world_.schedule(world_.now() + in, event::kind::group_acts, subject, what, generation);
    }
    [[nodiscard]] core::duration soon_or_late();
    void say(const char* what, std::uint32_t server);
    static std::string name_of(std::uint32_t server) { return "s" + std::to_string(server); }
    [[nodiscard]] const plan& settings() const { return world_.settings(); }

    static constexpr std::size_t most = 8;

    world& world_;
    network& network_;
    checkers& checkers_;
    std::vector<std::unique_ptr<host>>& hosts_;
    random chance_;
    std::vector<std::unique_ptr<feeder>> feeders_;
    std::vector<link> links_;             // of each as a replica
    std::vector<std::uint32_t> follows_;  // whom each is set up to follow; itself: a master
    std::vector<word> words_;             // all that replicas have ever said
    std::uint32_t attachments_ = 0;
    std::uint32_t master_ = 0;               // of the newest epoch
    std::vector<std::uint32_t> masters_{0};  // of every epoch
    std::array<std::array<instant, most>, most> cut_{};
    std::array<instant, most> unheard_until_{};  // by the Sentinels
    std::vector<std::unique_ptr<sentinel_host>> sentinels_;
    std::vector<bool> behind_;  // which of them learn nothing
    std::vector<bool> hasty_;   // which of them believe in a promotion before it has happened
    std::uint64_t granted_before_ = 0;

    std::map<std::string, std::vector<known>, std::less<>> known_;  // of the lock, by its owner
};

}  // namespace holdfast::sim
