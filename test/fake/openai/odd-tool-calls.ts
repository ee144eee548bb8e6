/** The ways in which vendors cut tool calls into pieces. */

export interface MeantCall {
  /** Empty: the upstream gives none. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export type Delta = Readonly<Record<string, unknown>>;

/** A number from 0 to one less than told. */
export type Dice = (below: number) => number;

export function pick<T>(dice: Dice, list: readonly T[]): T {
  if (list.length === 0) throw new Error("there is nothing to pick from");
  return list[dice(list.length)] as T;
}

export const toolHabits = [
  "OpenAI's way",
  "identity in every piece",
  "empty identity in later pieces",
  "null identity in later pieces",
  "pieces of all calls mixed",
  "no index, each call whole",
  "no index, cut",
  "no index, all in one delta",
  "index 0 for all, each call whole",
  "index 0 for all, cut",
  "index 0 for all, identity in every piece",
  "index 0 for all, all in one delta",
  "name after the id",
  "another id in every piece",
  "no ids",
  "arguments as an object, each call whole",
  "no type",
] as const;

type ToolHabit = (typeof toolHabits)[number];

interface Piece {
  readonly at: number;
  readonly call: Readonly<Record<string, unknown>>;
}

export function toolCallDeltas(options: {
  readonly dice: Dice;
  readonly habit: ToolHabit;
  readonly calls: readonly MeantCall[];
}): readonly Delta[] {
  const { dice, habit, calls } = options;
  if (calls.length === 0) return [];
  const isWhole = habit.endsWith("whole") || habit.endsWith("in one delta");
  const pieces = calls.map((call, at) =>
    isWhole ? [wholeCall({ habit, call, at })] : cutCall({ dice, habit, call, at }),
  );
  if (habit.endsWith("in one delta"))
    return [{ tool_calls: pieces.flat().map(({ call }) => call) }];
  const order = habit === "pieces of all calls mixed" ? mixed(dice, pieces) : pieces.flat();
  const beside = pick(dice, [{}, { content: null }, { content: "" }]);
  return order.map(({ call }) => ({ ...beside, tool_calls: [call] }));
}

interface CallPlace {
  readonly habit: ToolHabit;
  readonly call: MeantCall;
  readonly at: number;
}

function indexOf(habit: ToolHabit, at: number): { readonly index?: number } {
  if (habit.startsWith("no index")) return {};
  return { index: habit.startsWith("index 0") ? 0 : at };
}

function wholeCall({ habit, call: { id, name, text }, at }: CallPlace): Piece {
  const called = { name, arguments: habit.startsWith("arguments as") ? JSON.parse(text) : text };
  return { at, call: { ...indexOf(habit, at), id, type: "function", function: called } };
}

function cutCall({ dice, habit, call, at }: CallPlace & { readonly dice: Dice }): readonly Piece[] {
  const { id, name, text } = call;
  const letters = [...text];
  const texts = [""];
  while (letters.length > 0) texts.push(letters.splice(0, 1 + dice(12)).join(""));
  return texts.map((part, number) => {
    const place = indexOf(habit, at);
    const continued = { at, call: { ...place, function: { arguments: part } } };
    const named = { id, type: "function", function: { name, arguments: part } };
    if (number === 0 && habit === "name after the id")
      return { at, call: { ...place, id, type: "function" } };
    if (number === 1 && habit === "name after the id")
      return { at, call: { ...place, function: named.function } };
    if (habit === "another id in every piece" && number > 0)
      return { at, call: { ...continued.call, id: `${id}-${number}` } };
    if (number === 0 && habit === "no ids")
      return { at, call: { ...place, type: "function", function: named.function } };
    if (number === 0 && habit === "no type")
      return { at, call: { ...place, id, function: named.function } };
    if (number === 0 || habit.endsWith("identity in every piece"))
      return { at, call: { ...place, ...named } };
    if (habit === "empty identity in later pieces")
      return {
        at,
        call: { ...place, id: "", type: "function", function: { name: "", arguments: part } },
      };
    if (habit === "null identity in later pieces")
      return {
        at,
        call: { ...place, id: null, type: null, function: { name: null, arguments: part } },
      };
    return continued;
  });
}

/** Each call opens in its turn; then their pieces come as they like. */
function mixed(dice: Dice, pieces: readonly (readonly Piece[])[]): readonly Piece[] {
  const openings = pieces.flatMap(([first]) => first ?? []);
  const queues = pieces.map((list) => list.slice(1));
  const order: Piece[] = [...openings];
  while (queues.some(({ length }) => length > 0)) {
    const next = pick(
      dice,
      queues.filter(({ length }) => length > 0),
    ).shift();
    if (next !== undefined) order.push(next);
  }
  return order;
}
