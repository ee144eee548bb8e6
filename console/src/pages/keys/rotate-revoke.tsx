import { Radio, Stack } from "@mantine/core";
import { Question } from "../../components/feedback/confirm-button.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { FormDialog } from "../../components/form/form-dialog.tsx";
import { useForm } from "../../components/form/use-form.ts";
import { Moment } from "../../components/table/moment.tsx";
import { type Key, type Model, nameOf } from "./key-draft.ts";
import { NewSecret } from "./new-secret.tsx";
import classes from "./page.module.css";

const overlaps = [
  {
    value: "0",
    label: "Revoke now",
    about: "The old secret stops working immediately. Choose this if it leaked.",
  },
  { value: "1h", label: "Keep for 1 hour", about: "Both secrets work for 1 hour." },
  { value: "24h", label: "Keep for 24 hours", about: "Both secrets work for 24 hours." },
  { value: "7d", label: "Keep for 7 days", about: "Both secrets work for 7 days." },
];

export function RotateKey({ of, models }: { readonly of: Key; readonly models: readonly Model[] }) {
  const form = useForm({
    route: "POST /api/accounts/:account/keys/:id/rotate",
    values: { overlap: "24h" },
    toInput: (body) => ({ params: { account: of.account, id: of.id }, body }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <NewSecret made={form.reply} models={models} />;
  return (
    <FormDialog title={`Rotate “${nameOf(of)}”`} form={form} submit="Rotate key">
      <p>
        The key gets a new secret, shown once. Its name, models, limits, budget and usage stay the
        same.
      </p>
      <Radio.Group
        label={`Old secret ${of.hint}`}
        value={form.values.overlap}
        onChange={(overlap) => form.edit({ overlap })}
        error={form.error("overlap")}
      >
        <Stack gap="xs" mt="xs">
          {overlaps.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      {of.previous !== null && (
        <p className={classes.warning}>
          An earlier secret, {of.previous.hint}, still works. Rotating revokes it immediately.
        </p>
      )}
    </FormDialog>
  );
}

export function RevokeKey({ of }: { readonly of: Key }) {
  return (
    <Question
      route="DELETE /api/accounts/:account/keys/:id"
      input={{ params: { account: of.account, id: of.id } }}
      onDone={() => say(`Revoked “${nameOf(of)}”.`)}
      question={`Revoke “${nameOf(of)}”?`}
      verb="Revoke key"
      consequence={
        <>
          <p>
            New calls with this key are rejected with 401. Calls in flight finish. This cannot be
            undone.
          </p>
          <LastUseSentence of={of} />
        </>
      }
    />
  );
}

/** It can be undone, and yet it stops an application: so it is asked for. */
export function PauseKey({ of }: { readonly of: Key }) {
  return (
    <Question
      route="POST /api/accounts/:account/keys/:id/pause"
      input={{ params: { account: of.account, id: of.id } }}
      onDone={() => say(`Paused “${nameOf(of)}”.`)}
      question={`Pause “${nameOf(of)}”?`}
      verb="Pause key"
      consequence={
        <p>
          New calls with this key are rejected with 401 until you resume it. Calls in flight finish.
        </p>
      }
    />
  );
}

function LastUseSentence({ of: { last_used_at, last_rejected_at } }: { readonly of: Key }) {
  const at = last_used_at ?? last_rejected_at;
  if (at === null) return <p>This key has never been used.</p>;
  return (
    <p>
      {last_used_at === null ? "All calls were rejected, the last one" : "Last used"}{" "}
      <Moment at={at} />.
    </p>
  );
}
