import type { ReactNode } from "react";
import { DialogBody, useDialog } from "../../../components/form/dialog.tsx";
import { DoorHeader } from "../../../components/layout/signed-out-header.tsx";

interface FramedProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** One step: in the dialog around it, or on the card of the page that asks for a second factor. */
export function Framed({ title, children }: FramedProps) {
  const dialog = useDialog();
  if (dialog !== undefined) return <DialogBody title={title}>{children}</DialogBody>;
  return (
    <>
      <DoorHeader title={title} />
      {children}
    </>
  );
}
