import { type ComponentType, lazy, Suspense } from "react";

/**
 * A dialog whose file is fetched when it is first opened: most visits never open it. Once it was,
 * it stays, so that it can be seen closing.
 */
export function lazyDialog<Props extends { readonly isOpen: boolean }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: await load() }));
  let wasOpened = false;
  return function LazyDialog(props: Props) {
    wasOpened ||= props.isOpen;
    return wasOpened ? (
      <Suspense fallback={null}>
        <Loaded {...props} />
      </Suspense>
    ) : null;
  };
}
