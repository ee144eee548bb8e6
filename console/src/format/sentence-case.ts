/** `not served` becomes `Not served`. */
export const sentenceCase = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
