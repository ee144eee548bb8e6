import { afterAll, beforeEach } from "bun:test";
import { type FakeUpstream, type ReplySource, startFakeUpstream } from "../fake/upstream.ts";

/** A fake vendor for the tests of one file; with a reply, each of them begins with that alone. */
export async function useFakeUpstream(reply?: ReplySource): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream();
  afterAll(() => upstream.stop());
  if (reply !== undefined) {
    upstream.replyWith(reply);
    beforeEach(() => {
      upstream.reset();
      upstream.replyWith(reply);
    });
  }
  return upstream;
}
