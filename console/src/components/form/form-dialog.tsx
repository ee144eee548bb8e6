import { Button, Stack } from "@mantine/core";
import { type ReactNode, useLayoutEffect, useRef } from "react";
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
  /** A second way to send it, such as “Save anyway”. */
  readonly more?: ReactNode;
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
  const element = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => focusFirst(element.current), []);
  return (
    <DialogBody title={title}>
      <form
        ref={element}
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <Stack gap={gap}>
          {props.children}
          <FormProblem problem={form.problem} fields={form.fields} />
          <DialogFooter>
            <Button
              variant="default"
              onClick={dialog?.close}
              data-autofocus={isDangerous || undefined}
            >
              {cancel}
            </Button>
            {props.more}
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
          </DialogFooter>
        </Stack>
      </form>
    </DialogBody>
  );
}

/** The buttons of a dialog, which stay in view while it scrolls. */
export function DialogFooter({ children }: { readonly children: ReactNode }) {
  return <div className={classes.footer}>{children}</div>;
}

/** Where no field asks for it: the first, and not the dialog's cross, which comes before it. */
function focusFirst(form: HTMLFormElement | null): void {
  if (form === null || form.querySelector("[data-autofocus]") !== null) return;
  const fields =
    "input:not([type=hidden], [type=radio], :disabled), input:checked, select, textarea";
  form.querySelector(fields)?.setAttribute("data-autofocus", "");
}
