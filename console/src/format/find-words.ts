const isDigit = (text: string) => /^\d/.test(text);

/** A number is not found inside a longer one: "4" is in "gpt-4o", and not in "gpt-2024" or "v3.4". */
function occurs(word: string, text: string): boolean {
  if (!isDigit(word)) return text.includes(word);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length))
    if (!/[\d.]/.test(text.charAt(at - 1))) return true;
  return false;
}

/** Whether every word of a search occurs in a name: "llama 3.3" finds "meta/llama-3.3-70b". */
export function hasWords(name: string, find: string): boolean {
  const text = name.toLowerCase();
  return find
    .toLowerCase()
    .split(/[\s/-]+/)
    .every((word) => occurs(word, text));
}
