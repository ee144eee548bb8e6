/**
 * The same text in memory of its own. A slice of a long text keeps all of it alive: where a short
 * piece of a request is kept, its whole body would be.
 */
export const detached = (text: string): string => Buffer.from(text).toString();
