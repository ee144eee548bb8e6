import { Modal, type ModalRootProps } from "@mantine/core";
import { useBlocker, useLocation } from "@tanstack/react-router";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { DiscardQuestion } from "./discard-question.tsx";

interface DialogControl {
  readonly close: () => void;
  /** Asked before Escape, the cross or a click outside closes it: false keeps it open. */
  readonly guard: { mayLeave: () => boolean };
  /** Whether somebody would lose what they have entered; one per form. */
  readonly unsaved: Set<() => boolean>;
}

const DialogContext = createContext<DialogControl | undefined>(undefined);

/** The dialog around a part; undefined on a page. */
export const useDialog = () => useContext(DialogContext);

/** A part of a dialog that holds what was entered: the dialog asks before that is lost. */
export function useUnsaved(isUnsaved: boolean): void {
  const unsaved = useDialog()?.unsaved;
  const current = useRef(isUnsaved);
  current.current = isUnsaved;
  useEffect(() => {
    const check = () => current.current;
    unsaved?.add(check);
    return () => void unsaved?.delete(check);
  }, [unsaved]);
}

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
  const [isAsking, setAsking] = useState(false);
  const guard = useRef({ mayLeave: () => true }).current;
  const unsaved = useRef(new Set<() => boolean>()).current;
  const control = useMemo(() => {
    const close = () => {
      setAsking(false);
      onClose();
    };
    return { close, guard, unsaved };
  }, [onClose, guard, unsaved]);
  const hasUnsaved = () => isOpen(of) && [...unsaved].some((isUnsaved) => isUnsaved());
  const leave = () => {
    if (!guard.mayLeave()) return;
    if (hasUnsaved()) setAsking(true);
    else control.close();
  };
  const way = useWayBack({ hasUnsaved, isOpen: isOpen(of), close: control.close });
  const isQuestioned = isAsking || way !== undefined;
  return (
    <Modal.Root
      opened={isOpen(of)}
      onClose={leave}
      size={size}
      centered
      // The question on top has the keyboard to itself.
      closeOnEscape={!isQuestioned}
      trapFocus={!isQuestioned}
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content radius="lg">
        <DialogContext value={control}>{isOpen(shown) && children(shown)}</DialogContext>
      </Modal.Content>
      {/* Not there before: it would take the Escape that opened it for its own. */}
      {isQuestioned && isOpen(of) && (
        <DiscardQuestion
          onKeep={() => {
            setAsking(false);
            way?.stay();
          }}
          onDiscard={way?.leave ?? control.close}
        />
      )}
    </Modal.Root>
  );
}

interface WayBackOptions {
  readonly hasUnsaved: () => boolean;
  readonly isOpen: boolean;
  readonly close: () => void;
}

/**
 * Where the browser's buttons would leave with something entered: how to stay, and how to leave.
 * Links are behind the dialog, and what the page itself opens follows something that was saved.
 */
function useWayBack({ hasUnsaved, isOpen: isOpened, close }: WayBackOptions) {
  const { href } = useLocation();
  const leaving = useRef<string>(undefined);
  const blocker = useBlocker({
    shouldBlockFn: ({ action }) => action !== "PUSH" && action !== "REPLACE" && hasUnsaved(),
    enableBeforeUnload: hasUnsaved,
    disabled: !isOpened,
    withResolver: true,
  });
  // The page before may be the same one with other filters, where the dialog would stay.
  useEffect(() => {
    if (leaving.current === undefined || leaving.current === href) return;
    leaving.current = undefined;
    if (isOpened) close();
  }, [href, isOpened, close]);
  if (blocker.status !== "blocked") return undefined;
  return {
    stay: blocker.reset,
    leave: () => {
      leaving.current = href;
      blocker.proceed();
    },
  };
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
