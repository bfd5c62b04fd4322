-- Releases each lock that is still ours, of one voter to the first in its line; and leaves the lines of the others.
--
-- KEYS    locks, n of them; wait queues, n of them (of one voter)
-- ARGV[1] owner  Of one voter: ARGV[2] how its entry in line begins; '': it has none
--
-- 2   released, and one of them was granted to the next
-- 1   released; nobody stands in line
-- 0   one of them had another owner, or none. The rest is released all the same
-- or the error by which a queue keeps the entry: it is to be left once more
-- uses exclusive/grant_next.lua
local owner, start = ARGV[1], ARGV[2]
local count = start and #KEYS / 2 or #KEYS
local holders, found, refused = redis.call('MGET', unpack(KEYS, 1, count)), 1, nil
local freed = {}
for n = 1, count do
    if holders[n] == owner then
        local first = start and redis.pcall('LPOP', KEYS[count + n])
        if first and grant_next(KEYS[n], KEYS[count + n], owner, first) then
            found = 2 * math.min(found, 1)
        else
            freed[#freed + 1] = KEYS[n]
        end
    else
        found = 0
        local left = start and start ~= '' and redis.pcall('LREM', KEYS[count + n], -1, start .. owner)
        -- Refused, as by a server that cannot persist: its entry would be granted the lock in its turn.
        if type(left) == 'table' then refused = left end
    end
end
if freed[1] then redis.call('DEL', unpack(freed)) end
return refused or found
