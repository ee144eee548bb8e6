type Optional<T> = {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
type Required<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** The fields that have a value: an exact optional property takes no undefined. */
export function defined<T extends object>(fields: T): Optional<T> & Required<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Optional<T> & Required<T>;
}
