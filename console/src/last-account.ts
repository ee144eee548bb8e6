const name = "svc-account";

/** The account that was looked at last, so that one comes back to it. */
export const lastAccount = {
  get: () => localStorage.getItem(name) ?? undefined,
  set: (id: string) => localStorage.setItem(name, id),
  /** The operator looks at all of them. */
  clear: () => localStorage.removeItem(name),
};
