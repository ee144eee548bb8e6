/** What a person typed to find something by its name or id. */
export interface TextSearch {
  /** Every word of it must occur, in any order. */
  readonly text: string;
  readonly limit: number;
}

const mostWords = 5;

export const wordsOf = (text: string): readonly string[] =>
  text.trim().split(/\s+/, mostWords).filter(Boolean);
