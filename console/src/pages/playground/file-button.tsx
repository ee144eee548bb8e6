import { type ReactNode, useRef } from "react";

interface FileButtonProps {
  /** As the file dialog takes it: `image/*`. */
  readonly accept: string;
  readonly isMany?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
  /** The button; it is given what opens the dialog. */
  readonly children: (open: () => void) => ReactNode;
}

/** A button that opens the file dialog; the input itself is nobody's to meet. */
export function FileButton({ accept, isMany = false, onFiles, children }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={accept}
        multiple={isMany}
        hidden
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // The same file can be chosen again.
          currentTarget.value = "";
        }}
      />
      {children(() => input.current?.click())}
    </>
  );
}
