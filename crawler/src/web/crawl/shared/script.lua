-- One step of a worker: reports the outcomes of its leases, and takes new leases. The script runs in the
-- engine, which runs no other command meanwhile, so the step is atomic.
--
-- KEYS[1] is the prefix of the crawl's keys, and ARGV[1] is the request. Request and answer are JSON, which
-- `wire.rs` describes. Times are in milliseconds, by the engine's clock.
--
--   about         hash      counts: open, left, seen, over; fence: the last token; suspect: a token
--   sites         hash      site -> the data of the site, as JSON
--   due           sorted    sites, by the time from which they may be sent a request
--   later         sorted    ends of rests, and pages to try again, by time
--   q:SITE        sorted    "attempts deaths address", by depth, and then in the order in which they were found
--   aside:SITE    list      pages that failed while the site was being closed
--   held, leases  hash, sorted   token -> the job of the lease; token, by the time at which the lease expires
--   s:BUCKET      set       hashes of addresses that were seen
--   done:FILE     stream    records that are not yet in the worker's file
--   dead          list      pages and sites whose leases expired three times
--   rules:SITE, ask:SITE         the site's robots.txt; the progress of the questions to the site
--   told          hash      "worker site" -> the version of the rules that the worker has
--   last, workers hash, sorted   worker -> its last request and the answer; worker, by the time of that request
--   lefts, waits  set, list      sites that were left; pages that wait for another run

local prefix, request = KEYS[1], cjson.decode(ARGV[1])
local call, limits = redis.call, request.limits
local function key(name) return prefix .. name end

