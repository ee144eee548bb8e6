/** Hands a file to the browser, as a link to it would. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Browsers read it after the click has been dealt with.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
