-- Asks the endpoint for the labels of random nodes:
--   wrk -t2 -c16 -d60s --latency -s examples/serve/wrk.lua http://127.0.0.1:8000 -- 1000000 secret
-- The first argument is the number of nodes, whose ids are 0, 1, …; the second the token.
local nodes, token

function init(args)
    nodes, token = tonumber(args[1] or 34), args[2]
    math.randomseed(tonumber(tostring({}):match("0x(%x+)"), 16) % 2147483647)
end

function request()
    local headers = {["Content-Type"] = "application/json"}
    if token then headers["Authorization"] = "Bearer " .. token end
    return wrk.format("POST", "/predict", headers, '{"nodes": ["' .. math.random(0, nodes - 1) .. '"]}')
end

function done(summary, latency)
    local bad = summary.errors.status + summary.errors.timeout + summary.errors.connect + summary.errors.read
    print(string.format("%.0f requests a second, p99 %.1f ms, %d errors",
                        summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, bad))
end