-- Calls a command with a thousand arguments at a time, because Lua's stack holds only some thousands.
local function call_with(name, where, list, option)
  for from = 1, #list, 1000 do
    local words = { unpack(list, from, math.min(from + 999, #list)) }
    if option then table.insert(words, 1, option) end
    call(name, key(where), unpack(words))
  end
end

local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local RULES_COUNT, DEADLY, IN_A_ROW, BRIEFLY = 86400000, 3, 3, 10000
local FIRST_PAUSE, LONGEST_PAUSE, LONG_AGO = 1000, 300000, 100000000000

-- If an answer was lost, the worker repeats its request and gets the same answer, and the step happens once.
local last = call('HGET', key('last'), request.worker)
local number = request.number .. ' '
if last and string.sub(last, 1, #number) == number then return string.sub(last, #number + 1) end

local counts = call('HMGET', key('about'), 'open', 'left', 'seen', 'over', 'fence', 'suspect', 'secret')
if counts[7] ~= request.secret then return redis.error_reply('GONE there is no such crawl') end

call('ZADD', key('workers'), now, request.worker) -- first: if a full engine refuses this write, nothing has changed

local about = { suspect = counts[6] or '' }
for at, name in ipairs({ 'open', 'left', 'seen', 'over', 'fence' }) do about[name] = tonumber(counts[at]) or 0 end

local answer = { leases = {}, stale = {}, over = {}, notes = {} }
local function note(sentence) table.insert(answer.notes, sentence) end

local sites = {}
local function site_of(name)
  if not sites[name] then
    local known = call('HGET', key('sites'), name)
    sites[name] = known and cjson.decode(known) or {
      stripes = 0, taken = 0, over = 0, delay = limits.delay, failures = 0, rests = 0, outages = 0, before = 0, deaths = 0, must = true,
    }
  end
  return sites[name]
end

-- Notes a site that may have a job to hand out. `write_due` makes all noted sites due, except sites that
-- rest.
local looked_at = {}
local function look_at(name) looked_at[name] = true end
local function write_due()
  local due = {}
  for name in pairs(looked_at) do
    local site = site_of(name)
    if not site.left and (site.must or site.taken < site.stripes) then
      table.insert(due, now)
      table.insert(due, name)
    end
  end
  looked_at = {}
  call_with('ZADD', 'due', due, 'NX')
end

-- Lets a page wait, behind or in front of the other pages of its depth.
local function put(page, is_first)
  local order = is_first and 0 or about.seen
  call('ZADD', key('q:' .. page.site), page.depth * LONG_AGO + order, page.attempts .. ' ' .. page.deaths .. ' ' .. page.url)
end

-- Lets an open page wait again. The try counts if `outages` is still the number of the site's outages: the site
-- has answered each question since then.
local function put_back(page, outages)
  local site = site_of(page.site)
  if site.left then
    about.open, about.left = about.open - 1, about.left + 1
  elseif site.outages == outages then
    page.attempts = page.attempts + 1
  end
  put(page, true)
  look_at(page.site)
end

-- Adds the pages that have not been seen. A link is { address, site, depth, bucket, sum, other }. Many pages
-- have the same links.
local met = {}
local function add(links)
  local left_out = 0
  for _, link in ipairs(links or {}) do
    local url, name, depth, bucket, sum = link[1], link[2], link[3], key('s:' .. link[4]), link[5]
    local is_met = met[sum]
    met[sum] = true
    if is_met then
      -- this link was already added or left out
    elseif about.seen >= limits.pages then
      if call('SISMEMBER', bucket, sum) == 0 then left_out = left_out + 1 end
    elseif call('SADD', bucket, sum) == 1 then
      about.seen = about.seen + 1
      local site = site_of(name)
      site.other = link[6]
      put({ url = url, site = name, depth = depth, attempts = 0, deaths = 0 }, false)
      if site.left then
        about.left = about.left + 1
      else
        about.open = about.open + 1
        look_at(name)
      end
    end
  end
  return left_out
end

local function free(name, site)
  site.taken = site.taken - 1
  look_at(name)
end

-- Makes a stripe rest. A site with only one stripe is due at the end of the rest.
local function rest(name, site)
  if site.delay == 0 then
    free(name, site)
  elseif site.stripes <= 1 then
    site.taken = site.taken - 1
    call('ZADD', key('due'), 'GT', now + site.delay, name)
  else
    about.fence = about.fence + 1 -- makes the entry unique
    call('ZADD', key('later'), now + site.delay, cjson.encode({ free = name, number = string.format('%.0f', about.fence) }))
  end
end

local function recover(site)
  site.failures, site.rests, site.since, site.busy = 0, 0, nil, nil
end

-- Records a finished page. The engine keeps the record until the worker reports that it is in the worker's file.
local done = key('done:' .. request.file)
local function keep(page, record)
  about.over = about.over + 1
  answer.mark = call('XADD', done, '*', 'url', page.url, 'record', record)
end

-- Records a page that the engine itself gives up; the worker that gets the answer writes the record.
local function fail(page, why)
  local record = cjson.encode({ progress = 'failed', depth = page.depth, why = why, at = math.floor(now / 1000) })
  keep(page, record)
  table.insert(answer.over, { page.url, record })
end

local function leave(name, site, why)
  site.left = true
  call('SADD', key('lefts'), name)
  for _, page in ipairs(call('LRANGE', key('aside:' .. name), 0, -1)) do put(cjson.decode(page), true) end
  call('DEL', key('aside:' .. name))
  local count = call('ZCARD', key('q:' .. name))
  about.open = about.open - count
  if not site.other then
    about.left = about.left + count
    note(name .. ' is away (' .. why .. '): ' .. count .. ' of its pages wait for another run')
    return
  end
  local pages = call('ZRANGE', key('q:' .. name), 0, -1, 'WITHSCORES')
  for at = 1, #pages, 2 do
    local _, _, url = string.match(pages[at], '^(%d+) (%d+) (.*)$')
    fail({ url = url, depth = math.floor(pages[at + 1] / LONG_AGO) }, 'its site is away (' .. why .. ')')
  end
  call('DEL', key('q:' .. name))
end

-- Makes a closed site rest before it is asked again, or leaves the site if the rest would be too long.
local function close(name, site, asked, why)
  local pause = math.max(asked or 0, math.min(FIRST_PAUSE * 2 ^ site.rests, LONGEST_PAUSE))
  if asked then site.asked_until = now + asked end
  site.rests = site.rests + 1
  local patience = site.other and math.min(limits.patience, BRIEFLY) or limits.patience
  if now - (site.since or now) + pause > patience then return leave(name, site, why) end
  site.must = true
  call('ZADD', key('due'), 'GT', now + pause, name)
end

local function open(name, site, pauses)
  if site.left then return end
  site.stripes = (pauses or 0) > 0 and 1 or limits.per_site
  site.delay = math.max(limits.delay, pauses or 0)
  site.known, site.rules_end, site.version = true, now + RULES_COUNT, string.format('%.0f', now)
  if not site.busy then recover(site) end
  local aside = call('LRANGE', key('aside:' .. name), 0, -1)
  call('DEL', key('aside:' .. name), key('ask:' .. name))
  for at = #aside, 1, -1 do put_back(cjson.decode(aside[at]), site.before) end
  look_at(name)
end

-- ANCHOR: drop
-- Ends the leases of these tokens, and returns their jobs. A token whose lease has already ended has no job.
local function drop(tokens)
  local pages = {}
  if #tokens == 0 then return pages end
  for at, held in ipairs(call('HMGET', key('held'), unpack(tokens))) do
    if held then pages[tokens[at]] = cjson.decode(held) end
    if about.suspect == tokens[at] then about.suspect = '' end
  end
  call('HDEL', key('held'), unpack(tokens))
  call('ZREM', key('leases'), unpack(tokens))
  return pages
end
-- ANCHOR_END: drop

local what = {}

function what.over(page, site, came)
  add(came.links)
  site.over, about.open = site.over + 1, about.open - 1
  if came.is_well then recover(site) end
  keep(page, came.record)
  if came.was_asked then rest(page.site, site) else free(page.site, site) end
end

function what.left(page, site)
  call('RPUSH', key('waits'), cjson.encode(page))
  site.over, about.open, about.left = site.over + 1, about.open - 1, about.left + 1
  free(page.site, site)
end

function what.failed(page, site, came)
  rest(page.site, site)
  site.failures = site.failures + 1
  site.busy, site.since = site.busy or came.is_busy or nil, site.since or now
  if site.left then
    put_back(page)
  elseif site.stripes == 0 then
    call('RPUSH', key('aside:' .. page.site), cjson.encode(page))
  elseif came.rest or came.is_silence or site.failures >= IN_A_ROW then
    site.stripes, site.before = 0, site.outages
    call('RPUSH', key('aside:' .. page.site), cjson.encode(page))
    close(page.site, site, came.rest, came.why)
  else
    local pause = math.min(FIRST_PAUSE * 2 ^ page.attempts, LONGEST_PAUSE)
    call('ZADD', key('later'), now + pause, cjson.encode({ page = page, outages = site.outages }))
  end
end

function what.back(page, site)
  if page.is_site then
    site.must = true
    look_at(page.site)
  else
    free(page.site, site)
    put_back(page)
  end
end

function what.away(page, site, came)
  site.outages, site.since = site.outages + 1, site.since or now
  call('DEL', key('ask:' .. page.site))
  close(page.site, site, came.rest, came.why)
end

function what.next(page, site, came)
  call('SET', key('ask:' .. page.site), came.asking)
  site.must = true
  call('ZADD', key('due'), 'GT', now + came.pause, page.site)
end

function what.known(page, site, came)
  local left_out = add(came.links)
  if left_out > 0 then note(page.site .. ' lists ' .. left_out .. ' pages more than --pages takes on') end
  if came.text then call('SET', key('rules:' .. page.site), came.text) else call('DEL', key('rules:' .. page.site)) end
  open(page.site, site, came.pauses)
  site.taken, site.deaths = site.taken + 1, 0
  rest(page.site, site)
end

-- Asks a site again that was left, but not before the time that the site asked for. If that time is beyond the
-- patience, the site stays left.
local function take_on_again(name)
  local site, count = site_of(name), call('ZCARD', key('q:' .. name))
  local from = math.max(now, site.asked_until or now)
  if from - now > limits.patience then return end
  site.left, site.must, site.stripes = nil, true, 0
  recover(site)
  about.open, about.left = about.open + count, about.left - count
  call('ZADD', key('due'), from, name)
  call('SREM', key('lefts'), name)
end

-- Adds the pages with which the crawl begins. If only left pages remain, they are taken on again, because a
-- user who starts a process then wants these pages.
local function start()
  for _, worker in ipairs(call('ZRANGEBYSCORE', key('workers'), '-inf', now - RULES_COUNT)) do
    call('ZREM', key('workers'), worker)
    call('HDEL', key('last'), worker)
  end
  if about.open == 0 and about.left > 0 then
    for _, name in ipairs(call('SMEMBERS', key('lefts'))) do take_on_again(name) end
    local waits = call('LRANGE', key('waits'), 0, -1)
    about.open, about.left = about.open + #waits, about.left - #waits
    for _, page in ipairs(waits) do put_back(cjson.decode(page)) end
    call('DEL', key('waits'))
  end
  add(request.starts)
end

-- Handles an expired lease: its worker is dead or late. At the third expiry, the page or site is given up.
local function has_run_out(page)
  local site = site_of(page.site)
  page.deaths = page.deaths + 1
  if page.is_site then
    site.deaths = page.deaths
    if page.deaths < DEADLY then
      site.must = true
      return look_at(page.site)
    end
    call('SET', key('rules:' .. page.site), request.nothing)
    call('RPUSH', key('dead'), page.site .. ' (its rules: nothing is allowed)')
    open(page.site, site)
    return
  end
  rest(page.site, site)
  if page.deaths < DEADLY then
    put_back(page)
  else
    about.open = about.open - 1
    call('RPUSH', key('dead'), page.url .. ' (its lease ran out ' .. page.deaths .. ' times)')
    fail(page, 'its lease ran out ' .. page.deaths .. ' times: what fetched it has died, or was too slow')
  end
end

local function comes(entry)
  local site = site_of(entry.free or entry.page.site)
  if entry.free then free(entry.free, site) else put_back(entry.page, entry.outages) end
end

-- Returns the question to a site, or else the page nearest to the start if a stripe is free. Pages at which two
-- workers have died are handed out one at a time, so a third death has only one suspect.
local function next_of(name, site)
  if site.left then return nil end
  if site.stripes > 0 and site.rules_end <= now then
    site.stripes, site.known, site.must, site.before = 0, nil, true, site.outages
  end
  if site.must then
    site.must = false
    local attempts = site.known and 1 or 0
    return { is_site = true, url = name .. '/', site = name, depth = 0, attempts = attempts, deaths = site.deaths }
  end
  while site.taken < site.stripes do
    local first = call('ZPOPMIN', key('q:' .. name))
    if #first == 0 then return nil end
    local attempts, deaths, url = string.match(first[1], '^(%d+) (%d+) (.*)$')
    local page = {
      url = url, site = name, depth = math.floor(first[2] / LONG_AGO), attempts = tonumber(attempts), deaths = tonumber(deaths),
    }
    if page.deaths + 1 < DEADLY or about.suspect == '' then
      site.taken = site.taken + 1
      return page
    end
    call('ZADD', key('later'), now + FIRST_PAUSE, cjson.encode({ page = page, outages = -1 }))
  end
end

-- Adds the rules to the first page of a site that a worker gets.
local told = {}
local function tell(page, site)
  if told[page.site] or not site.version then return end
  told[page.site] = true
  local name = request.worker .. ' ' .. page.site
  if call('HGET', key('told'), name) ~= site.version then
    page.text, page.is_told = call('GET', key('rules:' .. page.site)) or nil, true
    call('HSET', key('told'), name, site.version)
  end
end

-- ANCHOR: lease
-- A token is higher than every earlier token, even if the engine has lost the latest tokens, because its clock
-- has moved on.
local function lease(page, site)
  about.fence = math.max(about.fence + 1, clock[1] * 1000000 + clock[2])
  local token = string.format('%.0f', about.fence)
  if page.deaths + 1 >= DEADLY then about.suspect = token end
  call('HSET', key('held'), token, cjson.encode(page))
  call('ZADD', key('leases'), now + request.lease, token)
  page.token, page.is_other, page.version = token, site.other, site.version
  if page.is_site then
    page.asking = call('GET', key('ask:' .. page.site)) or nil
  else
    tell(page, site)
  end
  table.insert(answer.leases, page)
end
-- ANCHOR_END: lease

-- ANCHOR: step
local tokens = {}
for at, came in ipairs(request.came) do tokens[at] = came.token end
local pages = drop(tokens)
for _, came in ipairs(request.came) do
  local page = pages[came.token]
  if page then
    pages[came.token] = nil
    what[came.what](page, site_of(page.site), came)
  else
    table.insert(answer.stale, came.token)
  end
end
-- ANCHOR_END: step
if request.starts then start() end
local late = call('ZRANGEBYSCORE', key('leases'), '-inf', now, 'LIMIT', 0, 100)
for _, page in pairs(drop(late)) do has_run_out(page) end
for _, entry in ipairs(call('ZRANGEBYSCORE', key('later'), '-inf', now, 'LIMIT', 0, 1000)) do
  call('ZREM', key('later'), entry)
  comes(cjson.decode(entry))
end

-- Hands out a page of each due site, and then further pages of these sites if no other site is due.
while #answer.leases < request.most do
  write_due()
  local wanted = request.most - #answer.leases
  local due = call('ZRANGEBYSCORE', key('due'), '-inf', now, 'LIMIT', 0, wanted)
  call_with('ZREM', 'due', due)
  local is_all = #due < wanted
  repeat
    local again = {}
    for _, name in ipairs(due) do
      local site = site_of(name)
      local page = #answer.leases < request.most and next_of(name, site)
      if page then
        lease(page, site)
        table.insert(again, name)
        look_at(name)
      elseif #answer.leases < request.most then
        looked_at[name] = nil
      end
    end
    due = again
  until #due == 0 or not is_all
  if is_all then break end
end
write_due()

local known = {}
for name, site in pairs(sites) do
  table.insert(known, name)
  table.insert(known, cjson.encode(site))
end
call_with('HSET', 'sites', known)
call('HSET', key('about'), 'open', about.open, 'left', about.left, 'seen', about.seen, 'over', about.over,
  'fence', string.format('%.0f', about.fence), 'suspect', about.suspect)
if #answer.leases < request.most then
  for _, name in ipairs({ 'due', 'later', 'leases' }) do
    local first = call('ZRANGEBYSCORE', key(name), string.format('(%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] then answer.pause = math.min(answer.pause or LONGEST_PAUSE, first[2] - now) end
  end
end
if request.written then -- deletes all records up to and including this mark
  local at, number = string.match(request.written, '^(%d+)-(%d+)$')
  call('XTRIM', done, 'MINID', at .. '-' .. string.format('%.0f', number + 1))
end
answer.open, answer.left, answer.seen, answer.over_in_all = about.open, about.left, about.seen, about.over
for _, name in ipairs({ 'leases', 'stale', 'over', 'notes' }) do
  if #answer[name] == 0 then answer[name] = nil end -- JSON would have an object in place of an empty list
end
answer = cjson.encode(answer)
if request.is_leaving then
  call('ZREM', key('workers'), request.worker)
  call('HDEL', key('last'), request.worker)
else
  call('HSET', key('last'), request.worker, number .. answer)
end
return answer
