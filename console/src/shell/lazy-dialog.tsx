import { type ComponentType, Suspense } from "react";
import { lazyPart } from "./lazy-part.tsx";
import { PartBoundary } from "./part-boundary.tsx";

/**
 * A dialog whose file is fetched when it is first opened: most visits never open it. Once it was,
 * it stays, so that it can be seen closing.
 */
export function lazyDialog<Props extends { readonly isOpen: boolean }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const Loaded = lazyPart(load);
  let wasOpened = false;
  return function LazyDialog(props: Props) {
    wasOpened ||= props.isOpen;
    return wasOpened ? (
      <PartBoundary>
        <Suspense fallback={null}>
          <Loaded {...props} />
        </Suspense>
      </PartBoundary>
    ) : null;
  };
}
