/**
 * Variables that no reference may name: otherwise the gateway could send its master secret or another
 * secret of its own to a remote server.
 */
export const isReserved = (variable: string): boolean => variable.startsWith("SVC_");

/** Follows the name of a field. */
export const reservedReference =
  "must not refer to a variable that starts with SVC_, which are reserved for the gateway: use another variable";

export const reservedVariable =
  "Variables that start with SVC_ are reserved for the gateway. Use another variable.";
