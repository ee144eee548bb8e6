import { useEffect, useState } from "react";
import { CodeBlock } from "../../../components/code/code-block.tsx";
import { StateBadge } from "../../../components/table/state-badge.tsx";
import { formatBytes, formatMs } from "../../../format/figures.ts";
import { pretty } from "./pretty.ts";
import type { Answer } from "./send.ts";
import classes from "./try-it.module.css";

/** The actual response, errors included. */
export function AnswerView({ answer }: { readonly answer: Answer }) {
  const { status, headers, type, firstByteMs, totalMs, text, said, audio, sizeBytes } = answer;
  const isEvents = type === "text/event-stream";
  return (
    <section className={classes.answer} aria-label="Response">
      <p className={classes.figures} role="status">
        <StateBadge state={status < 400 ? "ok" : "failed"} label={String(status)} />
        <span>{type}</span>
        <span>first byte {formatMs(firstByteMs)}</span>
        <span>{totalMs === undefined ? "receiving…" : `total ${formatMs(totalMs)}`}</span>
        {totalMs !== undefined && <span>{formatBytes(sizeBytes)}</span>}
      </p>
      {said !== "" && <p className={classes.said}>{said}</p>}
      {audio !== undefined && <Player audio={audio} />}
      {text !== "" && (
        <div className={classes.body}>
          <CodeBlock
            what="the response"
            samples={[
              { label: isEvents ? "events" : "body", code: isEvents ? text : pretty(text) },
            ]}
          />
        </div>
      )}
      <details className={classes.headers}>
        <summary>Headers ({headers.length})</summary>
        <dl>
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

function Player({ audio }: { readonly audio: Blob }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(audio);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [audio]);
  return <audio controls src={url} className={classes.player} aria-label="Speech" />;
}
