-- Registers a different client with each request. The argument makes the names of a run differ from those of others.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  run = arguments[1] or "0"
  count = 0
end

function request()
  count = count + 1
  local body = string.format(
    '{"client_name":"App %s-%d-%d","redirect_uris":["http://127.0.0.1/callback/%d","http://localhost/callback"],' ..
    '"grant_types":["authorization_code","refresh_token"],"scope":"mail"}', run, number, count, count)
  return wrk.format("POST", "/register", { ["Content-Type"] = "application/json" }, body)
end

function done(summary, latency, requests)
  io.write(string.format("registrations: %d, %d, %d\n", summary.requests, summary.errors.status, latency:percentile(99)))
end
