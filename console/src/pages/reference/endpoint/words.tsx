/** Text with `code` between backticks: all the markup that our descriptions have. */
export function Words({ text }: { readonly text: string }) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
