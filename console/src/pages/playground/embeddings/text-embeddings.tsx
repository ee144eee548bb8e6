import { ActionIcon, Button, Select, Textarea } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { CodeButton } from "../code-button.tsx";
import { TroubleNotice } from "../gateway/trouble-notice.tsx";
import { useRun } from "../gateway/use-run.ts";
import type { ModeProps } from "../models.ts";
import shared from "../playground.module.css";
import { SettingsSide } from "../settings-side.tsx";
import { type Compared, Comparison } from "./comparison.tsx";
import { embed } from "./embed.ts";
import classes from "./embeddings.module.css";
import { MediaEmbeddings } from "./media-embeddings.tsx";

/** What a model takes decides what is asked for. */
export function EmbeddingsMode(props: ModeProps) {
  return props.model.input === "media" ? (
    <MediaEmbeddings {...props} />
  ) : (
    <TextEmbeddings {...props} />
  );
}

const fewest = 2;
const most = 8;
const examples = [
  "The cat sleeps on the warm windowsill.",
  "A kitten naps in the sun.",
  "Interest rates rose again this quarter.",
  "The central bank made borrowing more expensive.",
  "How do I reset my password?",
];
const marks = "ABCDEFGH";

interface Line {
  readonly id: number;
  readonly text: string;
}

export function TextEmbeddings({ access, baseUrl, models, model, onModel }: ModeProps) {
  const [lines, setLines] = useState<readonly Line[]>(() =>
    examples.map((text, id) => ({ id, text })),
  );
  const [dimensions, setDimensions] = useState<string | null>(null);
  const [compared, setCompared] = useState<Compared>();
  const { isBusy, trouble, run } = useRun();
  const texts = lines.map(({ text }) => text.trim()).filter((text) => text !== "");
  const body = {
    model: model.id,
    input: texts,
    ...(dimensions === null ? {} : { dimensions: Number(dimensions) }),
    encoding_format: "float",
  };
  const compare = () =>
    void run(async (signal) => {
      const { vectors, requestId } = await embed(access, { body, signal });
      setCompared({
        things: texts.map((name, at) => ({ mark: marks[at] ?? String(at), name })),
        vectors,
        requestIds: requestId === undefined ? [] : [requestId],
      });
    });
  return (
    <div className={shared.layout}>
      <div className={classes.main}>
        <Lines lines={lines} onChange={setLines} />
        <div className={classes.actions}>
          <Button
            variant="default"
            leftSection={<IconPlus size={16} />}
            disabled={lines.length >= most}
            onClick={() => setLines([...lines, { id: nextId(lines), text: "" }])}
          >
            Add text
          </Button>
          <Button loading={isBusy} disabled={texts.length < fewest} onClick={compare}>
            Compare
          </Button>
        </div>
        <TroubleNotice trouble={trouble} onRetry={compare} />
        {compared !== undefined && <Comparison compared={compared} />}
      </div>
      <SettingsSide label="Embeddings settings" models={models} model={model} onModel={onModel}>
        <Select
          label="Dimensions"
          description="The length of each vector."
          placeholder="Default"
          data={["768", "1536", "3072"]}
          clearable
          value={dimensions}
          onChange={setDimensions}
        />
        <CodeButton options={() => ({ path: "/embeddings", baseUrl, body })} />
      </SettingsSide>
    </div>
  );
}

interface LinesProps {
  readonly lines: readonly Line[];
  readonly onChange: (lines: readonly Line[]) => void;
}

function Lines({ lines, onChange }: LinesProps) {
  return (
    <ol className={classes.lines} aria-label="Texts to compare, two to eight">
      {lines.map(({ id, text }, at) => (
        <li key={id}>
          <span className={classes.mark} aria-hidden="true">
            {marks[at]}
          </span>
          <Textarea
            aria-label={`Text ${marks[at]}`}
            placeholder="A word, a sentence or a paragraph"
            autosize
            minRows={1}
            maxRows={5}
            value={text}
            onChange={({ currentTarget: { value } }) =>
              onChange(lines.map((line) => (line.id === id ? { id, text: value } : line)))
            }
            className={classes.grow ?? ""}
          />
          <ActionIcon
            size={32}
            aria-label={`Remove text ${marks[at]}`}
            disabled={lines.length <= fewest}
            onClick={() => onChange(lines.filter((line) => line.id !== id))}
          >
            <IconX size={16} />
          </ActionIcon>
        </li>
      ))}
    </ol>
  );
}

const nextId = (lines: readonly Line[]) => Math.max(...lines.map(({ id }) => id)) + 1;
