import { useEffect, useRef, useState } from "react";

/** Moves the focus to the first wrong field of a form, once that is drawn. */
export function useWrongFocus<Root extends HTMLElement>() {
  const root = useRef<Root>(null);
  const isDue = useRef(false);
  const [, setTries] = useState(0);
  useEffect(() => {
    if (!isDue.current) return;
    const field = root.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (field === undefined || field === null) return;
    isDue.current = false;
    field.focus();
  });
  const focusWrong = () => {
    isDue.current = true;
    // Also where nothing else is drawn again.
    setTries((count) => count + 1);
  };
  return { root, focusWrong };
}
