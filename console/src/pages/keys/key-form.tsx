import { Group, NativeSelect, TextInput } from "@mantine/core";
import { say } from "../../components/feedback/toasts.tsx";
import { FormDialog } from "../../components/form/form-dialog.tsx";
import { type Form, useForm } from "../../components/form/use-form.ts";
import { formatDay } from "../../format/moments.ts";
import { LimitFields, limitFieldNames } from "../operator/account/limit-fields.tsx";
import {
  draftOf,
  type Expiry,
  type Key,
  type KeyDraft,
  keptLifetime,
  lifetimes,
  type Model,
  modelsProblem,
  nameOf,
  newDraft,
  toChangeBody,
  toCreateBody,
  toExpires,
  toNewExpires,
} from "./key-draft.ts";
import { ModelChoice } from "./model-choice.tsx";
import { NewSecret } from "./new-secret.tsx";
import classes from "./page.module.css";

const fieldNames = ["name", "models", ...limitFieldNames, "expires"];

interface CreateKeyProps {
  readonly account: string;
  readonly models: readonly Model[];
}

export function CreateKey({ account, models }: CreateKeyProps) {
  const form = useForm({
    route: "POST /api/accounts/:account/keys",
    values: { ...newDraft, after: "", day: "" },
    fields: () => fieldNames,
    check: (values) => ({ models: modelsProblem(values) }),
    toInput: (values) => ({
      params: { account },
      body: toCreateBody(values, toExpires(values, Date.now())),
    }),
    onDone: () => "stay",
  });
  if (form.reply !== undefined) return <NewSecret made={form.reply} models={models} />;
  return (
    <FormDialog title="Create key" form={form} submit="Create key">
      <KeyFields form={form} models={models} />
      <ExpiryFields form={form} options={lifetimes} />
    </FormDialog>
  );
}

export function EditKey({ of, models }: { readonly of: Key; readonly models: readonly Model[] }) {
  const form = useForm({
    route: "PATCH /api/accounts/:account/keys/:id",
    values: () => ({ ...draftOf(of), after: keptLifetime.value, day: "" }),
    fields: () => fieldNames,
    check: (values) => ({ models: modelsProblem(values) }),
    toInput: (values) => {
      const body = toChangeBody(of, values, toNewExpires(of, values, Date.now()));
      return body && { params: { account: of.account, id: of.id }, body };
    },
    onDone: (key) => say(`Saved “${nameOf(key)}”. Changes apply from the next call.`),
  });
  return (
    <FormDialog title={`Edit “${nameOf(of)}”`} form={form} submit="Save changes">
      <KeyFields form={form} models={models} />
      <ExpiryFields
        form={form}
        options={[{ ...keptLifetime, label: keptWords(of) }, ...lifetimes]}
      />
    </FormDialog>
  );
}

const keptWords = ({ expires_at: at }: Key) =>
  at === null ? "Unchanged (never)" : `Unchanged (${formatDay(Date.parse(at))})`;

interface ExpiryFieldsProps {
  readonly form: Pick<Form<Expiry>, "values" | "text" | "error">;
  readonly options: { readonly value: string; readonly label: string }[];
}

function ExpiryFields({ form, options }: ExpiryFieldsProps) {
  const { after } = form.values;
  return (
    <Group grow align="flex-start">
      <NativeSelect
        label="Expires"
        description="Calls with an expired key are rejected."
        data={options}
        {...form.text("after")}
        error={after === "day" ? undefined : form.error("expires")}
      />
      {after === "day" && (
        <TextInput
          type="date"
          label="Date"
          description="The key expires at the start of this day."
          required
          {...form.text("day")}
          error={form.error("expires")}
        />
      )}
    </Group>
  );
}

interface KeyFieldsProps {
  readonly form: Pick<Form<KeyDraft>, "values" | "edit" | "error" | "problem">;
  readonly models: readonly Model[];
}

/** The fields of a key, in both dialogs. */
function KeyFields({ form: { values, edit, error, problem }, models }: KeyFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        description="The application that will use this key."
        required
        maxLength={100}
        placeholder="checkout service"
        data-autofocus
        value={values.name}
        onChange={(event) => edit({ name: event.currentTarget.value })}
        error={error("name")}
      />
      <ModelChoice draft={values} onEdit={edit} models={models} error={error("models")} />
      <fieldset className={classes.choice}>
        <legend>Limits (optional)</legend>
        <LimitFields
          value={values.limits}
          onChange={(part) => edit({ limits: { ...values.limits, ...part } })}
          problem={problem}
        />
        <p className="soft small">
          Leave empty for no limit. Calls over a limit are rejected with 429, calls over the budget
          with 402.
        </p>
      </fieldset>
    </>
  );
}
