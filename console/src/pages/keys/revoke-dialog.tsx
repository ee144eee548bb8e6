import { Button, Group, Modal } from "@mantine/core";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { say } from "../../components/feedback/toasts.tsx";
import { Moment } from "../../components/table/moment.tsx";
import { useChange } from "../../queries.ts";
import { type Key, nameOf } from "./keys.ts";
import classes from "./page.module.css";

interface RevokeDialogProps {
  /** None: closed. */
  readonly of: Key | undefined;
  readonly onClose: () => void;
}

export function RevokeDialog({ of, onClose }: RevokeDialogProps) {
  return (
    <Modal
      opened={of !== undefined}
      onClose={onClose}
      title={of === undefined ? "" : `Revoke “${nameOf(of)}”?`}
    >
      {of !== undefined && <Question of={of} onClose={onClose} />}
    </Modal>
  );
}

function Question({ of, onClose }: RevokeDialogProps & { readonly of: Key }) {
  const revoke = useChange("DELETE /api/accounts/:account/keys/:id", {
    onDone: () => {
      say(`The key “${nameOf(of)}” is revoked.`);
      onClose();
    },
  });
  const { last_used_at: lastUsed } = of;
  return (
    <>
      <p className={classes.words}>
        Calls with it are refused at once, with 401; those under way go on to their end. It cannot
        be brought back: what still needs access needs another key.
      </p>
      <p className={classes.words}>
        {lastUsed === null ? (
          "It was never used."
        ) : (
          <>
            It was last used <Moment at={lastUsed} />.
          </>
        )}
      </p>
      <ErrorNotice problem={revoke.error} />
      <Group justify="flex-end" mt="lg" gap="xs">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        <Button
          color="red"
          loading={revoke.isPending}
          onClick={() => revoke.mutate({ params: { account: of.account, id: of.id } })}
        >
          Revoke the key
        </Button>
      </Group>
    </>
  );
}
