# What each layer is made of, from the bottom up: doc/design.md says what they are
# for, and test/repository/layers who may include whom. The simulator compiles some of them again.

set(core_sources
  core/acquire.cpp core/clock_watch.cpp core/contend.cpp core/hand_off.cpp
  core/hash_slot.cpp core/judge.cpp core/release.cpp core/renew.cpp core/watchdog.cpp)

set(resp_sources
  resp/framer.cpp resp/to_string.cpp resp/view.cpp)

set(script_sources
  scripts/election/acquire.lua scripts/election/commit.lua scripts/election/forget.lua
  scripts/election/queue_acquire.lua scripts/election/queue_release.lua scripts/election/release.lua
  scripts/enlist.lua scripts/exclusive/acquire.lua scripts/exclusive/commit.lua
  scripts/exclusive/extend.lua scripts/exclusive/force.lua scripts/exclusive/linger.lua
  scripts/exclusive/queue_acquire.lua scripts/exclusive/queue_release.lua
  scripts/exclusive/release.lua
  scripts/latch/count_down.lua scripts/latch/look.lua
  scripts/semaphore/acquire.lua scripts/semaphore/extend.lua scripts/semaphore/force.lua
  scripts/semaphore/release.lua scripts/semaphore/set_limit.lua
  scripts/several/acquire.lua scripts/several/commit.lua scripts/several/extend.lua
  scripts/several/linger.lua scripts/several/queue_acquire.lua scripts/several/release.lua
  scripts/shared/acquire.lua scripts/shared/commit.lua scripts/shared/extend.lua
  scripts/shared/linger.lua scripts/shared/queue_acquire.lua scripts/shared/release.lua)

# What several of these use: cmake/embed_scripts.cmake.
set(script_parts
  scripts/election/note.lua scripts/exclusive/draw.lua scripts/exclusive/grant_next.lua
  scripts/exclusive/leave_note.lua scripts/exclusive/stand_in_line.lua scripts/latch/find.lua
  scripts/semaphore/permits.lua scripts/several/draw.lua scripts/several/owns.lua
  scripts/shared/admit.lua scripts/shared/reading.lua)

set(net_sources
  net/acknowledgement.cpp net/acknowledging.cpp net/connection.cpp net/enlisting.cpp
  net/explain.cpp net/handshake.cpp net/node.cpp net/redirect.cpp net/sentinel_report.cpp
  net/sentinel_resolver.cpp net/slot.cpp net/slot_map.cpp net/supported.cpp net/url.cpp)

set(kinds_sources
  kinds/answers.cpp kinds/calls.cpp kinds/election.cpp kinds/exclusive.cpp kinds/keys.cpp
  kinds/latch.cpp kinds/script_call.cpp kinds/semaphore.cpp kinds/several.cpp kinds/shared.cpp
  kinds/table.cpp)

set(runtime_sources
  runtime/cluster.cpp runtime/driving/timer_queue.cpp runtime/endpoints.cpp runtime/engine.cpp
  runtime/operations/acquiring.cpp runtime/operations/attempt.cpp runtime/operations/cleanup.cpp
  runtime/operations/failures.cpp runtime/operations/heartbeat.cpp runtime/operations/hold.cpp
  runtime/operations/listening.cpp runtime/operations/membership_check.cpp
  runtime/operations/proclaiming.cpp runtime/operations/query.cpp
  runtime/operations/release_retries.cpp runtime/operations/releasing.cpp
  runtime/operations/renewal.cpp runtime/operations/slot_enlisting.cpp runtime/operations/tally.cpp
  runtime/operations/watching.cpp runtime/owner_token.cpp runtime/plan.cpp runtime/waiting/wait_queue.cpp
  runtime/waiting/wait_queues.cpp)

set(platform_sources
  platform/environment.cpp platform/fork_guard.cpp platform/futex_parker.cpp
  platform/threaded_driver.cpp platform/tls.cpp platform/transport.cpp platform/wake_event.cpp
  platform/wake_timer.cpp)

set(api_sources
  api/acquire.cpp api/async.cpp api/client.cpp api/clock.cpp api/duration.cpp api/election.cpp
  api/election_observer.cpp api/error.cpp api/latch.cpp api/leader_look.cpp api/lease.cpp
  api/lockable.cpp api/multi_mutex.cpp api/mutex.cpp api/owner.cpp api/recursive_mutex.cpp
  api/release.cpp api/semaphore.cpp api/shared_mutex.cpp api/watch.cpp)

set(operate_sources
  operate/asking.cpp operate/examine.cpp operate/force.cpp operate/group.cpp operate/latches.cpp
  operate/leaders.cpp operate/operate.cpp operate/permits.cpp operate/readers.cpp
  operate/rights.cpp operate/trial.cpp operate/waiters.cpp)

foreach(layer core resp script net kinds runtime platform api operate)
  list(TRANSFORM ${layer}_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
endforeach()

# What runs without the platform, in the simulator too; and the rest.
set(hermetic_sources ${net_sources} ${kinds_sources} ${runtime_sources})
set(worldly_sources ${platform_sources} ${api_sources} ${operate_sources})
foreach(needed api/duration api/error api/release platform/fork_guard)
  list(APPEND hermetic_sources ${CMAKE_CURRENT_LIST_DIR}/${needed}.cpp)
  list(REMOVE_ITEM worldly_sources ${CMAKE_CURRENT_LIST_DIR}/${needed}.cpp)
endforeach()
