-- Takes all locks if each of them is free with nobody in line, or kept for its owner; or stands in line for those
-- that are not, and has the others kept for it. Of one voter, whose order is everybody's.
--
-- KEYS    locks, n of them; wait queues, n of them; fencing counters, n of them (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- ARGV[3] how its entry in line begins, as of exclusive/queue_acquire.lua; '': it does not wait
-- ARGV[4] '1' where it may stand in line already
-- With fencing:  ARGV[5] ms for which an idle counter is kept   ARGV[6] floor, as of exclusive/acquire.lua
--
-- {1, counter}             granted; the token (0 without fencing)
-- {0, owner, ttl, place}   the first that is not its own, in the order of KEYS: held by `owner` for `ttl` more ms
--                          (-1: for ever). The last of its places in line, from 1 on; 0: in none
--
-- Kept: the lock has its owner for a little more than 2 s, as one that was granted by grant_next.lua, and it must
-- look in time, or the next has it. Who stands in line has entered all queues at one moment, so the order is the
-- same in all of them, and whoever came first never waits for who came later. So who has lost one of its
-- places loses all, and enters anew behind everybody: doc/kinds.md.
-- uses draw.lua
-- uses exclusive/grant_next.lua
local owner, entry, known, fenced = ARGV[1], ARGV[3] .. ARGV[1], ARGV[4] == '1', ARGV[5]
local count = #KEYS / (fenced and 3 or 2)
-- All keys at once, and lists among them: those are nothing to MGET, and looked at by themselves. Nobody listens
-- through this script, so nobody is told of their changes.
local found, holders, other = redis.call('MGET', unpack(KEYS)), {}, nil
for n = 1, count do
    holders[n] = found[n]
    local waiting = not found[n] and redis.pcall('LLEN', KEYS[count + n])
    if type(waiting) == 'number' and waiting > 0 then
        holders[n] = redis.call('GET', KEYS[n]) or grant_next(KEYS[n], KEYS[count + n])
    end
    if holders[n] and holders[n] ~= owner and not other then other = n end
end
local function pass_on(n)
    if not grant_next(KEYS[n], KEYS[count + n], owner) then redis.call('DEL', KEYS[n]) end
end
if not other then
    for n = 1, count do
        -- MGET does not tell what is no string from nothing: then the others are left as they are.
        if not redis.call('SET', KEYS[n], owner, holders[n] and 'XX' or 'NX', 'PX', ARGV[2]) then
            for before = 1, n - 1 do pass_on(before) end
            return redis.pcall('GET', KEYS[n])
        end
        -- Where the queue was kept from it, it may still stand there.
        if known and not holders[n] then redis.pcall('LREM', KEYS[count + n], -1, entry) end
    end
    if not fenced then return {1, 0} end
    local token, wrong = draw(found, 2 * count + 1, fenced, tonumber(ARGV[6]))
    if token then return {1, token} end
    for n = 1, count do pass_on(n) end
    return no_counter(wrong)
end
-- Who waits has them kept: what MGET took for nothing must be just that, and GET says what is wrong with it.
for n = 1, count do
    if not holders[n] then redis.call('GET', KEYS[n]) end
end
local function is_other(n) return holders[n] and holders[n] ~= owner end
-- Its place, if it has kept all; false: it has not. 0: it may not look where it stands, and must not enter twice.
-- What was kept for it, and was let go of, is its own again as long as nobody has asked for it.
local function place_kept()
    local last = 1
    for n = 1, count do
        local before = 0
        if is_other(n) then before = redis.pcall('LPOS', KEYS[count + n], entry) end
        if not before then return false end
        last = type(before) == 'number' and last > 0 and math.max(last, before + 1) or 0
    end
    return last
end
local function leave()
    for n = 1, count do
        redis.pcall('LREM', KEYS[count + n], -1, entry)
        if holders[n] == owner then
            holders[n] = grant_next(KEYS[n], KEYS[count + n], owner)
            if not holders[n] then redis.call('DEL', KEYS[n]) end
        end
    end
end
-- Enters all queues of what others have, or none: 0.
local function enter()
    local last = 1
    for n = 1, count do
        local place = is_other(n) and redis.pcall('RPUSH', KEYS[count + n], entry) or 1
        if type(place) ~= 'number' then
            leave()
            return 0
        end
        last = math.max(last, place)
    end
    return last
end
local place = 0
if ARGV[3] ~= '' then
    local kept = known and place_kept()
    if known and not kept then leave() end
    place = kept or enter()
    -- Who waits looks once a second, and a millisecond later for each who stands before it. A server that takes
    -- no writes for a while refuses even this: a look that finds its entries goes on without.
    local write = kept and redis.pcall or redis.call
    for n = 1, place > 0 and count or 0 do
        if is_other(n) then
            write('PEXPIRE', KEYS[count + n], 10000)
        else
            write('SET', KEYS[n], owner, 'PX', 2000 + place)
        end
    end
end
return {0, string.sub(holders[other], 1, 1024), redis.call('PTTL', KEYS[other]), place}
