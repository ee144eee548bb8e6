/** Sources that vendors of other formats name, as citations of the text. */

import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { chatJson, deltaStream } from "../../fake/recordings.ts";
import { anthropicAt, ask, messagesManifest, nativeWhole } from "../../setup/messages-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: messagesManifest });
const base = { model: "local", max_tokens: 100, messages: [ask] };
const annotation = (name: string): JsonObject => ({
  type: "url_citation",
  url_citation: {
    url: `https://${name}.example`,
    title: name,
    content: `words of ${name}`,
    start_index: 0,
    end_index: 2,
  },
});
const citation = (name: string) => ({
  type: "web_search_result_location" as const,
  url: `https://${name}.example`,
  title: name,
  cited_text: `words of ${name}`,
  encrypted_index: "",
});
test("a whole reply cites the sources of its text", async () => {
  const annotations = [annotation("a"), { type: "file_citation", file_citation: {} }];
  gateway.upstream.replyOnce(chatJson({ message: { content: "So.", annotations } }));
  const { content } = await anthropicAt(gateway).messages.create(base);
  expect(content).toEqual([{ type: "text", text: "So.", citations: [citation("a")] }]);
});

test("a streamed reply cites them, also those that arrive before the text", async () => {
  gateway.upstream.replyOnce(
    deltaStream([
      { annotations: [annotation("a")] },
      { content: "So" },
      { content: ".", annotations: [annotation("b"), annotation("c")] },
    ]),
  );
  const stream = anthropicAt(gateway).messages.stream(base);
  const heard: string[] = [];
  stream.on("citation", (one) => {
    if (one.type === "web_search_result_location") heard.push(one.url);
  });
  const { content } = await stream.finalMessage();
  const citations = ["a", "b", "c"].map(citation);
  expect(content).toMatchObject([{ type: "text", text: "So.", citations }]);
  expect(content).toHaveLength(1);
  expect(heard).toEqual(citations.map(({ url }) => url));
});

test("sources without text add no empty block", async () => {
  gateway.upstream.replyOnce(deltaStream([{ annotations: [annotation("a")] }]));
  const { content } = await anthropicAt(gateway).messages.stream(base).finalMessage();
  expect(content).toEqual([]);
});

test("citations of other vendors do not go to Anthropic, whose own do", async () => {
  const own = { ...citation("own"), encrypted_index: "ZW5j" };
  const cited = (citations: readonly JsonObject[]) => ({ type: "text", text: "So.", citations });
  gateway.upstream.replyOnce(nativeWhole({ blocks: [{ type: "text", text: "Hi" }] }));
  const content = [cited([citation("a"), own]), cited([citation("a")])];
  const messages = [ask, { role: "assistant", content }, ask];
  await gateway.call("/messages", { ...base, model: "claude", messages });
  const sent = gateway.upstream.requests.at(-1)?.json as { messages: JsonObject[] };
  const expected: JsonObject[] = [cited([own]), { type: "text", text: "So.", citations: null }];
  expect(sent.messages[1]?.["content"]).toEqual(expected);
});
