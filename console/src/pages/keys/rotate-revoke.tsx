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
    label: "Not at all",
    about: "The old secret is refused at once: for one that leaked.",
  },
  { value: "1h", label: "1 hour", about: "Both secrets work for an hour." },
  { value: "24h", label: "24 hours", about: "Both secrets work until this time tomorrow." },
  { value: "7d", label: "7 days", about: "Both secrets work for a week." },
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
    <FormDialog title={`Rotate “${nameOf(of)}”`} form={form} submit="Rotate the key">
      <p>
        The key gets a new secret, shown once. Its name, models, limits and budget stay, and its
        usage goes on under the same key.
      </p>
      <Radio.Group
        label={`How long the old secret ${of.hint} works on`}
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
          The secret before this one, {of.previous.hint}, still works. It ends with this rotation,
          at once.
        </p>
      )}
    </FormDialog>
  );
}

export function RevokeKey({ of }: { readonly of: Key }) {
  const { last_used_at: lastUsed } = of;
  return (
    <Question
      route="DELETE /api/accounts/:account/keys/:id"
      input={{ params: { account: of.account, id: of.id } }}
      onDone={() => say(`The key “${nameOf(of)}” is revoked.`)}
      question={`Revoke “${nameOf(of)}”?`}
      verb="Revoke the key"
      consequence={
        <>
          <p>
            Calls with it are refused at once, with 401; those under way go on to their end. It
            cannot be brought back: what still needs access needs another key.
          </p>
          <p>
            {lastUsed === null ? (
              "It was never used."
            ) : (
              <>
                It was last used <Moment at={lastUsed} />.
              </>
            )}
          </p>
        </>
      }
    />
  );
}
