import { countTokens, waitUntil } from "../../setup/money-home.ts";
import type { Stage } from "../stage.ts";
import { scenes } from "../vendors.ts";

/** The thread that counts starts with the first count, which may be over before it is ready. */
export async function untilCounted(stage: Stage): Promise<void> {
  const [chat] = scenes;
  if (chat === undefined) throw new Error("no scenes");
  const caller = await stage.caller(chat);
  const text = "one two three four";
  let calls = 0;
  await waitUntil("an exact count", async () => {
    stage.answer(chat, chat.wire.whole({ pieces: [{ text }], finish: "stop" }));
    await caller.hear({}, "whole");
    const receipts = await caller.payer.settled(++calls);
    return receipts.at(-1)?.units.output === countTokens(text);
  });
}
