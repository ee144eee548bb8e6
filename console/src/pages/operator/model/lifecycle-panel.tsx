import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Reply } from "../../../api.ts";
import { ConfirmButton } from "../../../components/feedback/confirm-button.tsx";
import { say } from "../../../components/feedback/toasts.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Panel } from "../../../components/layout/panel.tsx";
import { formatDay } from "../../../format/moments.ts";
import { Deprecate } from "./deprecate-dialog.tsx";
import classes from "./page.module.css";

type Entry = Reply<"GET /api/catalog/:model">;

/** active → deprecated → retired, and never back. */
export function LifecyclePanel({ entry }: { readonly entry: Entry }) {
  const [isDeprecating, setDeprecating] = useState(false);
  const { id, status } = entry;
  return (
    <Panel
      title="Lifecycle"
      actions={
        <Group gap={6}>
          {status !== "retired" && (
            <Button size="xs" variant="default" onClick={() => setDeprecating(true)}>
              {entry.deprecated_at === null ? "Deprecate" : "Change dates"}
            </Button>
          )}
          {status === "deprecated" && (
            <ConfirmButton
              size="xs"
              question={`Retire ${id} now?`}
              consequence={
                <p>
                  Calls to it are rejected immediately, regardless of the announced date. This
                  cannot be undone. Check the current callers below first.
                </p>
              }
              verb="Retire"
              route="POST /api/catalog/:model/retire"
              input={{ params: { model: id } }}
              onDone={() => say(`Retired ${id}.`)}
            >
              Retire now
            </ConfirmButton>
          )}
        </Group>
      }
    >
      <ol className={classes.stages} aria-label="Lifecycle">
        <Stage name="Active" day={entry.created_at} isNow={status === "active"} word="since" />
        <Stage
          name="Deprecated"
          day={entry.deprecated_at}
          isNow={status === "deprecated"}
          word="from"
        />
        <Stage name="Retired" day={entry.retires_at} isNow={status === "retired"} word="from" />
      </ol>
      <p className={classes.words}>
        {entry.deprecated_at === null ? (
          "Deprecate the model to announce its retirement. Replies then include the date and the replacement."
        ) : (
          <>
            Replies include a deprecation notice. Replacement:{" "}
            {entry.replacement === null ? (
              "none"
            ) : (
              <Link to="/operator/catalog/$model" params={{ model: entry.replacement }}>
                {entry.replacement}
              </Link>
            )}
            .
          </>
        )}
      </p>
      <Dialog of={isDeprecating} onClose={() => setDeprecating(false)}>
        {() => <Deprecate entry={entry} />}
      </Dialog>
    </Panel>
  );
}

interface StageProps {
  readonly name: string;
  readonly day: string | null;
  readonly isNow: boolean;
  readonly word: string;
}

function Stage({ name, day, isNow, word }: StageProps) {
  return (
    <li aria-current={isNow ? "step" : undefined}>
      <strong>{name}</strong>
      <span>
        {day === null ? (
          "Not planned"
        ) : (
          <time dateTime={day}>{`${word} ${formatDay(Date.parse(day))}`}</time>
        )}
      </span>
    </li>
  );
}
