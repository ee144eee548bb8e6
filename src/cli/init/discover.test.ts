import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { discover, type Found } from "./discover.ts";

type Routes = Readonly<Record<string, { readonly body: unknown; readonly headers?: HeadersInit }>>;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** A server that knows these paths, and answers others as it is told to. */
function serve(
  routes: Routes,
  otherwise = () => new Response("not found", { status: 404 }),
): number {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const found = routes[new URL(request.url).pathname];
      return found === undefined
        ? otherwise()
        : Response.json(found.body, found.headers === undefined ? {} : { headers: found.headers });
    },
  });
  running.push({ stop: () => server.stop(true) });
  return server.port ?? 0;
}

const list = (...models: readonly Record<string, unknown>[]) => ({
  body: { object: "list", data: models },
});

const ollama: Routes = {
  "/api/version": { body: { version: "0.12.6" } },
  "/api/tags": { body: { models: [{ name: "llama3.2:3b", details: { family: "llama" } }] } },
  "/v1/models": list({ id: "llama3.2:3b", object: "model", owned_by: "library" }),
};
const llamacpp: Routes = {
  "/health": { body: { status: "ok" } },
  "/props": { body: { default_generation_settings: { n_ctx: 4096 }, total_slots: 1 } },
  "/api/tags": { body: { models: [{ name: "model.gguf" }] } },
  "/v1/models": list({ id: "model.gguf", object: "model", owned_by: "llamacpp" }),
};
const vllm: Routes = {
  "/version": { body: { version: "0.11.0" } },
  "/v1/models": list({
    id: "Qwen/Qwen3-8B",
    object: "model",
    owned_by: "vllm",
    max_model_len: 4096,
  }),
};
const lmstudio: Routes = {
  "/api/v0/models": list({ id: "gemma-3", object: "model", type: "llm", state: "not-loaded" }),
  "/v1/models": list({ id: "gemma-3", object: "model", owned_by: "organization_owner" }),
};

interface Asked {
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly number[];
  readonly ownPort?: number;
  readonly withinMs?: number;
}

const find = ({ environment = {}, ports = [], ownPort = 0, withinMs = 5_000 }: Asked) =>
  discover({ variable: (name) => environment[name], ports, ownPort, withinMs });
const named = (found: readonly Found[]) => found.map(({ name, title }) => `${name}: ${title}`);

describe("servers on this machine", () => {
  test("are told apart by what they answer, whatever port they are on", async () => {
    const ports = [serve(lmstudio), serve(vllm), serve(llamacpp), serve(ollama)];
    const found = await find({ ports });
    expect(named(found)).toEqual([
      "lmstudio: LM Studio",
      "vllm: vLLM",
      "llamacpp: llama.cpp",
      "ollama: Ollama",
    ]);
    expect(found[3]?.draft).toEqual({
      vendor: "ollama",
      base_url: `http://127.0.0.1:${ports[3]}/v1`,
      allow_private: true,
    });
  });

  test("llama.cpp with a key is known by its name in the head of a reply", async () => {
    const head = { server: "llama.cpp" };
    const port = serve({ "/v1/models": { ...list({ id: "m" }), headers: head } }, () =>
      Response.json({ error: { code: 401 } }, { status: 401, headers: head }),
    );
    expect(named(await find({ ports: [port] }))).toEqual(["llamacpp: llama.cpp"]);
  });

  test("LM Studio is known although it answers 200 to every path", async () => {
    const port = serve(lmstudio, () => Response.json({ error: "Unexpected endpoint or method." }));
    expect(named(await find({ ports: [port] }))).toEqual(["lmstudio: LM Studio"]);
  });

  test("one that lists models and is none of these is a compatible server", async () => {
    const port = serve({ "/v1/models": list({ id: "m", object: "model", owned_by: "me" }) });
    const [found, ...others] = await find({ ports: [port] });
    expect(others).toEqual([]);
    expect(found?.name).toBe("local");
    expect(found?.draft).toEqual({
      kind: "openai",
      base_url: `http://127.0.0.1:${port}/v1`,
      allow_private: true,
    });
  });

  test("two of one kind get names of their own", async () => {
    const found = await find({ ports: [serve(vllm), serve(vllm)] });
    expect(found.map(({ name }) => name)).toEqual(["vllm", "vllm-2"]);
  });

  test("a gateway of ours is none of them", async () => {
    const ours: Routes = {
      "/healthz": {
        body: { status: "ok" },
        headers: { "x-request-id": `req_${"0".repeat(32)}` },
      },
      "/v1/models": list({ id: "svc-3-flash", object: "model", owned_by: "svc" }),
    };
    expect(await find({ ports: [serve(ours)] })).toEqual([]);
  });

  test("one on the port that the gateway is set to is found, and said to be in the way", async () => {
    const port = serve(llamacpp);
    const [found] = await find({ ports: [port], ownPort: port });
    expect(found?.vendor).toBe("llamacpp");
    expect(found?.notes).toEqual([
      `the gateway also uses port ${port}; set SVC_PORT to another port`,
    ]);
  });

  test("web pages, redirects and other strangers are none", async () => {
    const page = serve({}, () => new Response("<html></html>", { status: 200 }));
    const target = serve(ollama);
    const moved = serve({}, () => Response.redirect(`http://127.0.0.1:${target}/v1/models`));
    expect(await find({ ports: [page, moved] })).toEqual([]);
  });

  test("a port where nobody listens, and one that never answers, do not hold up the others", async () => {
    const closed = serve({});
    await running.pop()?.stop();
    const silent = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data() {} } });
    running.push({ stop: () => silent.stop(true) });
    const ports = [closed, silent.port, serve(ollama)];
    // It does accept: what is missing is the answer.
    const socket = connect(silent.port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
    expect(named(await find({ ports, withinMs: 500 }))).toEqual(["ollama: Ollama"]);
  });

  test("OLLAMA_HOST names another place for Ollama, in all the forms it takes", async () => {
    const port = serve(ollama);
    for (const host of [
      `127.0.0.1:${port}`,
      `http://127.0.0.1:${port}/`,
      `0.0.0.0:${port}`,
      `:${port}`,
    ]) {
      const found = await find({ environment: { OLLAMA_HOST: host } });
      expect(found.map(({ by }) => by)).toEqual([`http://127.0.0.1:${port}`]);
    }
    const once = await find({ environment: { OLLAMA_HOST: `127.0.0.1:${port}` }, ports: [port] });
    expect(once).toHaveLength(1);
    expect(await find({ environment: { OLLAMA_HOST: "not an address" } })).toEqual([]);
  });
});

