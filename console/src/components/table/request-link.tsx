import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface RequestLinkProps {
  /** Undefined where the operator looks at all accounts. */
  readonly account: string | undefined;
  readonly id: string;
  readonly children: ReactNode;
  readonly className?: string | undefined;
}

/** To the receipt of a request, on the side of the console that one is on. */
export function RequestLink({ account, id, children, className }: RequestLinkProps) {
  const rest = className === undefined ? {} : { className };
  return account === undefined ? (
    <Link to="/operator/requests/$request" params={{ request: id }} {...rest}>
      {children}
    </Link>
  ) : (
    <Link to="/a/$account/requests/$request" params={{ account, request: id }} {...rest}>
      {children}
    </Link>
  );
}
