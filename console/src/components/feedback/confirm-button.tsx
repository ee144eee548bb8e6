import { Button, type ButtonProps } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ApiName, InputWords, Reply } from "../../api.ts";
import { Dialog } from "../form/dialog.tsx";
import { FormDialog } from "../form/form-dialog.tsx";
import { useForm } from "../form/use-form.ts";

export interface QuestionProps<Name extends ApiName> {
  /** What is done, and of what. */
  readonly route: Name;
  readonly input: NonNullable<InputWords<Name>[0]>;
  readonly onDone: (reply: Reply<Name>) => void | Promise<void>;
  /** As a question: `Revoke the key “ci”?` */
  readonly question: string;
  /** What will happen, in words. */
  readonly consequence: ReactNode;
  /** On the button that does it: `Revoke`. */
  readonly verb: string;
}

/** In a dialog: asks before it does what cannot be undone; what goes wrong is said there. */
export function Question<Name extends ApiName>(props: QuestionProps<Name>) {
  const { route, input, onDone, question, consequence, verb } = props;
  const form = useForm({ route, values: {}, toInput: () => input, onDone });
  return (
    <FormDialog title={question} form={form} submit={verb} isDangerous>
      <div className="paragraphs">{consequence}</div>
    </FormDialog>
  );
}

interface ConfirmButtonProps<Name extends ApiName> extends ButtonProps, QuestionProps<Name> {
  /** On the button itself. */
  readonly children: ReactNode;
}

export function ConfirmButton<Name extends ApiName>(props: ConfirmButtonProps<Name>) {
  const { children, route, input, onDone, question, consequence, verb, ...rest } = props;
  const asked = { route, input, onDone, question, consequence, verb };
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" {...rest} onClick={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => <Question {...asked} />}
      </Dialog>
    </>
  );
}
