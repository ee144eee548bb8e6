/** What the page sends of one image at most. */
export const mostImageBytes = 300 * 1024;
const mostSidePx = 1_024;
const sendable = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const qualities = [0.85, 0.7, 0.55, 0.4];

/** An image as a data URI that fits: as it is, or drawn smaller. Rejects with words to show. */
export async function toImageUri(file: File): Promise<string> {
  if (sendable.has(file.type) && file.size <= mostImageBytes) return toDataUri(file);
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is not an image that this browser can open.`);
  });
  try {
    for (let sidePx = mostSidePx; sidePx >= 128; sidePx /= 2)
      for (const quality of qualities) {
        const blob = await draw(bitmap, { sidePx, quality });
        if (blob.size <= mostImageBytes) return await toDataUri(blob);
      }
  } finally {
    bitmap.close();
  }
  throw new Error(`${file.name} is too large and cannot be scaled down enough.`);
}

interface DrawOptions {
  readonly sidePx: number;
  readonly quality: number;
}

async function draw(bitmap: ImageBitmap, { sidePx, quality }: DrawOptions): Promise<Blob> {
  const scale = Math.min(1, sidePx / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser cannot resize images.");
  // A photo has no see-through parts; where there were some, white is what readers expect.
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error("Could not resize the image.")) : resolve(blob)),
      "image/jpeg",
      quality,
    ),
  );
}

export function toDataUri(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error("Could not read the file.")));
    reader.readAsDataURL(blob);
  });
}

let last = 0;

/** For things of this page; browsers have crypto.randomUUID only where a page came by https. */
export function newId(): string {
  last += 1;
  return `thing-${last}`;
}
