import { Button } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { saveFile } from "../../format/save-file.ts";
import { say } from "../feedback/toasts.tsx";

interface CsvButtonProps {
  readonly save: () => Promise<Blob>;
  /** The name that it is saved under. */
  readonly file: string;
}

/** Exports what a page lists, with its filters. */
export function CsvButton({ save, file }: CsvButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      saveFile(await save(), file);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "bad");
    }
    setBusy(false);
  };
  return (
    <Button
      variant="default"
      leftSection={<IconDownload size={16} />}
      loading={isBusy}
      onClick={() => void run()}
    >
      Export CSV
    </Button>
  );
}
