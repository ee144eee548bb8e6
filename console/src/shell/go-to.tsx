import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";

/** Goes elsewhere, once: the router's own part goes again whenever it is drawn again. */
export function GoTo({ href }: { readonly href: string }) {
  const navigate = useNavigate();
  useEffect(() => void navigate({ href, replace: true }), [navigate, href]);
  return null;
}
