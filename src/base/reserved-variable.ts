/**
 * Variables that no reference can name, whatever it is for: the master secret and other secrets of the
 * gateway would be sent to a server elsewhere.
 */
export const isReserved = (variable: string): boolean => variable.startsWith("SVC_");

export const reservedVariable =
  "Variables that start with SVC_ are reserved for the gateway. Use another variable.";
