import { type ReactNode, useState } from "react";
import { say } from "../../components/feedback/toasts.tsx";
import { Dialog } from "../../components/form/dialog.tsx";
import { useApi, useChange } from "../../queries.ts";
import { type Key, type Model, nameOf } from "./key-draft.ts";
import { EditKey } from "./key-form.tsx";
import type { KeyAction } from "./keys-table.tsx";
import { PauseKey, RevokeKey, RotateKey } from "./rotate-revoke.tsx";

/** What can be done to a key of any account: how to ask for it, and the dialogs to show. */
export function useKeyActions() {
  const [asked, setAsked] = useState<{ readonly action: KeyAction; readonly of: Key }>();
  const done = () => setAsked(undefined);
  const of = (action: KeyAction) => (asked?.action === action ? asked.of : undefined);
  const resume = useChange("POST /api/accounts/:account/keys/:id/resume", {
    onDone: (key) => say(`Resumed “${nameOf(key)}”.`),
  });
  return {
    act(action: KeyAction, key: Key) {
      if (action !== "resume") return setAsked({ action, of: key });
      resume.mutate({ params: { account: key.account, id: key.id } });
    },
    problem: resume.error,
    dialogs: (
      <>
        <Dialog of={of("edit")} onClose={done} size="lg">
          {(key) => (
            <WithModels of={key}>{(models) => <EditKey of={key} models={models} />}</WithModels>
          )}
        </Dialog>
        <Dialog of={of("rotate")} onClose={done} size="lg">
          {(key) => (
            <WithModels of={key}>{(models) => <RotateKey of={key} models={models} />}</WithModels>
          )}
        </Dialog>
        <Dialog of={of("pause")} onClose={done}>
          {(key) => <PauseKey of={key} />}
        </Dialog>
        <Dialog of={of("revoke")} onClose={done}>
          {(key) => <RevokeKey of={key} />}
        </Dialog>
      </>
    ),
  };
}

interface WithModelsProps {
  readonly of: Key;
  readonly children: (models: readonly Model[]) => ReactNode;
}

/** Those that the key's account can call. */
function WithModels({ of: { account }, children }: WithModelsProps) {
  const models = useApi("GET /api/accounts/:account/models", { params: { account } });
  return children(models.data ?? []);
}
