import { Button, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { FormProblem } from "../feedback/form-problem.tsx";
import { DialogBody, useDialog } from "./dialog.tsx";
import classes from "./form-dialog.module.css";
import type { Form } from "./use-form.ts";

interface FormDialogProps {
  readonly title: string;
  readonly form: Pick<Form<object>, "problem" | "fields" | "isPending" | "submit">;
  /** On the button that sends it; without one the form can only be read. */
  readonly submit?: string | undefined;
  readonly cancel?: string;
  readonly isDisabled?: boolean;
  /** It cannot be undone: Enter alone does not do it. */
  readonly isDangerous?: boolean;
  readonly gap?: "md" | "lg";
  readonly children: ReactNode;
}

/** A form in a <Dialog>. Problems without a field are shown above the buttons. */
export function FormDialog(props: FormDialogProps) {
  const { title, form, submit, cancel = "Cancel", isDisabled = false } = props;
  const { isDangerous = false, gap = "md" } = props;
  const dialog = useDialog();
  return (
    <DialogBody title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <Stack gap={gap}>
          {props.children}
          <FormProblem problem={form.problem} fields={form.fields} />
          <div className={classes.footer}>
            <Button
              variant="default"
              onClick={dialog?.close}
              data-autofocus={isDangerous || undefined}
            >
              {cancel}
            </Button>
            {submit !== undefined && (
              <Button
                type="submit"
                loading={form.isPending}
                disabled={isDisabled}
                {...(isDangerous ? { color: "red" } : {})}
              >
                {submit}
              </Button>
            )}
          </div>
        </Stack>
      </form>
    </DialogBody>
  );
}
