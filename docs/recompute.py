#!/usr/bin/env python3
"""Recomputes a ledger from its database file alone: python3 docs/recompute.py DATA_DIR/svc.db

Checks every receipt (cost, hold, charged, vendor cost), every balance and every budget against the
versions of prices, limits and route costs that the receipts refer to. Where receipts are no longer
kept, the sums of their days stand for them. Amounts are nano-USD. Prints what was checked and every difference; the exit code is 1 if there is one.
"""
import json, sqlite3, sys
from collections import defaultdict
from datetime import datetime, timezone
from decimal import Decimal

if len(sys.argv) != 2:
    sys.exit("usage: python3 docs/recompute.py DATA_DIR/svc.db")
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
db.row_factory = sqlite3.Row
db.execute("begin")  # one moment of the ledger, also beside a running gateway
rows = db.execute
if not rows("select 1 from sqlite_master where name = 'receipt_marks'").fetchone():
    sys.exit("this database was written by an earlier version: start the gateway once to migrate it")
differences, counts = 0, defaultdict(int)

def expect(what, subject, expected, found, is_right=None):
    global differences
    counts[what] += 1
    if (expected == found) if is_right is None else is_right:
        return
    differences += 1
    print(f"{what} of {subject}: expected {expected}, found {found}")

CLASSES = "input cached_input cache_write output audio_output image video_second audio_second".split()
HOLD_PARTS = {"output": "output", "audio": "audio_output", "image": "image", "video": "video_second",
    "audio_seconds": "audio_second"}

def price_of(price, name):  # kinds of input without a price of their own cost what input does
    return int(price.get(name, price.get("input", 0) if name in ("cached_input", "cache_write") else 0))

def rounded_up(millionths):
    return -(-millionths // 10**6)

def cost_of(receipt, price):
    return rounded_up(sum((receipt[name] or 0) * price_of(price, name) for name in CLASSES))

def hold_of(receipt, price):
    dearest = max(price_of(price, name) for name in CLASSES[:3])
    parts = sum((receipt["hold_" + part] or 0) * price_of(price, name) for part, name in HOLD_PARTS.items())
    return rounded_up(receipt["hold_input"] * dearest + parts)

def period_start(kind, ms):  # in UTC; 0 for a budget without periods
    now = datetime.fromtimestamp(ms / 1000, timezone.utc)
    start = datetime(now.year, now.month, now.day if kind == "day" else 1, tzinfo=timezone.utc)
    return 0 if kind == "total" else int(start.timestamp()) * 1000

prices = {(r["model_id"], r["version"]): json.loads(r["price"] or "null") for r in rows("select * from prices")}
costs = {(r["model_id"], r["version"]): json.loads(r["routes"]) for r in rows("select * from cost_versions")}
budgets, last = defaultdict(dict), {}  # by owner: version -> (kind, nano); the last version
for r in rows("select * from limit_versions order by owner_id, version"):
    text = json.loads(r["limits"] or "{}").get("budget")
    last[r["owner_id"]] = (r["version"], r["effective_at_ms"])
    if text is not None:
        amount, _, kind = text.partition("/")
        budgets[r["owner_id"]][r["version"]] = (kind or "total", int(Decimal(amount) * 10**9))

charged = defaultdict(int)  # by account
spent = defaultdict(lambda: defaultdict(lambda: [0, False]))  # (owner, kind, start) -> version -> sum, had a hold
marks = {r["account_id"]: r["kept_from_ms"] for r in rows("select * from receipt_marks")}

def kept_from(account):  # of all accounts: ""
    return max(marks.get("", 0), marks.get(account, 0))

from_sums = 0
for r in rows("select * from rollup_days"):
    if r["day_ms"] >= kept_from(r["account_id"]):
        continue
    from_sums += r["receipts"]
    charged[r["account_id"]] += r["charged"]
    for owner in (r["account_id"], r["key_id"]):
        for kind in {kind for kind, _ in budgets.get(owner, {}).values()}:
            spent[owner, kind, period_start(kind, r["day_ms"])][float("inf")][0] += r["charged"]  # of unknown versions
for r in rows("select * from receipts order by id"):
    if int(r["id"][4:16], 16) < kept_from(r["account_id"]):
        continue
    price = prices.get((r["model"], r["price_version"]))
    charged[r["account_id"]] += r["charged"]
    if price is None:
        expect("price", r["id"], "a version", r["price_version"])
        continue
    most = r["cost"]
    expect("cost", r["id"], cost_of(r, price), r["cost"])
    if r["hold_input"] is not None:  # recorded since holds have parts; older receipts have none
        most = min(most, r["hold"])
        expect("hold", r["id"], hold_of(r, price), r["hold"])
        routes = costs.get((r["model"], r["cost_version"]), [])
        route = routes[r["cost_route"]] if r["cost_route"] is not None and r["cost_route"] < len(routes) else {}
        expect("provider", r["id"], route.get("provider", ""), r["provider"])
        expect("vendor cost", r["id"], cost_of(r, route["cost"]) if "cost" in route else None, r["vendor_cost"])
    expect("charged", r["id"], f"0 to {most}", r["charged"], 0 <= r["charged"] <= most)
    for owner, version in ((r["account_id"], r["account_limits_version"]), (r["key_id"], r["key_limits_version"])):
        if version:
            expect("limits version", r["id"], f"at most {last.get(owner, (0,))[0]}", version, version <= last.get(owner, (0,))[0])
        for kind in {kind for kind, _ in budgets.get(owner, {}).values()}:
            sums = spent[owner, kind, period_start(kind, int(r["id"][4:16], 16))][-1 if version is None else version]
            sums[0] += r["charged"]
            sums[1] |= r["hold"] > 0

entries = defaultdict(int, {r[0]: r[1] for r in rows("select account_id, sum(nano) from entries group by 1")})
for (account,) in rows("select id from accounts").fetchall():
    for (granted,) in rows("select granted from leases where account_id = ?", (account,)):
        expect("granted", account, entries[account], granted)
    balance = entries[account] - charged[account]
    expect("balance", account, "0 or more", balance, balance >= 0)

written = {(r["owner_id"], r["period_start_ms"]): r["spent"] for r in rows("select * from budget_spends")}
for (owner, kind, start), versions in spent.items():
    total, (version, since) = 0, last[owner]
    for one in sorted(versions):  # a call was admitted only if all before it fitted into its budget
        total += versions[one][0]
        own, nano = budgets[owner].get(one, (None, 0))
        if own == kind and versions[one][1]:
            expect("budget", f"{owner} from {start}, version {one}", f"at most {nano}", total, total <= nano)
    if since > 0 and budgets[owner].get(version, (None,))[0] == kind and start >= period_start(kind, since):
        expect("budget row", f"{owner} from {start}", total, written.get((owner, start), 0))

print(", ".join(f"{count} × {what}" for what, count in counts.items()) or "nothing to check")
if from_sums:
    print(f"{from_sums} receipts are no longer kept: taken from the sums of their days")
print(f"{differences} differences" if differences else "ok")
sys.exit(1 if differences else 0)
