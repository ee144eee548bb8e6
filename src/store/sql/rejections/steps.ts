/** Rejections that one step deletes at most, so that no writer waits for long. */
export const erasedAtOnce = 500;

/** Accounts that one step looks at: counting the rows of one takes about a millisecond. */
export const accountsAtOnce = 4;
