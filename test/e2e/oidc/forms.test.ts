/** The form of the back-channel logout: anyone can send one, so it is refused before it costs anything. */

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { useBackChannelHome } from "../../setup/back-channel-home.ts";
import type { TestGateway } from "../../setup/harness.ts";
import { usePlatform } from "../../setup/use-platform.ts";

const path = "/api/session/oidc/back-channel";
const form = "application/x-www-form-urlencoded";
const mostBytes = 16 * 1024;
const plain = usePlatform({ isShared: true });

/** Sends a head and a part of a body, and waits for the reply; the rest of the body never comes. */
function begin(gateway: TestGateway, headers: Readonly<Record<string, string>>, part = "") {
  const { hostname, port, host } = new URL(gateway.platformUrl);
  const lines = Object.entries({ host, ...headers }).map((line) => `${line.join(": ")}\r\n`);
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${part}`),
    );
    let reply = "";
    socket.on("data", (bytes) => {
      reply += bytes.toString();
      if (!reply.includes("}}")) return;
      socket.destroy();
      resolve(reply);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed after: ${reply}`)));
  });
}

async function post(gateway: TestGateway, body: string) {
  const headers = { "content-type": form };
  const reply = await fetch(`${gateway.platformUrl}${path}`, { method: "POST", headers, body });
  const { error } = (await reply.json()) as { readonly error?: { readonly message: string } };
  return [reply.status, error?.message];
}

describe("with an identity provider", () => {
  const home = useBackChannelHome();

  test("a form that announces more than 16 KiB is refused before it is sent", async () => {
    const headers = { "content-type": form, "content-length": String(mostBytes + 1) };
    const reply = await begin(home.gateway, headers);
    expect(reply).toStartWith("HTTP/1.1 413 ");
    expect(reply).toContain("The form must not exceed 16 KiB.");
  });

  test("a form of unknown length is refused at the first byte over 16 KiB", async () => {
    const headers = { "content-type": form, "transfer-encoding": "chunked" };
    const size = mostBytes + 1;
    const chunk = `${size.toString(16)}\r\n${"a".repeat(size)}\r\n`;
    expect(await begin(home.gateway, headers, chunk)).toStartWith("HTTP/1.1 413 ");
  });

  test("16 KiB and 20 fields are read, one more of either is not", async () => {
    const fields = Array.from({ length: 19 }, (_, at) => `&f${at}=x`).join("");
    const token = `logout_token=x${fields}`;
    const whole = `${token}${"x".repeat(mostBytes - token.length)}`;
    expect(await post(home.gateway, whole)).toEqual([
      400,
      expect.stringContaining("logout_token is not valid"),
    ]);
    expect((await post(home.gateway, `${whole}x`))[0]).toBe(413);
    expect(await post(home.gateway, `${token}&more=x`)).toEqual([
      400,
      expect.stringContaining("must not have more than 20 fields"),
    ]);
  });

  test("another content type is refused before the body is sent", async () => {
    const headers = { "content-type": "text/plain", "content-length": "100" };
    expect(await begin(home.gateway, headers)).toStartWith("HTTP/1.1 415 ");
  });
});

test("without an identity provider, the reply does not wait for a body", async () => {
  const headers = { "content-type": form, "content-length": "100" };
  expect(await begin(plain.gateway, headers)).toStartWith("HTTP/1.1 404 ");
});