describe("keys in the environment", () => {
  const secret = "AIza-secret-value";

  test("are found by the names that vendors use, and only the name is passed on", async () => {
    const found = await find({
      environment: { GOOGLE_API_KEY: secret, GROQ_API_KEY: secret, MISTRAL_API_KEY: "" },
    });
    expect(found.map(({ name, draft }) => [name, draft])).toEqual([
      ["gemini", { vendor: "gemini", api_key: "${GOOGLE_API_KEY}" }],
      ["groq", { vendor: "groq", api_key: "${GROQ_API_KEY}" }],
    ]);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  test("a service account needs its file and its project; the place is a region", async () => {
    const account = { GOOGLE_APPLICATION_CREDENTIALS: "/key.json", GOOGLE_CLOUD_PROJECT: "p" };
    const [found] = await find({ environment: account });
    expect(found?.draft).toEqual({
      kind: "vertex",
      project: "${GOOGLE_CLOUD_PROJECT}",
      location: "us-central1",
      credentials_file: "${GOOGLE_APPLICATION_CREDENTIALS}",
    });
    const [placed] = await find({ environment: { ...account, GOOGLE_CLOUD_LOCATION: "eu-west4" } });
    expect(placed?.draft["location"]).toBe("${GOOGLE_CLOUD_LOCATION}");
    const [global] = await find({ environment: { ...account, GOOGLE_CLOUD_LOCATION: "global" } });
    expect(global?.draft["location"]).toBe("us-central1");
    expect(await find({ environment: { GOOGLE_CLOUD_PROJECT: "p" } })).toEqual([]);
  });

  test("Bedrock is found by its own key, or by a pair of AWS with its token", async () => {
    const [byKey] = await find({
      environment: { AWS_BEARER_TOKEN_BEDROCK: secret, AWS_REGION: "eu-west-1" },
    });
    expect(byKey?.draft).toEqual({
      kind: "bedrock",
      region: "${AWS_REGION}",
      api_key: "${AWS_BEARER_TOKEN_BEDROCK}",
    });
    expect(byKey?.isShared).toBe(false);
    const [byPair] = await find({
      environment: {
        AWS_ACCESS_KEY_ID: "a",
        AWS_SECRET_ACCESS_KEY: secret,
        AWS_SESSION_TOKEN: "t",
      },
    });
    expect(byPair?.draft).toEqual({
      kind: "bedrock",
      region: "us-east-1",
      access_key_id: "${AWS_ACCESS_KEY_ID}",
      secret_access_key: "${AWS_SECRET_ACCESS_KEY}",
      session_token: "${AWS_SESSION_TOKEN}",
    });
    expect(byPair?.notes).toEqual(["region: us-east-1, because AWS_REGION is not set"]);
    expect(byPair?.isShared).toBe(true);
    expect(await find({ environment: { AWS_ACCESS_KEY_ID: "a" } })).toEqual([]);
  });

  test("a variable that other tools use too is said to be shared", async () => {
    const found = await find({ environment: { GITHUB_TOKEN: secret, OPENAI_API_KEY: secret } });
    expect(found.map(({ name, isShared }) => [name, isShared])).toEqual([
      ["openai", false],
      ["github", true],
    ]);
  });

  test("Azure needs an address beside its key", async () => {
    const key = { AZURE_OPENAI_API_KEY: secret };
    const [alone] = await find({ environment: key });
    expect(alone?.problem).toContain("AZURE_OPENAI_ENDPOINT");
    const endpoint = "https://mine.openai.azure.com/openai/deployments/x";
    const [whole] = await find({ environment: { ...key, AZURE_OPENAI_ENDPOINT: endpoint } });
    expect(whole?.problem).toBeUndefined();
    expect(whole?.draft["base_url"]).toBe("https://mine.openai.azure.com/openai/v1");
    const [named] = await find({ environment: { ...key, AZURE_RESOURCE_NAME: "mine" } });
    expect(named?.draft["base_url"]).toBe("https://mine.openai.azure.com/openai/v1");
  });
});
