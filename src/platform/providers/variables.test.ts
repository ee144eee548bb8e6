import { expect, test } from "bun:test";
import { pausedAfter } from "../../../test/fake/script.ts";
import { willingVendor } from "../../../test/fake/willing-vendor.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ environment: { GROQ_API_KEY: "gsk-0123456789" } });

const add = (body: object) => operator.ask("POST /api/providers", { body });
const remove = (name: string) => operator.ask("DELETE /api/providers/:name", { params: { name } });

const refused = (what: string, name: string) =>
  `${what} refers to the variable ${name}, which over HTTP is not used at this address. Write \${${name}} into svc.yaml, or enter the value here.`;

test("over HTTP, a variable is for its vendor's own address, or for where svc.yaml uses it", async () => {
  const tried = async (body: object) => {
    const reply = await add({ name: "named", allow_private: true, skip_test: true, ...body });
    await remove("named");
    return reply.status === 400 ? reply.body.error.message : reply.status;
  };
  const aws = { access_key_id: "${AWS_ACCESS_KEY_ID}", region: "us-east-1" };
  const secret_access_key = "${AWS_SECRET_ACCESS_KEY}";
  const amazon = (options: object, more: object = {}) =>
    tried({ vendor: "bedrock", options: { ...aws, ...options }, ...more });
  const base_url = gateway.upstream.baseUrl;
  const elsewhere = { base_url: "https://thief.example/v1" };
  expect(await tried({ vendor: "groq", api_key: "${GROQ_API_KEY}" })).toBe(200);
  expect(await tried({ base_url, api_key: "${FAKE_KEY}" })).toBe(200);
  for (const [name, place] of [
    ["GROQ_API_KEY", elsewhere],
    ["GROQ_API_KEY", { base_url }],
    ["GROQ_API_KEY", { base_url: "http://api.groq.com/openai/v1" }],
    ["OPENAI_API_KEY", { base_url: "https://api.groq.com/openai/v1" }],
    ["FAKE_KEY", elsewhere],
    ["AWS_SECRET_ACCESS_KEY", { base_url }],
  ] as const)
    expect(await tried({ ...place, api_key: `\${${name}}` })).toBe(refused("API key", name));
  // Nor where the vendor's variable is found without being named.
  expect(await tried({ vendor: "groq", ...elsewhere })).toBe(refused("API key", "GROQ_API_KEY"));
  expect(await amazon({ secret_access_key })).toBe(200);
  expect(await amazon({ secret_access_key: "${FAKE_KEY}" })).toContain("FAKE_KEY");
  expect(await amazon({ secret_access_key }, elsewhere)).toBe(
    refused("Option access_key_id", "AWS_ACCESS_KEY_ID"),
  );
  const google = (more: object) =>
    tried({
      kind: "vertex",
      options: {
        project: "${GOOGLE_CLOUD_PROJECT}",
        location: "us-central1",
        credentials_file: "${GOOGLE_APPLICATION_CREDENTIALS}",
      },
      ...more,
    });
  expect(await google({})).toBe(200);
  expect(await google(elsewhere)).toBe(
    refused("Option credentials_file", "GOOGLE_APPLICATION_CREDENTIALS"),
  );
});

test("over HTTP, an address is not changed below a variable, nor below a key that is tested", async () => {
  const { upstream } = gateway;
  const params = { name: "named" };
  const change = (body: object) => operator.ask("PATCH /api/providers/:name", { params, body });
  await add({ name: "named", vendor: "groq", api_key: "${GROQ_API_KEY}", skip_test: true });
  const moved = { base_url: upstream.baseUrl, allow_private: true, skip_test: true };
  expect((await change(moved)).status).toBe(400);
  expect((await change({ ...moved, api_key: null })).status).toBe(200);
  const key = { name: "second", api_key: "sk-entered-for-the-earlier-address" };
  let move: Promise<unknown> | undefined;
  upstream.replyWith((request) => {
    move ??= change({ base_url: "https://thief.example/v1", skip_test: true });
    return pausedAfter({ recording: willingVendor(request), parts: 0, until: move });
  });
  const { status } = await operator.ask("POST /api/providers/:name/keys", { params, body: key });
  upstream.reset();
  await remove("named");
  expect(status).toBe(409);
});

