import { type ChangeEvent, useState } from "react";
import { type ApiName, ApiProblem, type InputWords, type Reply } from "../../api.ts";
import { useChange } from "../../queries.ts";
import { fieldError } from "../feedback/form-problem.tsx";
import { useDialog, useUnsaved } from "./dialog.tsx";

interface FormOptions<Name extends ApiName, Values extends object> {
  readonly route: Name;
  /** What the fields start with, by the API's names where it has one. */
  readonly values: Values | (() => Values);
  /** What is wrong with them, said before the platform is asked. */
  readonly check?: (values: Values) => Readonly<Record<string, string | undefined>>;
  /** What is sent; undefined where nothing was changed. */
  readonly toInput: (values: Values) => InputWords<Name>[0] | undefined;
  /** The dialog around it then closes, unless this returns "stay". */
  readonly onDone?: (
    reply: Reply<Name>,
    values: Values,
  ) => "stay" | undefined | void | Promise<void>;
  /** The problem as this form names its fields. */
  readonly readProblem?: (problem: ApiProblem | null) => ApiProblem | null;
  /** The fields that show their own message; all values unless given. */
  readonly fields?: (values: Values) => readonly string[];
}

type TextKey<Values> = {
  [Key in keyof Values]: Values[Key] extends string ? Key : never;
}[keyof Values] &
  string;
type FieldElement = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export interface Form<Values extends object, Sent = unknown> {
  readonly values: Values;
  readonly edit: (part: Partial<Values>) => void;
  readonly problem: ApiProblem | null;
  /** The message of one field. */
  readonly error: (field: string) => string | undefined;
  readonly fields: readonly string[];
  readonly reply: Sent | undefined;
  readonly isPending: boolean;
  readonly reset: () => void;
  /** With what is changed by the button itself, if anything is. */
  readonly submit: (part?: Partial<Values>) => void;
  /** The properties of an input or a select of text. */
  readonly text: <Key extends TextKey<Values>>(
    name: Key,
  ) => {
    readonly value: Values[Key] & string;
    readonly onChange: (event: ChangeEvent<FieldElement>) => void;
    readonly error: string | undefined;
  };
}

/** What a form has in its fields, and what becomes of it when it is sent. */
export function useForm<Name extends ApiName, Values extends object>(
  options: FormOptions<Name, Values>,
): Form<Values, Reply<Name>> {
  const { route, toInput, onDone, readProblem = (problem) => problem } = options;
  const dialog = useDialog();
  const [first] = useState<Values>(options.values);
  const [values, setValues] = useState(first);
  const [wrong, setWrong] = useState<Wrong>({});
  const change = useChange(route, {
    onDone: (reply) => {
      const done: unknown = onDone?.(reply, values);
      if (done !== "stay") dialog?.close();
      return done;
    },
  });
  useUnsaved(!change.isSuccess && !isSame(first, values));
  const problem = firstOf(wrong) ?? readProblem(change.error);
  const error = (field: string) => wrong[field] ?? fieldError(problem, field);
  const edit = (part: Partial<Values>) => {
    setValues((old) => ({ ...old, ...part }));
    // The messages of the other fields stay until these are changed, or it is sent again.
    setWrong((old) => without(old, Object.keys(part)));
  };
  const submit = (part?: Partial<Values>) => {
    const sent = { ...values, ...part };
    const found = options.check?.(sent) ?? {};
    setWrong(found);
    if (firstOf(found) !== null) return;
    const input = toInput(sent);
    if (input === undefined) dialog?.close();
    else change.mutate(input);
  };
  return {
    values,
    edit,
    problem,
    error,
    fields: options.fields?.(values) ?? Object.keys(values),
    reply: change.data,
    isPending: change.isPending,
    reset: change.reset,
    submit,
    text: (name) => ({
      value: values[name] as Values[typeof name] & string,
      // A select gives back one of the values that it was given.
      onChange: (event) => edit({ [name]: event.currentTarget.value } as Partial<Values>),
      error: error(name),
    }),
  };
}

/** What is wrong before the platform is asked, by field: all of it is shown at once. */
type Wrong = Readonly<Record<string, string | undefined>>;

function firstOf(wrong: Wrong): ApiProblem | null {
  const [field, message] = Object.entries(wrong).find(([, text]) => text !== undefined) ?? [];
  if (field === undefined || message === undefined) return null;
  return new ApiProblem({ status: 400, code: "invalid", message, field });
}

const without = (wrong: Wrong, fields: readonly string[]): Wrong =>
  Object.fromEntries(Object.entries(wrong).filter(([field]) => !fields.includes(field)));

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other);
