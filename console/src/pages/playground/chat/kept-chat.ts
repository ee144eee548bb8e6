import { dialectOf } from "../../../components/code/dialects.ts";
import { GatewayProblem, isRecord } from "../gateway/gateway-call.ts";
import { type Answer, type Exchange, isUnderWay } from "./conversation.ts";
import { textOf } from "./dialects/answer-events.ts";

/** A tab may keep some megabytes; the newest that fit are kept. */
const mostLetters = 2_000_000;

/** One conversation per person and account: it survives a reload, and ends with the tab. */
export const keptName = (user: string, account: string) => `svc-chat-${user}-${account}`;

export function keepChat(storage: Storage, name: string, exchanges: readonly Exchange[]): void {
  const kept: string[] = [];
  let letters = 0;
  for (const exchange of exchanges.toReversed()) {
    // What is in flight is lost with the page, and so is its question.
    if (isUnderWay(exchange.answer)) continue;
    const text = JSON.stringify(toKept(exchange));
    letters += text.length;
    if (letters > mostLetters) break;
    kept.unshift(text);
  }
  try {
    if (kept.length === 0) storage.removeItem(name);
    else storage.setItem(name, `[${kept.join(",")}]`);
  } catch {
    // The browser's storage is full. The chat is lost on reload.
  }
}

export function readChat(storage: Storage, name: string): readonly Exchange[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(name) ?? "[]");
    return Array.isArray(kept) ? kept.flatMap((one, at) => toExchange(one, at + 1)) : [];
  } catch {
    return [];
  }
}

/** An error has no fields of its own in JSON. */
function toKept({ question, answer }: Exchange): unknown {
  const { trouble, ...rest } = answer;
  if (trouble === null) return { question, answer: rest };
  const { status, code, message } = trouble;
  const requestId = "requestId" in trouble ? trouble.requestId : undefined;
  return { question, answer: { ...rest, trouble: { status, code, message, requestId } } };
}

/** None where it is not as this version writes it. */
function toExchange(kept: unknown, id: number): readonly Exchange[] {
  if (!isRecord(kept) || !isRecord(kept["question"]) || !isRecord(kept["answer"])) return [];
  const { question, answer } = kept;
  if (typeof question["text"] !== "string" || !Array.isArray(question["pictures"])) return [];
  if (typeof answer["text"] !== "string" || typeof answer["model"] !== "string") return [];
  // Kept by a version that had one format only.
  const dialect = dialectOf(textOf(answer["dialect"])).id;
  const trouble = isRecord(answer["trouble"])
    ? new GatewayProblem(answer["trouble"] as ConstructorParameters<typeof GatewayProblem>[0])
    : null;
  return [
    {
      id,
      question: question as unknown as Exchange["question"],
      answer: { ...(answer as unknown as Answer), dialect, trouble },
    },
  ];
}
