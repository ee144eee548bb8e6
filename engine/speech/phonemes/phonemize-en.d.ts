/** phonemize's English part; its package names a declaration file that it does not ship. */
declare module "phonemize/en-g2p" {
  export class EnglishG2P {
    constructor();
    /** IPA of one word; `null` when it has nothing to say. */
    predict(word: string, language?: string, pos?: string): string | null;
  }
}
