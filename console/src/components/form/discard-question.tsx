import { Button, Group, Modal } from "@mantine/core";

interface DiscardQuestionProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** On top of a dialog that is about to close with something entered in it. */
export function DiscardQuestion({ onKeep, onDiscard }: DiscardQuestionProps) {
  return (
    <Modal
      opened
      onClose={onKeep}
      title="Discard changes?"
      size="sm"
      centered
      zIndex={300}
      radius="lg"
      withCloseButton={false}
      transitionProps={{ duration: 90 }}
    >
      <p className="below">What you entered has not been saved.</p>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onKeep} data-autofocus>
          Keep editing
        </Button>
        <Button color="red" onClick={onDiscard}>
          Discard
        </Button>
      </Group>
    </Modal>
  );
}
