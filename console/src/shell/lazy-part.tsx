import { type ComponentType, createElement, use } from "react";
import { connection } from "../live/connection.ts";

/**
 * The file of a part could not be had although the platform answers: an update has replaced it, or
 * the browser holds on to an earlier failure.
 */
export class PartGone extends Error {}

export interface LazyPart<Props extends object> {
  (props: Props): React.ReactNode;
  /** Fetches its file, unless that is done; never rejects. */
  readonly preload: () => Promise<void>;
}

/**
 * A component whose file is fetched when it is first needed. The platform is asked for a sign of
 * life first, and while it gives none, the part waits: a browser never fetches a module again that
 * it failed to fetch once, so it must not try in vain. The router's own version reloads the window
 * instead, which ends on the browser's error page while the gateway restarts.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyPart<Props> {
  let loaded: ComponentType<Props> | undefined;
  let problem: PartGone | undefined;
  let loading: Promise<void> | undefined;
  const fetchPart = async () => {
    await connection.untilUp();
    try {
      // The platform may go away between its answer and the file.
      loaded = await load().catch(() => connection.untilUp().then(load));
    } catch (error) {
      problem = new PartGone("The file of this page cannot be loaded.", { cause: error });
    }
  };
  const preload = () => {
    loading ??= fetchPart();
    return loading;
  };
  const Part = (props: Props) => {
    if (problem !== undefined) throw problem;
    if (loaded === undefined) use(preload());
    return loaded === undefined ? null : createElement(loaded, props);
  };
  return Object.assign(Part, { preload });
}
