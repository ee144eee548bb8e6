import { Button } from "@mantine/core";
import type { ApiProblem } from "../../../api.ts";

interface SaveAnywayProps {
  readonly problem: ApiProblem | null;
  readonly isPending: boolean;
  readonly onSave: () => void;
}

/** Only after a test call has failed: a server may be down, and is meant all the same. */
export function SaveAnyway({ problem, isPending, onSave }: SaveAnywayProps) {
  if (problem?.code !== "test_failed") return null;
  return (
    <Button variant="default" loading={isPending} onClick={onSave}>
      Save anyway
    </Button>
  );
}
