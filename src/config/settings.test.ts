import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { useFolder } from "../../test/setup/folder.ts";
import { loadConfiguration } from "./load.ts";
import { readSettings } from "./settings.ts";

const folder = useFolder();
const read = (environment: Record<string, string>, file: Record<string, unknown> = {}) =>
  readSettings({ environment, file, references: new Set(["SVC_ACME_KEY"]) });

test("environment beats file beats default, and each value says where it came from", () => {
  const { settings, inForce, problems } = read(
    { SVC_PORT: "9001" },
    { port: "9002", max_call_s: "1.5" },
  );
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    port: 9001,
    maxCallMs: 1500,
    platformPort: 8081,
    firstKey: "on",
  });
  const sources = Object.fromEntries(inForce.map(({ name, source }) => [name, source]));
  expect(sources).toMatchObject({
    SVC_PORT: "environment",
    SVC_MAX_CALL_S: "file",
    SVC_HOST: "default",
  });
});

test("names every wrong setting at once and says what would be right", () => {
  const { problems } = read({ SVC_PORT: "70000", SVC_LOG_LEVEL: "loud" }, { grace_s: "-1" });
  expect(problems).toEqual([
    'SVC_PORT must be a port number from 0 to 65535 (0 for any free port), not "70000".',
    'SVC_LOG_LEVEL must be one of: debug, info, warn, error, silent, not "loud".',
    'settings.grace_s must be a number of seconds above 0, not "-1".',
  ]);
});

test("receipts are kept forever by default, and exported as CSV", () => {
  const { settings } = read({});
  expect([settings.receiptsDays, settings.receiptsExportDir]).toEqual([undefined, undefined]);
  expect(settings.receiptsExportFormat).toBe("csv");
  expect(read({ SVC_RECEIPTS_DAYS: "90" }).settings.receiptsDays).toBe(90);
  expect(read({ SVC_RECEIPTS_DAYS: "0" }).problems).toEqual([
    'SVC_RECEIPTS_DAYS must be a whole number from 1 to 999999, not "0".',
  ]);
});

test("responses are stored where that is switched on, for 30 days and up to a size", () => {
  const { storeResponses, storedResponsesDays, storedResponsesMb } = read({}).settings;
  expect([storeResponses, storedResponsesDays, storedResponsesMb]).toEqual(["off", 30, 1024]);
  for (const value of ["on", true]) {
    const { settings, inForce } = read({}, { store_responses: value });
    expect(settings.storeResponses).toBe("on");
    expect(inForce.find(({ name }) => name === "SVC_STORE_RESPONSES")?.value).toBe("on");
  }
  expect(read({ SVC_STORE_RESPONSES: "false" }).settings.storeResponses).toBe("off");
  expect(
    read({
      SVC_STORE_RESPONSES: "1",
      SVC_STORED_RESPONSES_DAYS: "0",
      SVC_STORED_RESPONSES_MB: "31",
    }).problems,
  ).toEqual([
    'SVC_STORE_RESPONSES must be on or off, not "1".',
    'SVC_STORED_RESPONSES_DAYS must be a whole number from 1 to 999999, not "0".',
    'SVC_STORED_RESPONSES_MB must be a whole number of MiB from 32 to 9999999, not "31".',
  ]);
});

test("refuses unknown settings and offers the nearest name", () => {
  expect(read({ SVC_PROT: "1" }).problems).toEqual([
    "SVC_PROT is not a setting. Did you mean SVC_PORT?",
  ]);
  expect(read({}, { potr: "x" }).problems).toEqual([
    "settings.potr is not a setting. Did you mean port?",
  ]);
  expect(read({ SVC_ACME_KEY: "x", OTHER: "y" }).problems).toEqual([]);
});

test("takes the secret from the environment alone and never shows it", () => {
  expect(read({}, { secret: "x".repeat(40) }).problems).toEqual([
    "settings.secret can only be set in the environment, as SVC_SECRET.",
  ]);
  const short = read({ SVC_SECRET: "hunter2" });
  expect(short.problems.join()).toContain("SVC_SECRET must be at least 32");
  expect(JSON.stringify(short)).not.toContain("hunter2");
  const long = read({ SVC_SECRET: "hunter2".repeat(6) });
  expect(JSON.stringify(long.inForce)).not.toContain("hunter2");
});

