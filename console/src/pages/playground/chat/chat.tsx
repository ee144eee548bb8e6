import { Button, VisuallyHidden } from "@mantine/core";
import { IconTerminal2, IconTrash } from "@tabler/icons-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { CodeButton } from "../code-button.tsx";
import type { ModeProps } from "../models.ts";
import shared from "../playground.module.css";
import { SettingsSide } from "../settings-side.tsx";
import classes from "./chat.module.css";
import { Composer } from "./composer.tsx";
import {
  type ChatBodyOptions,
  type Exchange,
  isUnderWay,
  noParameters,
  type Question,
  toChatBody,
} from "./conversation.ts";
import { ParametersForm } from "./parameters-form.tsx";
import { Turn } from "./turn.tsx";
import { type Chat, useChat } from "./use-chat.ts";
import { useFollow } from "./use-follow.ts";

const emptyQuestion: Question = { text: "", pictures: [] };
const starters = [
  "Why is the sky blue? Answer in two sentences.",
  "Write a haiku about an API gateway.",
  "Name three uses of text embeddings.",
];

export function ChatMode({ access, baseUrl, models, model, onModel }: ModeProps) {
  const [parameters, setParameters] = useState(noParameters);
  const [question, setQuestion] = useState(emptyQuestion);
  const chat = useChat({ access, model: model.id, parameters });
  useStopKey(chat);
  const send = (asked: Question) => {
    chat.ask(asked);
    setQuestion(emptyQuestion);
  };
  const code = () => ({
    endpoint: "chat" as const,
    baseUrl,
    body: codeBody({ model: model.id, parameters, exchanges: chat.exchanges, question }),
  });
  return (
    <div className={shared.layout}>
      <div className={classes.main}>
        <Conversation chat={chat} onStarter={(text) => send({ text, pictures: [] })} />
        <Composer
          question={question}
          onChange={setQuestion}
          onSend={send}
          onStop={chat.stop}
          isBusy={chat.isBusy}
          takesImages={model.takes_images}
        />
        <Announcement exchanges={chat.exchanges} />
      </div>
      <SettingsSide label="Chat settings" models={models} model={model} onModel={onModel}>
        <ParametersForm
          value={parameters}
          onChange={setParameters}
          mostTokens={model.max_output_tokens}
        />
        <CodeButton options={code} />
        {chat.exchanges.length > 0 && (
          <Button
            variant="default"
            fullWidth
            leftSection={<IconTrash size={16} />}
            onClick={chat.clear}
          >
            Clear conversation
          </Button>
        )}
      </SettingsSide>
    </div>
  );
}

function Conversation(props: { readonly chat: Chat; readonly onStarter: (text: string) => void }) {
  const { chat, onStarter } = props;
  const turns = useRef<HTMLDivElement>(null);
  useFollow(turns, chat.exchanges.length);
  if (chat.exchanges.length === 0) return <Beginning onStarter={onStarter} />;
  return (
    <div ref={turns} className={classes.turns}>
      {chat.exchanges.map((exchange, at) => (
        <Turn
          key={exchange.id}
          exchange={exchange}
          onRetry={at === chat.exchanges.length - 1 && !chat.isBusy ? chat.retry : undefined}
        />
      ))}
    </div>
  );
}

function Beginning({ onStarter }: { readonly onStarter: (text: string) => void }) {
  return (
    <div className={classes.beginning}>
      <span className={classes.beginningIcon}>
        <IconTerminal2 size={22} />
      </span>
      <h2>Send a message</h2>
      <p>Replies stream in here, with their cost. Or start with an example:</p>
      <div className={classes.starters}>
        {starters.map((text) => (
          <button
            key={text}
            type="button"
            className={classes.starter}
            onClick={() => onStarter(text)}
          >
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

/** Screen readers announce the whole reply once, not each word. */
function Announcement({ exchanges }: { readonly exchanges: readonly Exchange[] }) {
  const answer = exchanges.at(-1)?.answer;
  const words =
    answer === undefined
      ? ""
      : isUnderWay(answer)
        ? "The model is replying."
        : answer.state === "failed"
          ? ""
          : `${answer.state === "stopped" ? "Stopped. " : ""}Reply: ${answer.text}`;
  return <VisuallyHidden role="status">{words}</VisuallyHidden>;
}

/** Escape stops the answer, wherever the focus is. */
function useStopKey({ isBusy, stop }: Chat): void {
  const onStop = useEffectEvent(stop);
  useEffect(() => {
    if (!isBusy) return;
    const listen = ({ key }: KeyboardEvent) => key === "Escape" && onStop();
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [isBusy]);
}

interface CodeBodyOptions extends Omit<ChatBodyOptions, "history"> {
  readonly exchanges: readonly Exchange[];
}

/** What would be sent next; with nothing typed, what was sent last. */
function codeBody({ exchanges, question, ...rest }: CodeBodyOptions) {
  const isTyped = question.text.trim() !== "" || question.pictures.length > 0;
  if (isTyped) return toChatBody({ ...rest, history: exchanges, question });
  const last = exchanges.at(-1)?.question ?? { text: starters[0] ?? "", pictures: [] };
  return toChatBody({ ...rest, history: exchanges.slice(0, -1), question: last });
}
