-- Who leads: '<term>\n<owner>\n<value>', in a key beside the lock that has no ttl of its own, so that
-- those who watch it are told of a change, and not of renewals. It counts while the lock has that owner.
--
-- nil, or the error by which something else stands there: before anything is written.
local function why_no_note(note)
    local found = redis.pcall('GET', note)
    if type(found) ~= 'table' then return nil end
    if not string.find(found.err, '^WRONGTYPE') then return found end
    return {err = 'WRONGTYPE there is something else at ' .. note .. ', where it is noted who leads'}
end
local function write_note(note, term, owner, value)
    redis.call('SET', note, term .. '\n' .. owner .. '\n' .. value)
end
-- REQUIRES: nobody leads any more.
local function delete_note(note)
    if type(redis.pcall('GET', note)) == 'string' then redis.pcall('DEL', note) end
end
