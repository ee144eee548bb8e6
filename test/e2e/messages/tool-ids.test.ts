/** Ids of tool calls that another server made, on their way to models of Anthropic. */

import { expect, test } from "bun:test";
import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import type { Driver } from "../../dialects/driver.ts";
import { chatDriver } from "../../dialects/drivers/chat.ts";
import { messagesDriver } from "../../dialects/drivers/messages.ts";
import { jsonReply } from "../../fake/http/reply.ts";
import { bedrockReply } from "../../fake/vendors/bedrock-converse.ts";
import { messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const ids = ["functions.look:0", "functions.look.0", "toolu_1"];

/** The objects in a request, however deep. */
function objectsIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isJsonObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

/** Ids of the calls, and those that the results name. */
function idsIn(body: unknown): readonly (readonly unknown[])[] {
  const all = objectsIn(body);
  const native = (type: string, name: string) =>
    all.filter((one) => one["type"] === type).map((one) => one[name]);
  const converse = (name: string) =>
    all.map((one) => one[name]).flatMap((one) => (isJsonObject(one) ? [one["toolUseId"]] : []));
  return [
    [...native("tool_use", "id"), ...converse("toolUse")],
    [...native("tool_result", "tool_use_id"), ...converse("toolResult")],
  ];
}

async function sentIds(model: string, driver: Driver) {
  gateway.upstream.replyOnce(
    model === "claude"
      ? nativeWhole({ blocks: [{ type: "text", text: "Hi" }] })
      : jsonReply({
          body: JSON.parse(bedrockReply({ blocks: [{ text: ["Hi"] }], stopReason: "end_turn" })),
        }),
  );
  const body = driver.toBody({
    model,
    cap: 100,
    tools: [{ name: "look", description: undefined, parameters: { type: "object" } }],
    turns: [
      { by: "user", content: ["Say hello"] },
      { by: "assistant", calls: ids.map((id) => ({ id, name: "look", arguments: "{}" })) },
      ...ids.map((id) => ({ by: "tool", id, content: ["7"] }) as const),
    ],
  });
  const reply = await gateway.call(driver.path, body);
  expect(reply.status).toBe(200);
  return idsIn(gateway.upstream.requests.at(-1)?.json);
}

for (const [model, driver] of [
  ["claude", messagesDriver],
  ["claude", chatDriver],
  ["claude-cloud", messagesDriver],
] as const)
  test(`${model} on ${driver.path} gets ids that it accepts, the same in calls and results`, async () => {
    const [calls = [], results] = await sentIds(model, driver);
    expect(calls).toHaveLength(ids.length);
    expect(results).toEqual([...calls]);
    expect(calls.at(-1)).toBe("toolu_1");
    expect(new Set(calls).size).toBe(ids.length);
    for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