test("an address of the database comes from a file, and the secret's file is read later", () => {
  const file = join(folder, "database");
  const url = "postgres://svc:hunter2@db.example/svc";
  const load = (environment: Record<string, string>) => loadConfiguration(environment);
  writeFileSync(file, `${url}\n`);
  const named = { SVC_DATABASE_URL_FILE: file, SVC_SECRET_FILE: "/none/secret" };
  const { settings, inForce, environment } = load(named);
  expect([settings.databaseUrl, settings.secretFile]).toEqual([url, "/none/secret"]);
  expect(JSON.stringify(inForce)).not.toContain("hunter2");
  // Child processes read the file themselves.
  expect(environment).toEqual(named);
  const wrong = { SVC_SECRET: "s".repeat(32), SVC_DATABASE_URL: url };
  expect(() => load({ ...named, ...wrong })).toThrow(
    "SVC_SECRET and SVC_SECRET_FILE are both set. Unset one of them.\nSVC_DATABASE_URL and SVC_DATABASE_URL_FILE are both set. Unset one of them.",
  );
  expect(() => load({ SVC_DATABASE_URL_FILE: folder })).toThrow(
    `SVC_DATABASE_URL_FILE: ${folder} is a directory.`,
  );
  writeFileSync(file, "mysql://svc:hunter2@db.example");
  expect(() => load({ SVC_DATABASE_URL_FILE: file })).toThrow(/^SVC_DATABASE_URL(?!.*hunter2)/);
});

