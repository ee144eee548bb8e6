/**
 * The recorded conversation that every agent has with every vendor: it reads a file and looks around
 * at once, edits the file, runs a command, and says what it did.
 */

/** One tool call, as the model makes it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** A tool that takes free text. Vendors without such tools are offered a function of one string. */
  readonly freeText?: string;
}

export interface TurnUsage {
  /** All input, that from the cache included. */
  readonly input: number;
  readonly cached: number;
  /** All output, the reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

/** What the model says in one reply. */
export interface Turn {
  readonly thought: string;
  /** What the vendor signs or encrypts; it wants it back with the next request. */
  readonly signature: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: TurnUsage;
}

/** The tools of an agent, by what the conversation needs of them. */
export interface AgentTools {
  readonly read: (path: string) => Omit<ToolCall, "id">;
  readonly edit: (path: string) => Omit<ToolCall, "id">;
  readonly run: (command: string) => Omit<ToolCall, "id">;
}

export const noteBefore = "hello world\n";
export const noteAfter = "hello moon\n";
export const task =
  "Replace the word world with moon in note.txt, then run a command that shows the file.";
export const lastWords = "The note now says: hello moon. Ünïcode survives too: 你好 👋🏽";
/** What the last command prints, and nothing else in the conversation says. */
export const commandOutput = "2 words";
/** How long the model's context is where it becomes full. */
export const fullTokens = 60_000;
/** What the model says when the agent asks it to summarize the conversation. */
export const summary =
  "So far: the word in note.txt is replaced, and the file is still to be shown.";
const command = 'echo "$(wc -w < note.txt | tr -d " ") words"; cat note.txt';

const summaryTurn: Turn = {
  thought: "",
  signature: "",
  // Claude Code takes it from between these marks.
  text: `<summary>\n${summary}\n</summary>`,
  calls: [],
  usage: { input: 1_801, cached: 0, output: 31, reasoning: 0 },
};

/** The same, with a context that is full after the edit: the agent asks for a summary, and goes on. */
export function compactedConversationOf(
  tools: AgentTools,
  { note, isCounted }: { readonly note: string; readonly isCounted: boolean },
): readonly (Turn | "refusal")[] {
  const [first, edit, ...rest] = conversationOf(tools, note);
  if (first === undefined || edit === undefined) throw new Error("the conversation is too short");
  if (!isCounted) return [first, edit, "refusal", summaryTurn, ...rest];
  const usage = { ...edit.usage, input: Math.floor(fullTokens * 0.97) };
  return [first, { ...edit, usage }, summaryTurn, ...rest];
}

export function conversationOf(tools: AgentTools, note: string): readonly Turn[] {
  return [
    {
      thought: "First the file, and what lies beside it.",
      signature: "c2lnbmVkLWZpcnN0LXRob3VnaHQ=",
      text: "",
      calls: [
        { id: "call_read_1", ...tools.read(note) },
        { id: "call_list_2", ...tools.run("ls") },
      ],
      usage: { input: 1_201, cached: 0, output: 83, reasoning: 17 },
    },
    {
      thought: "One word has to change.",
      signature: "c2lnbmVkLXNlY29uZC10aG91Z2h0",
      text: "Now the edit.",
      calls: [{ id: "call_edit_3", ...tools.edit(note) }],
      usage: { input: 1_407, cached: 1_024, output: 61, reasoning: 9 },
    },
    {
      thought: "Then the command.",
      signature: "c2lnbmVkLXRoaXJkLXRob3VnaHQ=",
      text: "",
      calls: [{ id: "call_show_4", ...tools.run(command) }],
      usage: { input: 1_553, cached: 1_280, output: 47, reasoning: 5 },
    },
    {
      thought: "",
      signature: "",
      text: lastWords,
      calls: [],
      usage: { input: 1_699, cached: 1_536, output: 29, reasoning: 0 },
    },
  ];
}
