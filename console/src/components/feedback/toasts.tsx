import { ActionIcon } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconX } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import classes from "./toasts.module.css";

type Tone = "good" | "bad";
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Tone;
}

const shownMs = 5_000;
const most = 3;
let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

/** Says in a corner, and to screen readers, that something was done: `say("The key is revoked.")`. */
export function say(text: string, tone: Tone = "good"): void {
  const id = nextId++;
  replace([...toasts.slice(1 - most), { id, text, tone }]);
  setTimeout(() => dismiss(id), shownMs);
}

const dismiss = (id: number) => replace(toasts.filter((toast) => toast.id !== id));

function replace(next: readonly Toast[]): void {
  toasts = next;
  for (const tell of listeners) tell();
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => toasts,
  );
  return (
    <div className={classes.stack} role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={classes.toast} data-tone={tone}>
          {tone === "good" ? <IconCheck size={16} /> : <IconAlertTriangle size={16} />}
          <span>{text}</span>
          <ActionIcon size={24} aria-label="Dismiss" onClick={() => dismiss(id)}>
            <IconX size={14} />
          </ActionIcon>
        </div>
      ))}
    </div>
  );
}
