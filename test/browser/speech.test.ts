/**
 * The audio opens where people listen: a real browser, for the form with exact sizes and for the
 * streaming form, whose sizes are not known when its header goes out.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Recording, speechReplies, tone } from "../fake/recordings.ts";
import { pausedAfter } from "../fake/script.ts";
import { sharedBrowser } from "../setup/browser.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";

const spoken = {
  model: "svc-2.5-flash-tts",
  input: "Hello there, and a good morning to you all.",
  voice: "Kore",
};
const seconds = 0.5;
const pcm: Buffer = tone(seconds);
const samples = Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(at * 2));

/** What the upstream says of its length decides which of the two headers the gateway can write. */
const forms: Readonly<Record<string, () => Recording>> = {
  "a WAV of exact sizes": () => speechReplies.pcmWithLength({ seconds }),
  "a WAV in the streaming form": () => speechReplies.pcmChunked({ seconds }),
};

let gateway: TestGateway;
let site: ReturnType<typeof startSite>;
let page: Page;

beforeAll(async () => {
  site = startSite();
  gateway = await startTestGateway({ environment: { SVC_CORS_ORIGINS: site.origin } });
  page = await (await sharedBrowser()).newPage();
  await page.goto(site.origin);
});
afterAll(async () => {
  await page.close();
  await gateway.stop();
  await site.stop();
});
beforeEach(() => gateway.upstream.reset());

/** An application: a page, and a path that hands the gateway's audio on as it comes. */
function startSite() {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/": () =>
        new Response("<title>Speech</title>", { headers: { "content-type": "text/html" } }),
      "/speech.wav": async () => {
        const reply = await gateway.call("/audio/speech", spoken);
        return new Response(reply.body, {
          headers: { "content-type": reply.headers.get("content-type") ?? "" },
        });
      },
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

/** Runs in the page: a call as an application makes it, allowed by CORS. */
async function decode({ url, key, body }: PageCall) {
  const reply = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  // At the audio's own rate, so that nothing is resampled.
  const context = new OfflineAudioContext(1, 1, 24_000);
  const audio = await context.decodeAudioData(await reply.arrayBuffer());
  return {
    type: reply.headers.get("content-type"),
    rate: audio.sampleRate,
    channels: audio.numberOfChannels,
    samples: Array.from(audio.getChannelData(0), (level) => Math.round(level * 32_768)),
  };
}

interface PageCall {
  readonly url: string;
  readonly key: string;
  readonly body: string;
}

const pageCall = (): PageCall => ({
  url: `${gateway.baseUrl}/audio/speech`,
  key: gateway.key,
  body: JSON.stringify(spoken),
});

/** Runs in the page: starts to listen, and keeps the player; it is heard when this resolves. */
function startPlayer(source: string) {
  return new Promise<string>((resolve) => {
    const audio = new Audio();
    audio.id = "player";
    document.body.append(audio);
    audio.addEventListener("timeupdate", () => {
      if (audio.currentTime > 0) resolve("heard");
    });
    audio.addEventListener("error", () => resolve(audio.error?.message ?? "error"));
    audio.src = source;
    audio.play().catch(() => {});
  });
}

/** Runs in the page: how long the sound was, known at its end. */
function endOfPlayer() {
  const audio = document.querySelector("audio");
  if (audio === null) throw new Error("there is no player");
  // The wait is for the test's sake only.
  audio.playbackRate = 16;
  return new Promise<number>((resolve) => {
    if (audio.ended) resolve(audio.duration);
    audio.addEventListener("ended", () => resolve(audio.duration));
  });
}

/** Runs in the page: listens to the end, or tells why it cannot. */
function listen(source: string) {
  return new Promise<{ heard: string[]; endedAtS: number; durationS: number; problem: string }>(
    (resolve) => {
      const audio = new Audio();
      const heard: string[] = [];
      const finish = () =>
        resolve({
          heard,
          endedAtS: audio.currentTime,
          durationS: audio.duration,
          problem: audio.error?.message ?? "",
        });
      for (const name of ["loadedmetadata", "canplaythrough", "playing", "ended"])
        audio.addEventListener(name, () => heard.push(name), { once: true });
      audio.addEventListener("ended", finish);
      audio.addEventListener("error", finish);
      audio.src = source;
      audio.play().catch(() => {});
    },
  );
}

for (const [name, record] of Object.entries(forms))
  describe(name, () => {
    beforeEach(() => gateway.upstream.replyWith(record()));

    test("decodes in a page to the very samples that the upstream sent", async () => {
      const decoded = await page.evaluate(decode, pageCall());
      expect(decoded).toEqual({ type: "audio/wav", rate: 24_000, channels: 1, samples });
    });

    test("plays to its end in an audio element", async () => {
      const played = await page.evaluate(listen, `${site.origin}/speech.wav`);
      expect(played).toEqual({
        heard: expect.arrayContaining(["canplaythrough", "playing", "ended"]),
        endedAtS: seconds,
        durationS: seconds,
        problem: "",
      });
    });
  });

describe("while the upstream still holds the rest back", () => {
  let rest: PromiseWithResolvers<void>;
  beforeEach(() => {
    rest = Promise.withResolvers<void>();
  });
  afterEach(() => rest.resolve());

  /** The first half, and the second when `rest` resolves. */
  function speakInHalves(lengthS: number): Buffer {
    const whole = tone(lengthS);
    const partBytes = whole.length / 2 + 1;
    const recording = speechReplies.pcmChunked({ seconds: lengthS, partBytes });
    gateway.upstream.replyWith(pausedAfter({ recording, parts: 1, until: rest.promise }));
    return whole;
  }

  test("a page has the first samples in its hands, and the others after", async () => {
    const whole = speakInHalves(1);
    const reader = await page.evaluateHandle(async ({ url, key, body }: PageCall) => {
      const reply = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body,
      });
      if (reply.body === null) throw new Error("the reply has no body");
      return reply.body.getReader();
    }, pageCall());
    const first = await reader.evaluate(async (body) => [...((await body.read()).value ?? [])]);
    expect(first.length).toBeGreaterThan(44);
    const heard: Buffer = Buffer.from(first.slice(44));
    expect(heard).toEqual(whole.subarray(0, heard.length));
    rest.resolve();
    const restBytes = await reader.evaluate(async (body) => {
      let sizeBytes = 0;
      for (let read = await body.read(); !read.done; read = await body.read())
        sizeBytes += read.value.length;
      return sizeBytes;
    });
    expect(first.length + restBytes).toBe(44 + whole.length);
  });

  test("an audio element is heard, and plays on to the end once the rest has come", async () => {
    // The browser starts when it has about five seconds.
    const lengthS = 16;
    speakInHalves(lengthS);
    expect(await page.evaluate(startPlayer, `${site.origin}/speech.wav`)).toBe("heard");
    rest.resolve();
    // Played this fast, the browser drops some of the last samples.
    expect(await page.evaluate(endOfPlayer)).toBeGreaterThan(lengthS - 0.2);
  });
});
