import { casesOf, fill, keys, platformRequest, renamed, type StallCase } from "./stall-case.ts";

/** Names, filters and bodies at the platform's API: 2 MB is the most that it takes. */
const mostBytes = 2_000_000;
/** What fits into the head of a request. */
const longest = 7_000;
const marks = "\u0301\u0316";
const signIn = (raw: () => string) => () => ({
  ...platformRequest("/api/session", raw()),
  isSignedIn: false,
});
const emailed = (email: () => string, password: () => string = () => "x") =>
  signIn(() => JSON.stringify({ email: email(), password: password() }));

const named = (path: string, names: Readonly<Record<string, string>>) =>
  casesOf(
    `check of names (${path})`,
    renamed("platform-", names, (name) => () => platformRequest(path, JSON.stringify({ name }))),
  );

const form = (name: string, sizeBytes: number, times: number) =>
  casesOf(
    "forms of a sign-out, without signing in",
    {
      [name]: () => ({
        ...platformRequest("/api/session/oidc/back-channel", fill("a&", sizeBytes)),
        headers: { "content-type": "application/x-www-form-urlencoded" },
        delivery: "chunked",
        isSignedIn: false,
      }),
    },
    { times, atOnce: 4 },
  );

const search = (name: string, path: string, times = 50) =>
  casesOf(
    `filters (${path.split("?")[0] ?? ""})`,
    { [`platform-${name}`]: () => platformRequest(path) },
    { times, atOnce: 4 },
  );

const withHeaders = (attacks: string, name: string, request: StallCase["request"]) =>
  casesOf(attacks, { [name]: request }, { times: 50, atOnce: 4 });

export const platformCases: readonly StallCase[] = [
  ...casesOf("JSON parser, without signing in", {
    "platform-sign-in-nested-2mb": signIn(() => "[".repeat(mostBytes)),
    "platform-sign-in-nested-and-closed-2mb": signIn(
      () => `{"email":${"[".repeat(mostBytes / 2)}${"]".repeat(mostBytes / 2 - 20)}`,
    ),
    "platform-sign-in-180000-keys": signIn(() => `{${keys(180_000)}}`),
  }),
  ...casesOf("normalization of emails", {
    "platform-sign-in-email-of-marks-2mb": emailed(() => fill(marks, mostBytes - 100)),
    "platform-sign-in-email-of-254-marks": emailed(() => `a@${marks.repeat(126)}`),
  }),
  ...casesOf("hash of passwords", {
    "platform-sign-in-password-of-1mb": emailed(
      () => "a@b.example",
      () => "p".repeat(1_000_000),
    ),
    "platform-sign-in-password-of-1000-characters": emailed(
      () => "a@b.example",
      () => "p".repeat(1_000),
    ),
  }),
  ...form("platform-form-1000000-fields", mostBytes, 1),
  ...form("platform-form-8000-fields", 16_000, 50),
  ...named("/api/accounts", {
    "account-name-of-marks-1mb": fill(marks, 1_000_000),
    "account-name-of-letters-1mb": "a".repeat(1_000_000),
  }),
  ...named("/api/accounts/:account/keys", {
    "key-name-of-marks-1mb": fill(marks, 1_000_000),
    "key-name-of-spaces-1mb": " ".repeat(1_000_000),
  }),
  ...casesOf("base_url of a provider", {
    "platform-base-url-of-2000-slashes": () => {
      const url = `http://a.example${"/".repeat(1_900)}x`;
      return platformRequest(
        "/api/providers",
        JSON.stringify({ name: "x", kind: "openai", base_url: url }),
      );
    },
  }),
  ...casesOf("validation of bodies", {
    "platform-190000-unknown-fields": () => platformRequest("/api/accounts", `{${keys(180_000)}}`),
  }),
  ...search(
    "requests-by-an-odd-model",
    `/api/requests?model=${encodeURIComponent("%_".repeat(30))}`,
  ),
  ...search("requests-by-an-odd-cursor", `/api/requests?after=${"z".repeat(60)}`),
  ...search("requests-by-a-long-cursor", `/api/requests?after=${"z".repeat(longest)}`),
  ...search("requests-with-many-fields", `/api/requests?${fill("a=b&", longest)}`),
  ...search("audit-by-an-odd-action", `/api/audit?action=${encodeURIComponent("%_".repeat(15))}`),
  ...search("usage-by-an-odd-model", `/api/usage?model=${encodeURIComponent("%_".repeat(60))}`, 10),
  ...search("export-of-requests", "/api/requests.csv", 4),
  ...search("overview-of-metrics", "/metrics", 20),
  ...search("path-of-many-steps", `/${"a/".repeat(3_500)}`),
  ...search("asset-of-a-long-name", `/assets/${"a".repeat(7_000)}.js`),
  ...withHeaders("reading of cookies", "platform-cookie-of-8kb", () => ({
    ...platformRequest("/api/session"),
    headers: { cookie: fill("svc_session;", 8_000) },
    isSignedIn: false,
  })),
  ...withHeaders("reading of tokens", "platform-bearer-of-8kb", () => ({
    ...platformRequest("/api/requests"),
    headers: { authorization: `Bearer ${" ".repeat(4_000)}${"a".repeat(3_000)} b` },
    isSignedIn: false,
  })),
  ...withHeaders("choice of a compression", "platform-accept-encoding-of-8kb", () => ({
    ...platformRequest("/"),
    headers: { "accept-encoding": fill("gzip;q=0.1,", 8_000) },
  })),
];
