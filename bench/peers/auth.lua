-- nginx answers only if Redis has this user with this password in plain text, as our authserver
-- wrote it. It asks at every request, over a connection that the worker keeps.
local redis = require("nginx.redis"):new()

local function deny()
    return ngx.exit(ngx.HTTP_UNAUTHORIZED)
end

local encoded = (ngx.var.http_authorization or ""):match("^Basic (.+)$")
local user, password = (ngx.decode_base64(encoded or "") or ""):match("^([^:]+):(.*)$")
if not user then
    return deny()
end
redis:set_timeout(2000)
local connected, problem = redis:connect("127.0.0.1", tonumber(ngx.var.redis_port))
if not connected then
    ngx.log(ngx.ERR, "Redis: ", problem)
    return ngx.exit(ngx.HTTP_SERVICE_UNAVAILABLE)
end
local record
record, problem = redis:get("user:" .. user)
if not record then
    ngx.log(ngx.ERR, "Redis: ", problem)
    return ngx.exit(ngx.HTTP_SERVICE_UNAVAILABLE)
end
redis:set_keepalive(60000, 256)
if record ~= "$plain$" .. password then
    return deny()
end
