-- Lets a reader read on, if it still does. A writer of the same digits that has become one reads from now on,
-- with nobody in between: however often that is repeated, it is done once, and each time is an extension.
-- Never shortens, never creates. Without any time it says whether it still does either, and changes nothing.
--
-- KEYS[1] lock   KEYS[2] readers
-- Behind these, where ARGV[4] is '1', the wait queue of one voter: who stands first there and wants to read
-- joins a writer that reads from now on. The last, where ARGV[3] is not '': fencing counter
-- ARGV[1] owner  ARGV[2] ttl in ms       ARGV[3] ms for which an idle counter is kept; '': there is none
--
-- 1   it reads
-- 0   it does not any more
-- uses exclusive/publish.lua
-- uses reading.lua
-- uses admit.lua
local lock, readers, owner, ttl = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
local wrote = wrote_before(holder, owner)
if not wrote and not is_reader(readers, holder, owner) then return 0 end
if ttl == 0 then return 1 end
if wrote then
    redis.call('SET', lock, owner, 'PX', math.max(ttl, redis.call('PTTL', lock)))
    if ARGV[4] == '1' then admit(lock, KEYS[3], readers, owner) end
else
    read_on(lock, readers, holder, owner, ttl)
end
if ARGV[3] ~= '' then redis.call('PEXPIRE', KEYS[#KEYS], ARGV[3]) end
return 1
