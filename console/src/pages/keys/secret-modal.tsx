import { Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type Model, type NewKey, nameOf } from "./keys.ts";
import { NewSecret } from "./new-secret.tsx";

interface SecretModalProps {
  /** Of the form. */
  readonly title: string;
  readonly models: readonly Model[];
  /** Once it is there, its secret takes the form's place. */
  readonly made: NewKey | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A form that ends with a secret: this is not closed by a stray key or click. */
export function SecretModal(props: SecretModalProps) {
  const { title, models, made, isOpen, onClose, children } = props;
  const [isLeaving, setLeaving] = useState(false);
  const close = () => {
    setLeaving(false);
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={made === undefined ? close : () => setLeaving(true)}
      closeOnClickOutside={made === undefined}
      title={made === undefined ? title : `The secret of “${nameOf(made)}”`}
      size="lg"
    >
      {made === undefined ? (
        children
      ) : (
        <NewSecret
          made={made}
          models={models}
          isLeaving={isLeaving}
          onStay={() => setLeaving(false)}
          onClose={close}
        />
      )}
    </Modal>
  );
}
