import { useEffect, useRef, useState } from "react";
import type { DialectId } from "../../../components/code/dialects.ts";
import { useUser } from "../../../session.tsx";
import { usePlaygroundAccount } from "../account.ts";
import type { GatewayAccess } from "../gateway/gateway-access.ts";
import { callGateway } from "../gateway/gateway-call.ts";
import { toTrouble } from "../gateway/use-run.ts";
import type { PlaygroundModel } from "../models.ts";
import {
  type Answer,
  type ChatParameters,
  type Exchange,
  isUnderWay,
  newAnswer,
  type Question,
} from "./conversation.ts";
import { readAnswer } from "./dialects/answer-events.ts";
import { createReader, toCall } from "./dialects/dialects.ts";
import { keepChat, keptName, readChat as readKept } from "./kept-chat.ts";

interface ChatOptions {
  readonly access: GatewayAccess;
  readonly model: PlaygroundModel;
  readonly dialect: DialectId;
  readonly parameters: ChatParameters;
}

export interface Chat {
  readonly exchanges: readonly Exchange[];
  readonly isBusy: boolean;
  ask(question: Question): void;
  /** Asks the last question again, with what is set now. */
  retry(): void;
  stop(): void;
  clear(): void;
}

/** A conversation: every question is sent with all that was said before it. */
export function useChat({ access, model, dialect, parameters }: ChatOptions): Chat {
  const name = keptName(useUser().id, usePlaygroundAccount());
  const [exchanges, setExchanges] = useState(() => readKept(sessionStorage, name));
  const controller = useRef<AbortController>(undefined);
  const nextId = useRef(exchanges.length + 1);
  useEffect(() => () => controller.current?.abort(), []);
  const isBusy = exchanges.some(({ answer }) => isUnderWay(answer));
  useEffect(() => {
    // Not with every word that comes.
    if (!isBusy) keepChat(sessionStorage, name, exchanges);
  }, [isBusy, name, exchanges]);

  const start = (history: readonly Exchange[], question: Question) => {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    const id = nextId.current++;
    setExchanges([...history, { id, question, answer: newAnswer(model.id, dialect) }]);
    const call = toCall(dialect, {
      model: model.id,
      mostTokens: model.max_output_tokens,
      parameters,
      history,
      question,
    });
    const show = (answer: Answer) =>
      setExchanges((old) => old.map((one) => (one.id === id ? { ...one, answer } : one)));
    void answerTo({ access, call, first: newAnswer(model.id, dialect), signal: own.signal, show });
  };
  const last = exchanges.at(-1);
  return {
    exchanges,
    isBusy,
    ask: (question) => start(exchanges, question),
    retry: () => last !== undefined && start(exchanges.slice(0, -1), last.question),
    stop: () => controller.current?.abort(),
    clear: () => {
      controller.current?.abort();
      setExchanges([]);
    },
  };
}

interface AnswerOptions {
  readonly access: GatewayAccess;
  readonly call: { readonly path: string; readonly body: unknown };
  readonly first: Answer;
  readonly signal: AbortSignal;
  readonly show: (answer: Answer) => void;
}

/** Shown at most once a frame, however fast the words come. */
async function answerTo({ access, call, first, signal, show }: AnswerOptions): Promise<void> {
  let answer = first;
  let frame: number | undefined;
  const showSoon = () => {
    frame ??= requestAnimationFrame(() => {
      frame = undefined;
      show(answer);
    });
  };
  try {
    const response = await callGateway(access, { ...call, signal });
    answer = { ...answer, requestId: response.headers.get("x-request-id") ?? undefined };
    for await (const part of readAnswer(response, createReader(first.dialect))) {
      answer = {
        ...answer,
        state: "coming",
        text: answer.text + (part.text ?? ""),
        reasoning: answer.reasoning + (part.reasoning ?? ""),
        finishReason: part.finishReason ?? answer.finishReason,
        usage: part.usage ?? answer.usage,
      };
      showSoon();
    }
    answer = { ...answer, state: "done" };
  } catch (error) {
    answer = signal.aborted
      ? { ...answer, state: "stopped" }
      : { ...answer, state: "failed", trouble: toTrouble(error) };
  }
  if (frame !== undefined) cancelAnimationFrame(frame);
  show(answer);
}
