import { Button, Select, VisuallyHidden } from "@mantine/core";
import { IconTerminal2, IconTrash } from "@tabler/icons-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { type DialectId, dialectOf, dialects } from "../../../components/code/dialects.ts";
import { useSearchText } from "../../../search.ts";
import { CodeButton } from "../code-button.tsx";
import type { ModeProps } from "../models.ts";
import shared from "../playground.module.css";
import { SettingsSide } from "../settings-side.tsx";
import classes from "./chat.module.css";
import { Composer } from "./composer.tsx";
import { type Exchange, isUnderWay, noParameters, type Question } from "./conversation.ts";
import { type AskedOptions, lacksOf, toCall } from "./dialects/dialects.ts";
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
  const [search, setSearch] = useSearchText();
  const dialect = dialectOf(search["api"]).id;
  const [parameters, setParameters] = useState(noParameters);
  const [question, setQuestion] = useState(emptyQuestion);
  const chat = useChat({ access, model, dialect, parameters });
  useStopKey(chat);
  const send = (asked: Question) => {
    chat.ask(asked);
    setQuestion(emptyQuestion);
  };
  const code = () => ({
    baseUrl,
    ...nextCall(dialect, {
      model: model.id,
      mostTokens: model.max_output_tokens,
      parameters,
      exchanges: chat.exchanges,
      question,
    }),
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
        <Select
          label="API format"
          data={dialects.map(({ id, label }) => ({ value: id, label }))}
          value={dialect}
          onChange={(id) => setSearch({ api: id === "chat" ? undefined : (id ?? undefined) })}
          allowDeselect={false}
          description={
            <>
              POST <code>/v1{dialectOf(dialect).path}</code>
            </>
          }
          inputWrapperOrder={["label", "input", "description"]}
        />
        <ParametersForm
          lacks={lacksOf(dialect)}
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
      <p>Replies appear here with their cost. Or start with an example:</p>
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

interface NextCallOptions extends Omit<AskedOptions, "history"> {
  readonly exchanges: readonly Exchange[];
}

/** What would be sent next; with nothing typed, what was sent last. */
function nextCall(dialect: DialectId, { exchanges, question, ...rest }: NextCallOptions) {
  const isTyped = question.text.trim() !== "" || question.pictures.length > 0;
  if (isTyped) return toCall(dialect, { ...rest, history: exchanges, question });
  const last = exchanges.at(-1)?.question ?? { text: starters[0] ?? "", pictures: [] };
  return toCall(dialect, { ...rest, history: exchanges.slice(0, -1), question: last });
}
