-- wrk's script. Each request is one of USERS users in turn, and the result is one line of JSON.
--   wrk ... -s users.lua URL -- USERS PASSWORD
local requests, at = {}, 0
local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(text)
    local bits = text:gsub(".", function(c)
        local byte, out = c:byte(), ""
        for i = 7, 0, -1 do
            out = out .. math.floor(byte / 2 ^ i) % 2
        end
        return out
    end)
    bits = bits .. ("0"):rep(-#bits % 6)
    local coded = bits:gsub("%d%d%d%d%d%d", function(six)
        local n = tonumber(six, 2) + 1
        return alphabet:sub(n, n)
    end)
    return coded .. ("="):rep(-#coded % 4)
end

-- Requests are made before the run, so that a request costs wrk one look-up.
function init(arguments)
    for user = 1, tonumber(arguments[1]) do
        local credentials = base64("user" .. user .. ":" .. arguments[2])
        wrk.headers["Authorization"] = "Basic " .. credentials
        requests[user] = wrk.format()
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(('{"requests": %d, "seconds": %f, "bytes": %d, "failed": %d}\n'):format(
        summary.requests, summary.duration / 1e6, summary.bytes,
        errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
