import { ActionIcon, Button } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { say } from "../feedback/toasts.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for the button's name: `the key`. */
  readonly what: string;
  /** With words on it, where copying is the main thing to do. */
  readonly isLarge?: boolean;
}

export function CopyButton({ text, what, isLarge = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    void copyText(text).then(
      () => setCopied(true),
      () => say("The browser blocked copying. Select the text and copy it manually.", "bad"),
    );
  const label = isCopied ? "Copied" : `Copy ${what}`;
  const icon = isCopied ? <IconCheck size={16} /> : <IconCopy size={16} />;
  if (isLarge)
    return (
      <Button variant="default" leftSection={icon} onClick={copy} aria-label={label}>
        {isCopied ? "Copied" : "Copy"}
      </Button>
    );
  return (
    <ActionIcon onClick={copy} size={28} aria-label={label}>
      {icon}
    </ActionIcon>
  );
}

/** Where the page is not served over https, browsers have only the old way. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("Could not copy.");
}
