import { Button, type ButtonProps } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ApiName } from "../../../api.ts";
import { Question, type QuestionProps } from "../../../components/feedback/confirm-button.tsx";
import { Dialog } from "../../../components/form/dialog.tsx";
import { Verified } from "./verified.tsx";

interface VerifiedButtonProps<Name extends ApiName> extends ButtonProps, QuestionProps<Name> {
  readonly children: ReactNode;
  readonly "aria-label"?: string;
}

/** A ConfirmButton for what needs a recent proof of who the user is. */
export function VerifiedButton<Name extends ApiName>(props: VerifiedButtonProps<Name>) {
  const { children, route, input, onDone, question, consequence, verb, ...rest } = props;
  const asked = { route, input, onDone, question, consequence, verb };
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" size="compact-sm" {...rest} onClick={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog of={isOpen} onClose={() => setOpen(false)}>
        {() => (
          <Verified>
            <Question {...asked} />
          </Verified>
        )}
      </Dialog>
    </>
  );
}
