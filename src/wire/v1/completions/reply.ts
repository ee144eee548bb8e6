import { isJsonObject, type Json } from "../../../call/chat.ts";
import { fieldsOf, toWireUsage } from "../chat/reply.ts";
import type { WholeReply } from "../dialect.ts";

/** The choices are the upstream's own; everything around them is ours. */
export function toTextCompletionReply({ identity, result, usage }: WholeReply): string {
  const { id, createdS, model } = identity;
  const head = `{"id":"${id}","object":"text_completion","created":${createdS},"model":${JSON.stringify(model)}`;
  const more = result.extras === undefined ? "" : fieldsOf(result.extras);
  const choices = JSON.stringify(nativeChoices(result.native?.["choices"]));
  return `${head}${more},"choices":${choices},"usage":${JSON.stringify(toWireUsage(usage))}}`;
}

const nativeChoices = (choices: Json | undefined): Json =>
  Array.isArray(choices) ? choices.filter(isJsonObject) : [];
