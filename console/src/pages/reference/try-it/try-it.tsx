import { Button, Group, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { useState } from "react";
import { ErrorNotice } from "../../../components/feedback/error-notice.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { FormDialog } from "../../../components/form/form-dialog.tsx";
import type { Access } from "../access.ts";
import type { Endpoint, Parameter } from "../document.ts";
import { AnswerView } from "./answer-view.tsx";
import { type FormInput, type FormValues, missingIn, toFormData } from "./form-body.ts";
import { FormFields } from "./form-fields.tsx";
import { KeyField } from "./key-field.tsx";
import { type Draft, toQuestion, withModel } from "./question.ts";
import classes from "./try-it.module.css";
import { useSend } from "./use-send.ts";

interface TryItProps {
  readonly endpoint: Endpoint;
  readonly baseUrl: string;
  readonly access: Access;
  readonly models: readonly string[];
  /** The body as it will be sent; undefined where there is none, or where it is a form. */
  readonly body: string | undefined;
  readonly onBody: (body: string) => void;
  /** Of a multipart body. */
  readonly form: Form | undefined;
}

interface Form {
  readonly inputs: readonly FormInput[];
  readonly values: FormValues;
  readonly onChange: (values: FormValues) => void;
}

/** Sends the real request and shows the real response. */
export function TryIt(props: TryItProps) {
  const { endpoint, baseUrl, access, models, body, onBody, form } = props;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const { answer, problem, isBusy, run, refuse, stop } = useSend();
  const given = { account: access.account?.id ?? "", ...values };
  const submit = async () => {
    const [missing] = form === undefined ? [] : missingIn(form.inputs, form.values);
    if (missing !== undefined) return refuse(`Fill in ${missing.name} first.`);
    const sent = form === undefined ? body : toFormData(form.values);
    const draft: Draft = { endpoint, baseUrl, values: given, body: sent, key: access.key };
    const question = toQuestion(draft);
    if (typeof question === "string") refuse(question);
    else await run(question);
  };
  const isRisky = endpoint.api === "platform" && endpoint.method !== "GET";
  return (
    <div className={classes.form}>
      {endpoint.api === "gateway" && <KeyField access={access} />}
      {endpoint.api === "platform" && !access.isSignedIn && (
        <p className="soft small">You are not signed in. Only public endpoints work.</p>
      )}
      {endpoint.parameters.length > 0 && (
        <div className={classes.parameters}>
          {endpoint.parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              value={(given as Readonly<Record<string, string>>)[parameter.name] ?? ""}
              onChange={(value) => setValues({ ...values, [parameter.name]: value })}
            />
          ))}
        </div>
      )}
      {body !== undefined && (
        <BodyField body={body} onBody={onBody} models={models} canStream={endpoint.canStream} />
      )}
      {form !== undefined && <FormFields {...form} models={models} />}
      <Group gap={8}>
        {isRisky ? (
          <RiskySend endpoint={endpoint} isBusy={isBusy} submit={submit} />
        ) : (
          <Button
            loading={isBusy && answer === undefined}
            disabled={isBusy}
            leftSection={<IconPlayerPlay size={16} />}
            onClick={() => void submit()}
          >
            Send
          </Button>
        )}
        {isBusy && (
          <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={stop}>
            Stop
          </Button>
        )}
      </Group>
      <ErrorNotice problem={problem} />
      {answer !== undefined && <AnswerView answer={answer} />}
    </div>
  );
}

interface RiskySendProps {
  readonly endpoint: Endpoint;
  readonly isBusy: boolean;
  readonly submit: () => Promise<void>;
}

function RiskySend({ endpoint, isBusy, submit }: RiskySendProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const form = {
    problem: null,
    fields: [],
    isPending: isBusy,
    submit: () => void submit().then(close),
  };
  return (
    <>
      <Button variant="default" loading={isBusy} onClick={() => setOpen(true)}>
        {" "}
        Send…{" "}
      </Button>
      <Dialog of={isOpen} onClose={close}>
        {() => (
          <FormDialog
            title={`Send ${endpoint.method} ${endpoint.path}?`}
            form={form}
            submit="Send"
            isDangerous
          >
            This sends a real request and changes real data. The audit log records it under your
            name.
          </FormDialog>
        )}
      </Dialog>
    </>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const { name, required = false, schema } = parameter;
  const shared = { label: name, value, required };
  if (schema.enum !== undefined)
    return (
      <NativeSelect
        {...shared}
        data={["", ...schema.enum.map(String)]}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...shared}
      placeholder={required ? undefined : "Not sent"}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface BodyFieldProps {
  readonly body: string;
  readonly onBody: (body: string) => void;
  readonly models: readonly string[];
  readonly canStream: boolean;
}

function BodyField({ body, onBody, models, canStream }: BodyFieldProps) {
  const fields = readObject(body);
  const set = (change: Readonly<Record<string, unknown>>) => {
    if (fields !== undefined) onBody(JSON.stringify({ ...fields, ...change }, null, 2));
  };
  const model = typeof fields?.["model"] === "string" ? fields["model"] : "";
  const offered = models.includes(model) ? models : [model, ...models];
  return (
    <>
      {fields !== undefined && models.length > 0 && (
        <div className={classes.parameters}>
          <NativeSelect
            label="Model"
            data={[...offered]}
            value={model}
            onChange={(event) => onBody(withModel(body, event.currentTarget.value))}
          />
          {canStream && (
            <NativeSelect
              label="Reply"
              data={[
                { value: "false", label: "Complete" },
                { value: "true", label: "Streamed (SSE)" },
              ]}
              value={String(fields["stream"] === true)}
              onChange={(event) => set({ stream: event.currentTarget.value === "true" })}
            />
          )}
        </div>
      )}
      <Textarea
        label="Body"
        autosize
        minRows={3}
        maxRows={22}
        spellCheck={false}
        classNames={{ input: classes.json }}
        value={body}
        onChange={(event) => onBody(event.currentTarget.value)}
        error={fields === undefined ? "This is not a JSON object." : undefined}
      />
    </>
  );
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
