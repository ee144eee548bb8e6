import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chatJson } from "../../../test/fake/openai/chat-json.ts";
import { standardManifest } from "../../../test/setup/harness.ts";
import { joinOperator, machine } from "../../../test/setup/platform-home.ts";
import { useTestGateway } from "../../../test/setup/use-gateway.ts";
import { Problem } from "../../base/problem.ts";

const manifest = standardManifest
  .replace(
    "providers:\n",
    'providers:\n  old: { kind: ai-sdk, package: bun, factory: spawn, options: { cmd: "{}" } }\n  older: { kind: ai-sdk }\n',
  )
  .replace(
    "models:\n",
    "models:\n  command: { endpoint: chat, price: { input: 1, output: 2 }, routes: [{ provider: older, model: r }] }\n",
  );
const gateway = useTestGateway({ manifest });

test("a provider of the removed kind starts nothing and stops no other provider", async () => {
  gateway.upstream.replyWith(chatJson());
  const messages = [{ role: "user", content: "hello" }];
  const served = await gateway.call("/chat/completions", { model: "svc-3-flash", messages });
  expect(served.status).toBe(200);
  const operator = await joinOperator(gateway);
  const params = { name: "old" };
  const trial = { kind: "models" } as const;
  const { body } = await operator.ask("POST /api/providers/:name/test", { params, body: trial });
  expect(JSON.stringify(body)).toContain("old: kind ai-sdk was removed.");
  expect(JSON.stringify(body)).toContain("Use kind openai with base_url");
});

test("a model whose only provider has a removed kind is failing, and is not served", async () => {
  const { operations } = gateway.server;
  const model = (await operations.models.list({})).find(({ id }) => id === "command");
  expect(model).toMatchObject({ state: "failing", served: false });
  const provider = (await operations.providers.list({})).find(({ name }) => name === "older");
  expect(provider?.status).toBe("failing");
});

test("svc apply refuses a file that names the removed kind, and says what to use", async () => {
  const { manifest: operations } = gateway.server.operations;
  const applied = operations.apply({ text: manifest, file: "svc.yaml", dryRun: true });
  const error = await applied.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Problem);
  expect(String(error)).toContain("providers.old.kind was removed");
  expect(String(error)).toContain("Use kind openai with base_url");
});

test("no session and no token can name code that the gateway would run", async () => {
  const operator = await joinOperator(gateway);
  const { body: made } = await operator.ask("POST /api/tokens", {
    body: { name: "script", scopes: ["providers:write", "catalog:write"] },
  });
  const folder = mkdtempSync(join(tmpdir(), "svc-code-"));
  const proof = join(folder, "ran");
  const cmd = JSON.stringify({ 0: "/usr/bin/touch", 1: proof, length: 2 });
  const attacks = [
    { package: "bun", factory: "spawn", cmd },
    { package: "node:child_process", factory: "spawnSync", cmd },
    { package: "@ai-sdk/anthropic", factory: "createAnthropic" },
  ];
  for (const visitor of [operator, machine(gateway.platformUrl, made.token)])
    for (const options of attacks) {
      const body = { name: "evil", kind: "ai-sdk", skip_test: true, options };
      const added = await visitor.ask("POST /api/providers", { body });
      const params = { name: "evil" };
      const trial = { kind: "models" } as const;
      await visitor.ask("POST /api/providers/:name/test", { params, body: trial });
      await operator.ask("DELETE /api/providers/:name", { params });
      expect([added.status, added.body.error?.field]).toEqual([400, "kind"]);
      expect(added.body.error.message).toContain("was removed");
      const changed = await visitor.ask("PATCH /api/providers/:name", {
        params: { name: "fake" },
        body: { kind: "ai-sdk" as never, options },
      });
      expect(changed.status).toBe(400);
    }
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
