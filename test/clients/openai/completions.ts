import { expect } from "bun:test";
import {
  completionChoice,
  completionJson,
  completionStream,
} from "../../fake/openai/completion-replies.ts";
import { type Stage, sentUpstream } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const prompt = "The three primary colors are";

export function completionChecks(check: Check, stage: Stage): void {
  check("gets a legacy completion, streamed or not", async () => {
    const { completions } = stage.gateway.client();
    stage.gateway.upstream.replyOnce(completionJson());
    const { choices, usage } = await completions.create({ model, prompt, max_tokens: 20 });
    expect(choices[0]?.text).toBe(" red, yellow and blue.");
    expect(usage?.total_tokens).toBe(11);
    stage.gateway.upstream.replyOnce(completionStream());
    let text = "";
    for await (const chunk of await completions.create({ model, prompt, stream: true }))
      text += chunk.choices[0]?.text ?? "";
    expect(text).toBe(" red, yellow and blue.");
  });

  check("sends several legacy prompts, as text or token ids", async () => {
    const choices = [0, 1].map((index) => completionChoice(`${index}`, index));
    stage.gateway.upstream.replyWith(completionJson({ choices }));
    for (const several of [
      ["a", "b"],
      [[1, 2], [3]],
    ]) {
      const reply = await stage.gateway.client().completions.create({ model, prompt: several });
      expect(reply.choices.map(({ index, text }) => [index, text])).toEqual([
        [0, "0"],
        [1, "1"],
      ]);
      expect(sentUpstream(stage.gateway)["prompt"]).toEqual(several);
    }
  });
}
