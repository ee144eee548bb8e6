import { fill, platformRequest, type StallCase } from "./stall-case.ts";

/** Names, filters and bodies at the platform's API: 2 MB is the most that it takes. */
const mostBytes = 2_000_000;
/** What fits into the head of a request. */
const longest = 7_000;
const marks = "\u0301\u0316";
const signIn = (raw: string) => ({ ...platformRequest("/api/session", raw), isSignedIn: false });
const quoted = (text: string) => JSON.stringify(text);

const anonymous = (name: string, raw: () => string, attacks: string): StallCase => ({
  name: `platform-sign-in-${name}`,
  attacks,
  request: () => signIn(raw()),
});

const withName = (name: string, path: string, text: string): StallCase => ({
  name: `platform-${name}`,
  attacks: `check of names (${path})`,
  request: () => platformRequest(path, `{"name":${quoted(text)}}`),
});

const form = (name: string, sizeBytes: number, times = 1): StallCase => ({
  name: `platform-form-${name}`,
  attacks: "forms of a sign-out, without signing in",
  request: () => ({
    ...platformRequest("/api/session/oidc/back-channel", fill("a&", sizeBytes)),
    headers: { "content-type": "application/x-www-form-urlencoded" },
    delivery: "chunked",
    isSignedIn: false,
  }),
  times,
  atOnce: 4,
});

const search = (name: string, path: string, times = 50): StallCase => ({
  name: `platform-${name}`,
  attacks: `filters (${path.split("?")[0] ?? ""})`,
  request: () => platformRequest(path),
  times,
  atOnce: 4,
});

export const platformCases: readonly StallCase[] = [
  anonymous("nested-2mb", () => "[".repeat(mostBytes), "JSON parser, without signing in"),
  anonymous(
    "nested-and-closed-2mb",
    () => `{"email":${"[".repeat(mostBytes / 2)}${"]".repeat(mostBytes / 2 - 20)}`,
    "JSON parser, without signing in",
  ),
  anonymous(
    "180000-keys",
    () => `{${Array.from({ length: 180_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
    "JSON parser, without signing in",
  ),
  anonymous(
    "email-of-marks-2mb",
    () => `{"email":${quoted(fill(marks, mostBytes - 100))},"password":"x"}`,
    "normalization of emails",
  ),
  anonymous(
    "email-of-254-marks",
    () => `{"email":${quoted(`a@${marks.repeat(126)}`)},"password":"x"}`,
    "normalization of emails",
  ),
  anonymous(
    "password-of-1mb",
    () => `{"email":"a@b.example","password":${quoted("p".repeat(1_000_000))}}`,
    "hash of passwords",
  ),
  anonymous(
    "password-of-1000-characters",
    () => `{"email":"a@b.example","password":${quoted("p".repeat(1_000))}}`,
    "hash of passwords",
  ),
  form("1000000-fields", mostBytes),
  form("8000-fields", 16_000, 50),
  withName("account-name-of-marks-1mb", "/api/accounts", fill(marks, 1_000_000)),
  withName("account-name-of-letters-1mb", "/api/accounts", "a".repeat(1_000_000)),
  withName("key-name-of-marks-1mb", "/api/accounts/:account/keys", fill(marks, 1_000_000)),
  withName("key-name-of-spaces-1mb", "/api/accounts/:account/keys", " ".repeat(1_000_000)),
  {
    name: "platform-base-url-of-2000-slashes",
    attacks: "base_url of a provider",
    request: () =>
      platformRequest(
        "/api/providers",
        `{"name":"x","kind":"openai","base_url":${quoted(`http://a.example${"/".repeat(1_900)}x`)}}`,
      ),
  },
  {
    name: "platform-190000-unknown-fields",
    attacks: "validation of bodies",
    request: () =>
      platformRequest(
        "/api/accounts",
        `{${Array.from({ length: 180_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
      ),
  },
  search("requests-by-an-odd-model", `/api/requests?model=${encodeURIComponent("%_".repeat(30))}`),
  search("requests-by-an-odd-cursor", `/api/requests?after=${"z".repeat(60)}`),
  search("requests-by-a-long-cursor", `/api/requests?after=${"z".repeat(longest)}`),
  search("requests-with-many-fields", `/api/requests?${fill("a=b&", longest)}`),
  search("audit-by-an-odd-action", `/api/audit?action=${encodeURIComponent("%_".repeat(15))}`),
  search("usage-by-an-odd-model", `/api/usage?model=${encodeURIComponent("%_".repeat(60))}`, 10),
  search("export-of-requests", "/api/requests.csv", 4),
  search("overview-of-metrics", "/metrics", 20),
  search("path-of-many-steps", `/${"a/".repeat(3_500)}`),
  search("asset-of-a-long-name", `/assets/${"a".repeat(7_000)}.js`),
  {
    name: "platform-cookie-of-8kb",
    attacks: "reading of cookies",
    request: () => ({
      ...platformRequest("/api/session"),
      headers: { cookie: fill("svc_session;", 8_000) },
      isSignedIn: false,
    }),
    times: 50,
    atOnce: 4,
  },
  {
    name: "platform-bearer-of-8kb",
    attacks: "reading of tokens",
    request: () => ({
      ...platformRequest("/api/requests"),
      headers: { authorization: `Bearer ${" ".repeat(4_000)}${"a".repeat(3_000)} b` },
      isSignedIn: false,
    }),
    times: 50,
    atOnce: 4,
  },
  {
    name: "platform-accept-encoding-of-8kb",
    attacks: "choice of a compression",
    request: () => ({
      ...platformRequest("/"),
      headers: { "accept-encoding": fill("gzip;q=0.1,", 8_000) },
    }),
    times: 50,
    atOnce: 4,
  },
];
