import { afterAll } from "bun:test";
import { chatJson } from "../fake/recordings.ts";
import { createHome, type Environment } from "./child.ts";
import { standardManifest } from "./harness.ts";
import { hello } from "./money-home.ts";
import { useFakeUpstream } from "./use-upstream.ts";

/** For all tests of a file: a server with two accounts, of which only "rich" has money. */
export async function useRichAndPoor(environment: Environment = {}) {
  const upstream = await useFakeUpstream();
  upstream.replyWith(chatJson());
  const home = createHome();
  afterAll(() => home.remove());
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  const createKey = async (account: string) => {
    await home.json(`account create ${account}`);
    return home.json<{ id: string; key: string }>(`key create --account ${account}`);
  };
  const keys = { rich: await createKey("rich"), poor: await createKey("poor") };
  await home.json("account credit rich 5");
  const server = await home.serve({ FAKE_KEY: "x", SVC_RETRIES: "0", ...environment });
  return {
    upstream,
    home,
    server,
    keys,
    /** Returns the id of the request. */
    async chat(account: keyof typeof keys, rest: object = {}): Promise<string> {
      const reply = await server.post(
        "/chat/completions",
        { ...hello, ...rest },
        keys[account].key,
      );
      await reply.arrayBuffer();
      return reply.headers.get("x-request-id") ?? "";
    },
  };
}

/** The objects of a text that has one on each line. */
export const linesIn = <T>(text: string): readonly T[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): T => JSON.parse(line));
