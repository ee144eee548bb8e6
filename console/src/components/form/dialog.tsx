import { Modal, type ModalRootProps } from "@mantine/core";
import { createContext, type ReactNode, useContext, useMemo, useRef, useState } from "react";

interface DialogControl {
  readonly close: () => void;
  /** Asked before Escape, the cross or a click outside closes it: false keeps it open. */
  readonly guard: { mayLeave: () => boolean };
}

const DialogContext = createContext<DialogControl | undefined>(undefined);

/** The dialog around a part; undefined on a page. */
export const useDialog = () => useContext(DialogContext);

interface DialogProps<Of> extends Pick<ModalRootProps, "size"> {
  /** What it is about, or true; undefined or false: closed. */
  readonly of: Of;
  readonly onClose: () => void;
  /** Created each time the dialog opens, so that its form starts empty. */
  readonly children: (of: NonNullable<Exclude<Of, false>>) => ReactNode;
}

const isOpen = <Of,>(of: Of): of is NonNullable<Exclude<Of, false>> =>
  of !== undefined && of !== null && of !== false;

export function Dialog<Of>({ of, onClose, size = "md", children }: DialogProps<Of>) {
  // What it was about stays to be seen while it closes.
  const [shown, setShown] = useState(of);
  if (isOpen(of) && of !== shown) setShown(of);
  const guard = useRef({ mayLeave: () => true }).current;
  const control = useMemo(() => ({ close: onClose, guard }), [onClose, guard]);
  return (
    <Modal.Root
      opened={isOpen(of)}
      onClose={() => guard.mayLeave() && onClose()}
      size={size}
      centered
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content radius="lg">
        <DialogContext value={control}>{isOpen(shown) && children(shown)}</DialogContext>
      </Modal.Content>
    </Modal.Root>
  );
}

interface DialogBodyProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** What stands in a dialog: its title, the cross, and the rest. */
export function DialogBody({ title, children }: DialogBodyProps) {
  return (
    <>
      <Modal.Header>
        <Modal.Title>{title}</Modal.Title>
        <Modal.CloseButton aria-label="Close" />
      </Modal.Header>
      <Modal.Body>{children}</Modal.Body>
    </>
  );
}