test("over HTTP, what an export uses is no key of a provider, unless svc.yaml names it as one", async () => {
  const { exports } = gateway.server.operations;
  const base_url = gateway.upstream.baseUrl;
  const vendorOf = { GITHUB_TOKEN: "github", MISTRAL_API_KEY: "mistral", XAI_API_KEY: "xai" };
  const tried = async (name: keyof typeof vendorOf | "FAKE_KEY") => {
    const place = name === "FAKE_KEY" ? { base_url } : { vendor: vendorOf[name] };
    const body = { name: "named", ...place, api_key: `\${${name}}`, allow_private: true };
    const reply = await add({ ...body, skip_test: true });
    await remove("named");
    return reply.status === 400 ? reply.body.error.message : reply.status;
  };
  const to = "https://hook.example/usage";
  await exports.add({ name: "hook", to, authorization: "env:GITHUB_TOKEN" });
  await exports.add({ name: "signed", to, sign_with: "env:FAKE_KEY" });
  await exports.add({
    name: "bucket",
    to: "s3://bucket/usage",
    access_key_id: "env:MISTRAL_API_KEY",
    secret_access_key: "env:XAI_API_KEY",
  });
  for (const name of ["GITHUB_TOKEN", "MISTRAL_API_KEY", "XAI_API_KEY"] as const)
    expect(await tried(name)).toBe(refused("API key", name));
  expect(await tried("FAKE_KEY")).toBe(200);
  for (const name of ["hook", "signed", "bucket"]) await exports.remove({ name });
  expect(await tried("GITHUB_TOKEN")).toBe(200);
});

test("over HTTP, no file can be named, so no reply says whether it exists", async () => {
  const place = { kind: "vertex", base_url: gateway.upstream.baseUrl, allow_private: true };
  const named = (credentials_file: string) => ({
    ...place,
    options: { project: "p", location: "us-central1", credentials_file },
    skip_test: true,
  });
  const replies = [];
  for (const file of [import.meta.path, "/no/such/file", "/etc"]) {
    const { status, body } = await add({ name: "google", ...named(file) });
    replies.push({ status, error: body.error });
  }
  expect(replies[0]).toEqual({
    status: 400,
    error: {
      code: "invalid",
      field: "options.credentials_file",
      message:
        "Option credentials_file names a file, which only svc.yaml and commands can do. Enter the content as credentials.",
    },
  });
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  expect((await add({ name: "google", ...named("${GROQ_API_KEY}") })).status).toBe(400);
  await gateway.server.operations.providers.add({ name: "google", ...named("/keys/google.json") });
  const change = async (body: object) =>
    (await operator.ask("PATCH /api/providers/:name", { params: { name: "google" }, body })).status;
  expect(await change({ paused: true })).toBe(200);
  expect(await change({ options: { location: "europe-west1" }, skip_test: true })).toBe(200);
  const elsewhere = { base_url: "https://thief.example/v1", skip_test: true };
  expect(await change(elsewhere)).toBe(400);
  expect(await change({ options: { credentials_file: "/etc/passwd" }, skip_test: true })).toBe(400);
  await remove("google");
});

test("a command of the machine may refer to any variable", async () => {
  await gateway.server.operations.providers.add({
    name: "mine",
    base_url: gateway.upstream.baseUrl,
    allow_private: true,
    api_key: "${MY_OWN_VARIABLE}",
    skip_test: true,
  });
  const params = { name: "mine" };
  const paused = await operator.ask("PATCH /api/providers/:name", {
    params,
    body: { paused: true },
  });
  expect(paused.status).toBe(200);
});
