import { Button, type ButtonProps, Group, Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { ApiProblem } from "../../api.ts";
import { ErrorNotice } from "./error-notice.tsx";

interface ConfirmButtonProps extends ButtonProps {
  /** On the button itself. */
  readonly children: ReactNode;
  /** As a question: `Revoke the key “ci”?` */
  readonly question: string;
  /** What will happen, in words. */
  readonly consequence: ReactNode;
  /** On the button that does it: `Revoke`. */
  readonly verb: string;
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before it does what cannot be undone; what goes wrong is said where one asked. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { children, question, consequence, verb, onConfirm, ...rest } = props;
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const open = () => {
    setProblem(null);
    setOpen(true);
  };
  const confirm = async () => {
    setBusy(true);
    await onConfirm().then(
      () => setOpen(false),
      (error: ApiProblem) => setProblem(error),
    );
    setBusy(false);
  };
  return (
    <>
      <Button variant="default" {...rest} onClick={open}>
        {children}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={question} size="md">
        <div>{consequence}</div>
        <ErrorNotice problem={problem} />
        <Group justify="flex-end" mt="lg" gap="xs">
          <Button variant="default" onClick={() => setOpen(false)} data-autofocus>
            Cancel
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void confirm()}>
            {verb}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
