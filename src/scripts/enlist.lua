-- Compares the record of the server's life with its present life, and keeps the record. In another
-- life locks and the last steps of fencing counters may be forgotten: tokens start above a new floor,
-- and guarded clients ask for no vote until the last lock that may be forgotten would have ended.
--
-- KEYS[1] record: run, replication, floor (when the life was first noted, in microseconds); with a
--         guard: until (when the quarantine ends), max_ttl; with replicas that acknowledge: acks (how
--         many had acknowledged this life when the quarantine began), group (of how many servers)
-- KEYS[2] life   KEYS[3] marker   KEYS[4] quarantine: the same for clients of version 0.1, which know
--         no record. KEYS[4] may be longer than ours, where they agreed on a longer ttl.
--         Not in a Cluster, where each slot has a record
-- ARGV[1] run_id   ARGV[2] replication id   ARGV[3] '1': there is no second replication id, so a
--         first one that is new came with the first replica, in the same life
-- ARGV[4] quarantine in ms; '': this client has no guard; '0': an operator vouches for the server
-- ARGV[5] max_ttl in ms
-- ARGV[6] how many servers the replication group has, ARGV[7] how many replicas have to acknowledge what
--         counts, ARGV[8] '1': they have acknowledged that this life is noted. '0', or left out: not
--         known, none, not yet
-- ARGV[9] in a Cluster: the second replication id, that of the master whose place this one took. The slot
--         of a record with another one came from another shard, whose size says nothing here
--
-- `time`: the server's, in microseconds. `grown`: clients agreed on a group of so many, fewer than
-- ARGV[6]; 0: they did not. Who is told so needs the acknowledgement of more, and meets every majority
-- of the smaller group: the record goes on saying what the others rely on.
-- {0, left, floor, max_ttl, time, grown}   the life is known; `left` ms of quarantine (0: none). No token
--                                          below the floor may be drawn
-- {1, left, floor, max_ttl, time, grown}   a quarantine has begun: the life is new, or no guard was asked
--                                          for so far
-- {2, 0, 0, max_ttl, time}                 refused: guarded clients agreed on another max_ttl. Nothing was
--                                          changed
-- {3, 0, 0, max_ttl, time, grown}          the life is noted, and no quarantine has begun: it counts from
--                                          when the replicas have acknowledged that, so that comes first
-- {4, 0, members, max_ttl, time}           refused: clients agreed on a larger group. Nothing was changed
-- WRONGTYPE                                there is something else at the record. Who vouches replaces it
local guarded, vouched = ARGV[4] ~= '', ARGV[4] == '0'
local found
if vouched then found = redis.pcall('GET', KEYS[1]) else found = redis.call('GET', KEYS[1]) end
local record = ' ' .. (type(found) == 'string' and found or '')
local function noted(name) return string.match(record, ' ' .. name .. '=(%S*)') end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- Who finds what no client writes has found no record: the clock may have been set back since, but not
-- by a year, and a max_ttl is a day at most.
local latest = now + 366 * 86400 * 1000000
local limits = {floor = latest, ['until'] = latest, max_ttl = 86400000, acks = 1000, group = 1000}
for name, limit in pairs(limits) do
    local number = noted(name) or '0'
    if not string.match(number, '^%d+$') or tonumber(number) > limit then record = ' ' end
end
if not noted('floor') then record = ' ' end
local max_ttl = noted('max_ttl')
if guarded and not vouched and max_ttl and max_ttl ~= ARGV[5] then
    return {2, 0, 0, tonumber(max_ttl), now}
end
local members, needed = tonumber(ARGV[6] or '0'), tonumber(ARGV[7] or '0')
local known = noted('run') == ARGV[1] and (noted('replication') == ARGV[2] or ARGV[3] == '1')
local of_this_group = KEYS[2] or known or noted('replication') == ARGV[9]
local group = of_this_group and tonumber(noted('group') or '0') or 0
if not vouched and members > 0 and members < group then
    return {4, 0, group, tonumber(max_ttl) or 0, now}
end
local grown = not vouched and group > 0 and members > group and group or 0
local regrouped = members > 0 and members ~= group and grown == 0
if regrouped then group = members end
local floor = tonumber(noted('floor')) or 0
-- A quarantine that began before so many replicas had acknowledged this life does not cover what an
-- earlier master gave away meanwhile. A majority of the group that was agreed on is enough: so much as is
-- asked for in one that has grown meets it.
local enough = grown > 0 and math.min(needed, math.floor(grown / 2)) or needed
local acks = known and tonumber(noted('acks') or '0') or 0
local covers = known and not vouched and (not guarded or acks >= enough)
local quarantined_until = covers and tonumber(noted('until')) or nil
local waits = guarded and not quarantined_until and needed > 0 and ARGV[8] ~= '1'
local begins = guarded and not quarantined_until and not waits
if begins then
    local span = tonumber(ARGV[4])
    if KEYS[3] then redis.call('SET', KEYS[3], ARGV[1]) end
    if KEYS[4] and vouched then
        redis.call('DEL', KEYS[4])
    elseif KEYS[4] and redis.call('PTTL', KEYS[4]) < span then
        redis.call('SET', KEYS[4], ARGV[1], 'PX', ARGV[4])
    elseif KEYS[4] then
        span = redis.call('PTTL', KEYS[4])
    end
    quarantined_until = now + span * 1000
    max_ttl = ARGV[5]
    acks = needed
end
-- A replication id that is new without a second one comes with the first replica, and also when the
-- server forgets the second one (repl-backlog-ttl). A floor that is higher than need be costs nothing.
if not known or noted('replication') ~= ARGV[2] then floor = math.max(floor, now) end
-- For whoever waits it is the end of the quarantine, not the beginning: clocks may differ by as much as
-- that takes. Nobody gets a floor that lies ahead of when it draws: tokens would run ahead of the clock,
-- from which the next life counts.
local lowest = math.max(floor, guarded and quarantined_until or 0)
if begins or regrouped or not known or noted('replication') ~= ARGV[2] then
    local text = string.format('run=%s replication=%s floor=%.0f', ARGV[1], ARGV[2], floor)
    if quarantined_until then text = text .. string.format(' until=%.0f', quarantined_until) end
    if max_ttl then text = text .. ' max_ttl=' .. max_ttl end
    if quarantined_until and acks > 0 then text = text .. ' acks=' .. acks end
    if group > 0 then text = text .. ' group=' .. group end
    redis.call('SET', KEYS[1], text)
    if KEYS[2] then redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. string.format('%.0f', lowest)) end
end
-- Who wants to be told when the record changes is told of no change that it made itself, and of none
-- after it either, unless it has read the record since.
if not KEYS[2] then redis.call('GET', KEYS[1]) end
if waits then return {3, 0, 0, tonumber(max_ttl) or 0, now, grown} end
local left = guarded and math.max(0, math.ceil((quarantined_until - now) / 1000)) or 0
return {begins and 1 or 0, left, lowest, tonumber(max_ttl) or 0, now, grown}