test("trusted proxies are addresses and networks, none unless named", () => {
  expect(read({}).settings.trustedProxies).toBeUndefined();
  const { settings, problems } = read({ SVC_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8 ,fd00::/8" });
  expect(problems).toEqual([]);
  expect(settings.trustedProxies).toEqual(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
  for (const wrong of ["proxy.example", "10.0.0.0/99", "0.0.0.0/0", "127.0.0.1 10.0.0.1"])
    expect(read({ SVC_TRUSTED_PROXIES: wrong }).problems).toEqual([
      `SVC_TRUSTED_PROXIES must be addresses or networks such as 127.0.0.1, 10.0.0.0/8 or fd00::/8, separated by commas, not "${wrong}".`,
    ]);
});

test("an empty variable counts as not set", () => {
  expect(read({ SVC_PORT: "" }).settings.port).toBe(8080);
});

test("the embedded models are on unless somebody switches them off", () => {
  expect(read({}).settings.engine).toBe("on");
  expect(read({ SVC_ENGINE: "off" }).settings.engine).toBe("off");
  expect(read({ SVC_ENGINE: "yes" }).problems).toEqual([
    'SVC_ENGINE must be one of: on, off, not "yes".',
  ]);
  expect(read({ SVC_ENGINE_QUEUE: "0" }).problems).toEqual([
    'SVC_ENGINE_QUEUE must be a whole number from 1 to 999999, not "0".',
  ]);
});

test("reads addresses strictly", () => {
  expect(read({ SVC_PUBLIC_URL: "https://m.example/v1/" }).settings.publicUrl).toBe(
    "https://m.example",
  );
  expect(read({ SVC_PUBLIC_URL: "m.example" }).problems).toHaveLength(1);
  expect(
    read({ SVC_CORS_ORIGINS: "https://a.example, http://localhost:3000" }).settings.corsOrigins,
  ).toEqual(["https://a.example", "http://localhost:3000"]);
  expect(read({ SVC_CORS_ORIGINS: "https://a.example/path" }).problems).toHaveLength(1);
  expect(read({ SVC_DATABASE_URL: "postgres://localhost/svc" }).settings.databaseUrl).toBe(
    "postgres://localhost/svc",
  );
  expect(read({ SVC_DATABASE_URL: "mysql://localhost/svc" }).problems).toHaveLength(1);
  expect(read({ SVC_DATABASE_URL: "sqlite:/data/svc.db" }).settings.databaseUrl).toBe(
    "/data/svc.db",
  );
});

test("a database password is never shown, not even in an address that is wrong", () => {
  const shown = read({ SVC_DATABASE_URL: "postgresql://svc:geheim@db:5432/svc" }).inForce;
  expect(shown.find(({ name }) => name === "SVC_DATABASE_URL")?.value).toBe(
    "postgresql://svc:***@db:5432/svc",
  );
  const inQuery = "postgres://db/svc?password=geheim&sslmode=require&sslpassword=geheim";
  expect(JSON.stringify(read({ SVC_DATABASE_URL: inQuery }).inForce)).not.toContain("geheim");
  expect(read({ SVC_DATABASE_URL: "mysql://svc:geheim@db/svc" }).problems).toEqual([
    "SVC_DATABASE_URL must be sqlite:PATH or a PostgreSQL address such as postgres://host:5432/svc.",
  ]);
});

test("no setting shows a password that is not percent-encoded", () => {
  for (const name of ["DATABASE", "SMTP", "OTLP"])
    for (const scheme of ["postgres", "smtp", "https"])
      for (const password of ["gehe/im", "12/geheim", "gehe@im/geheim"]) {
        const environment = { [`SVC_${name}_URL`]: `${scheme}://svc:${password}@host/svc` };
        const { inForce, problems } = read(environment);
        expect(`${JSON.stringify(inForce)}${problems.join()}`).not.toMatch(/gehe|eim/);
      }
  const { problems } = read({ SVC_PUBLIC_URL: "https://svc:gehe/im@host" });
  expect(problems.join()).toEndWith('not "https://svc:***@host".');
});

test("no message repeats a password, however wrong the address is", () => {
  const names = ["PUBLIC_URL", "PLATFORM_URL", "OIDC_ISSUER", "CORS_ORIGINS", "HOST", "MAIL_FROM"];
  for (const name of [...names, "DATABASE_URL", "SMTP_URL", "OTLP_URL"])
    for (const address of [
      "https://u:ge heim@h.example",
      'https://u:ge"heim@h.example',
      "https://u:ge'heim@h.example",
      "https:/u:geheim@h.example",
      '"https://u:geheim@h.example"',
      "u:geheim@h.example",
      " https://u=x:geheim@h.example",
    ]) {
      const { inForce, problems } = read({ [`SVC_${name}`]: address });
      expect(problems).toHaveLength(1);
      expect(`${JSON.stringify(inForce)}${problems.join()}`).not.toMatch(/ge.?heim|heim/);
    }
  expect(read({ SVC_DATABASE_URL: "host=h password=geheim dbname=x" }).problems).toEqual([
    "SVC_DATABASE_URL must be sqlite:PATH or a PostgreSQL address such as postgres://host:5432/svc.",
  ]);
});

test("what is no address is repeated", () => {
  for (const [name, value] of [
    ["OIDC_ROLES", "/teams@corp=acme:owner; ml@corp=nothing"],
    ["PUBLIC_URL", "m.example:8080/v1"],
    ["MAIL_FROM", "ops@"],
  ])
    expect(read({ [`SVC_${name}`]: `${value}` }).problems.join()).toEndWith(`, not "${value}".`);
});

test("workers are a number or one per core, and a node has a name", () => {
  expect(read({}).settings.workers).toBe(1);
  expect(read({ SVC_WORKERS: "8" }).settings.workers).toBe(8);
  expect(read({ SVC_WORKERS: "auto" }).settings.workers).toBe(availableParallelism());
  for (const wrong of ["0", "-1", "257", "all", "1.5"])
    expect(read({ SVC_WORKERS: wrong }).problems).toHaveLength(1);
  expect(read({}).settings.node).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(read({ SVC_NODE: "eu-1.example" }).settings.node).toBe("eu-1.example");
  for (const wrong of ["a/b", "a b", "x".repeat(65)])
    expect(read({ SVC_NODE: wrong }).problems).toHaveLength(1);
});

test("the metrics are open where only this machine reaches them, else they need a token", () => {
  const access = (environment: Record<string, string>) => {
    const { settings, inForce, problems } = read(environment);
    expect(problems).toEqual([]);
    const shown = inForce.find(({ name }) => name === "SVC_METRICS");
    expect(shown?.value).toBe(settings.metricsAccess);
    return settings.metricsAccess;
  };
  expect(access({})).toBe("open");
  for (const host of ["127.0.0.1", "127.8.0.3", "::1", "localhost"])
    expect(access({ SVC_PLATFORM_HOST: host })).toBe("open");
  for (const host of ["0.0.0.0", "::", "10.0.0.5", "127.example", "localhost.example"])
    expect(access({ SVC_PLATFORM_HOST: host })).toBe("token");
  // A proxy that serves a public address connects from this machine.
  for (const url of ["https://console.example.com", "http://10.0.0.5:8081"]) {
    expect(access({ SVC_PLATFORM_URL: url })).toBe("token");
    expect(access({ SVC_PLATFORM_URL: url, SVC_METRICS: "open" })).toBe("open");
  }
  for (const url of ["http://localhost:9000", "http://127.0.0.1:9000", "http://[::1]:9000"])
    expect(access({ SVC_PLATFORM_URL: url })).toBe("open");
  expect(access({ SVC_PLATFORM_HOST: "0.0.0.0", SVC_METRICS: "open" })).toBe("open");
  expect(access({ SVC_METRICS: "off" })).toBe("off");
  expect(read({ SVC_METRICS: "yes" }).problems).toEqual([
    'SVC_METRICS must be one of: open, token, off, not "yes".',
  ]);
});

test("the mail server is an address whose password is never shown, or a file with it", () => {
  const url = "smtps://svc:hunter2@mail.example.com";
  const file = join(folder, "mail");
  const from = { SVC_MAIL_FROM: "Models <no-reply@example.com>" };
  writeFileSync(file, `${url}\n`);
  const named = loadConfiguration({ ...from, SVC_SMTP_URL_FILE: file });
  expect(named.settings.smtpUrl).toBe(url);
  expect(JSON.stringify(named.inForce)).not.toContain("hunter2");
  expect(() => loadConfiguration({ SVC_SMTP_URL: url })).toThrow(
    "SVC_MAIL_FROM must be set together with SVC_SMTP_URL.",
  );
  expect(() => loadConfiguration({ ...from, SVC_SMTP_URL: url, SVC_SMTP_URL_FILE: file })).toThrow(
    "SVC_SMTP_URL and SVC_SMTP_URL_FILE are both set.",
  );
  const wrong = { ...from, SVC_SMTP_URL: "http://svc:hunter2@mail.example.com" };
  expect(() => loadConfiguration(wrong)).toThrow(/^SVC_SMTP_URL must be(?!.*hunter2)/);
});
