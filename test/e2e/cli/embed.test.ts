import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { embeddingReplies, embeddingsReply } from "../../fake/recordings.ts";
import { useCallHome } from "../../setup/call-home.ts";
import { succeeds } from "../../setup/outcomes.ts";

const fixture = (name: string) => join(import.meta.dir, "../../fixtures/media", name);

const calls = await useCallHome();

test("shows the dimensions, the length and the first numbers of one text", async () => {
  calls.upstream.replyWith(embeddingsReply({ vectors: [[3, 4, 0, 0, 0, 0, 0, 0, 1.5]] }));
  const stdout = succeeds(await calls.svc(["embed", "a cat"]));
  expect(stdout).toMatch(/^dimensions +9\nlength +5\.2202\nvalues +3\.00000, 4\.00000, .*, …\n$/);
  expect(calls.upstream.requests[0]?.json).toMatchObject({
    model: "upstream-embed",
    input: ["a cat"],
  });
});

test("compares several, the most alike first, in columns without colours", async () => {
  const inFullLength = (...start: number[]) => [...start, ...Array<number>(766).fill(0)];
  const vectors = [inFullLength(1, 0), inFullLength(0, 2), inFullLength(4, 3)];
  calls.upstream.replyWith(embeddingsReply({ vectors }));
  const { stdout } = await calls.svc(["embed", "cat", "oil", "kitten", "--dimensions", "768"]);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["similarity", "between", "and"],
    ["0.8000", "cat", "kitten"],
    ["0.6000", "oil", "kitten"],
    ["0.0000", "cat", "oil"],
    [""],
  ]);
  expect(calls.upstream.requests[0]?.json).toMatchObject({ dimensions: 768 });
});

test("takes a text a line from stdin, and gives the vectors as JSON", async () => {
  calls.upstream.replyWith(embeddingReplies.outOfOrder());
  const { stdout } = await calls.svc(["embed", "-", "--json"], "a\nb\n\nc\n");
  const { object, model, data } = JSON.parse(stdout);
  expect([object, model]).toEqual(["list", "svc-embedding-2"]);
  expect(data).toMatchObject([{ index: 0 }, { index: 1 }, { index: 2 }]);
  expect(data[0].embedding).toEqual([0.5, -0.25, 0.125, 0.75]);
  expect(calls.upstream.requests[0]?.json).toMatchObject({ input: ["a", "b", "c"] });
});

test("compares images and videos, named by flags or by the model", async () => {
  const [png, mp4] = [fixture("tiny.png"), fixture("h264-1s.mp4")];
  for (const words of [
    ["--image", png, "--video", mp4],
    ["--model", "multimodal-embedding-1", mp4, png],
  ]) {
    calls.upstream.reset();
    calls.upstream.replyWith(embeddingsReply({ vectors: [[1, 1]] }));
    const stdout = succeeds(await calls.svc(["embed", ...words]));
    expect(stdout).toMatch(/^similarity .*\n1\.0000 .*\n$/);
    expect(calls.upstream.requests.map(({ json }) => json)).toMatchObject([
      { model: "upstream-media", input: [expect.stringMatching(/^data:image\/png;base64,iVBOR/)] },
      { model: "upstream-media", input: { video: { bytesBase64Encoded: expect.any(String) } } },
    ]);
  }
  const { stdout } = await calls.svc(["embed", "--json", "--image", png, "--video", mp4]);
  expect(JSON.parse(stdout)).toMatchObject({
    data: [{ index: 0 }, { index: 1 }],
    usage: { images: 1, video_seconds: 1 },
  });
});

test("--curl gives lines that ask the same, for texts and for files", async () => {
  copyFileSync(fixture("tiny.png"), join(calls.folder, "it's one.png"));
  for (const words of [
    ["it's", "another"],
    ["--image", "it's one.png", "--image", fixture("tiny.gif")],
    ["--video", fixture("h264-1s.mp4")],
  ]) {
    const reply = embeddingsReply({ vectors: words[0] === "--video" ? [[1]] : [[1], [1]] });
    calls.upstream.reset();
    calls.upstream.replyWith(reply);
    expect((await calls.svc(["embed", ...words])).code).toBe(0);
    const [asked] = calls.upstream.requests;
    calls.upstream.reset();
    calls.upstream.replyWith(reply);
    const line = (await calls.svc(["embed", ...words, "--curl"])).stdout;
    expect(calls.upstream.requests).toBeEmpty();
    const { code, stdout } = await calls.shell(line);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).object).toBe("list");
    expect(calls.upstream.requests[0]?.json).toEqual(asked?.json);
  }
});
