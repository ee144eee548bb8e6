import { ActionIcon, VisuallyHidden } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { memo } from "react";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { dialectOf } from "../../../components/code/dialects.ts";
import { formatCount } from "../../../format/figures.ts";
import { TroubleNotice } from "../gateway/trouble-notice.tsx";
import shared from "../playground.module.css";
import { Receipt } from "../receipt/receipt.tsx";
import classes from "./chat.module.css";
import { type Answer, type Exchange, isUnderWay, type Question } from "./conversation.ts";
import { Markdown } from "./markdown.tsx";

interface TurnProps {
  readonly exchange: Exchange;
  /** Of the last one alone. */
  readonly onRetry: (() => void) | undefined;
}

/** A question, its answer, and the answer's receipt. */
export function Turn({ exchange, onRetry }: TurnProps) {
  const { question, answer } = exchange;
  const receiptId = isUnderWay(answer) ? undefined : receiptIdOf(answer);
  return (
    <article className={classes.turn}>
      <QuestionView question={question} />
      <div className={shared.result}>
        <div className={classes.answer}>
          <p className={classes.who}>
            {answer.model}
            {answer.dialect !== "chat" && <span> · {dialectOf(answer.dialect).label}</span>}
          </p>
          <Reasoning answer={answer} />
          <AnswerText answer={answer} />
          {answer.trouble !== null && <TroubleNotice trouble={answer.trouble} onRetry={onRetry} />}
          {!isUnderWay(answer) && <Foot answer={answer} onRetry={onRetry} />}
        </div>
        {receiptId !== undefined && <Receipt requestId={receiptId} />}
      </div>
    </article>
  );
}

const QuestionView = memo(function QuestionView({ question }: { readonly question: Question }) {
  return (
    <div className={classes.question}>
      {question.pictures.map(({ id, name, dataUri }) => (
        <img key={id} src={dataUri} alt={name} className={classes.picture} />
      ))}
      {question.text}
    </div>
  );
});

function Reasoning({ answer }: { readonly answer: Answer }) {
  if (answer.reasoning === "") return null;
  return (
    <details className={classes.reasoning} open={answer.text === ""}>
      <summary>{isUnderWay(answer) && answer.text === "" ? "Thinking…" : "Reasoning"}</summary>
      <div>{answer.reasoning}</div>
    </details>
  );
}

function AnswerText({ answer }: { readonly answer: Answer }) {
  if (answer.state === "waiting")
    return (
      <p>
        <span aria-hidden="true" className={classes.dots}>
          <i />
          <i />
          <i />
        </span>
        <VisuallyHidden>Waiting for the first token</VisuallyHidden>
      </p>
    );
  return (
    <div className={classes.text} data-coming={answer.state === "coming"}>
      <Markdown text={answer.text} />
    </div>
  );
}

function Foot({
  answer,
  onRetry,
}: {
  readonly answer: Answer;
  readonly onRetry: TurnProps["onRetry"];
}) {
  const { text, usage, trouble } = answer;
  return (
    <div className={classes.foot}>
      {text !== "" && <CopyButton text={text} what="the reply" />}
      {onRetry !== undefined && trouble === null && (
        <ActionIcon size={28} aria-label="Regenerate" onClick={onRetry}>
          <IconRefresh size={16} />
        </ActionIcon>
      )}
      <span>{endOf(answer)}</span>
      {usage !== undefined && (
        <span>
          {formatCount(usage.prompt_tokens)} tokens in, {formatCount(usage.completion_tokens)} out
        </span>
      )}
    </div>
  );
}

const ends: Readonly<Record<string, string>> = {
  stop: "Finished",
  length: "Cut off at the token limit",
  content_filter: "Stopped by the content filter",
  tool_calls: "Tool call",
};

function endOf({ state, text, finishReason }: Answer): string {
  if (state === "stopped") return text === "" ? "Stopped before the first token" : "Stopped";
  if (state === "failed") return "";
  return ends[finishReason ?? ""] ?? finishReason ?? "";
}

/** What was refused before a model was asked has none. */
function receiptIdOf({ requestId, trouble }: Answer): string | undefined {
  if (requestId !== undefined) return requestId;
  if (trouble === null || !("requestId" in trouble)) return undefined;
  return trouble.status >= 500 ? trouble.requestId : undefined;
}
