import {
  MutationCache,
  onlineManager,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import {
  type ApiName,
  ApiProblem,
  type Input,
  type InputWords,
  type Reply,
  request,
} from "./api.ts";
import { say } from "./components/feedback/toasts.tsx";
import { connection } from "./live/connection.ts";

/** The session's own query: what a 401 anywhere empties, which leads to sign-in. */
export const sessionKey = ["GET /api/session"] as const;

const isFinal = (error: unknown) => error instanceof ApiProblem && error.status >= 400;
const isUnreachable = (error: unknown) =>
  error instanceof ApiProblem && error.code === "unreachable";
/** What cannot be reached is asked again as soon as it can be, and not forever. */
const mostRetries = { unreachable: 20, other: 2 };

export function createQueryClient(): QueryClient {
  // While the platform cannot be reached, reads wait, and then go on by themselves.
  onlineManager.setEventListener((setOnline) =>
    connection.subscribe(() => setOnline(connection.isUp)),
  );
  const onError = (error: unknown) => {
    if (!(error instanceof ApiProblem) || (error.status !== 401 && error.status !== 403)) return;
    // The role was taken away, and with it goes what it opened: a dialog, perhaps, with this message.
    if (error.code === "not_allowed") say(error.message, "bad");
    void client.invalidateQueries({ queryKey: sessionKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (count, error) =>
          !isFinal(error) && count < mostRetries[isUnreachable(error) ? "unreachable" : "other"],
        retryDelay: (count, error) =>
          isUnreachable(error) ? 1_000 : Math.min(1_000 * 2 ** count, 30_000),
      },
      // A change is never sent later than the person who asked for it expects.
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

interface AskOptions {
  /** Ask again this often, while the tab is seen. */
  readonly everyMs?: number;
  /** An answer is good for this long, whatever changes: for what a vendor must be asked. */
  readonly freshMs?: number;
  /** False: do not ask yet. */
  readonly enabled?: boolean;
  /** Keep showing the old answer while one for other filters is on its way. */
  readonly keepsOld?: boolean;
}

/** What a route answers, kept fresh: `const keys = useApi("GET /api/…", { params: { account } })`. */
export function useApi<Name extends ApiName>(
  name: Name,
  ...[input, options]: object extends Input<Name>
    ? [input?: Input<Name>, options?: AskOptions]
    : [input: Input<Name>, options?: AskOptions]
): UseQueryResult<Reply<Name>, ApiProblem> {
  const { everyMs, freshMs, enabled = true, keepsOld = false } = options ?? {};
  return useQuery<Reply<Name>, ApiProblem>({
    queryKey: input === undefined ? [name] : [name, input],
    queryFn: async ({ signal }) => await request(name, input ?? {}, signal),
    enabled,
    // What changes by itself is never taken from before.
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs, staleTime: 0 }),
    ...(freshMs === undefined ? {} : { staleTime: freshMs, meta: { outlivesChanges: true } }),
    ...(keepsOld ? { placeholderData: (old) => old } : {}),
  });
}

/** A change: `change.mutate({ params, body })`. What is on the page is then asked for again. */
export function useChange<Name extends ApiName>(
  name: Name,
  /** A promise is awaited before the page is asked for again: it may lead to another one. */
  options: { readonly onDone?: (reply: Reply<Name>) => unknown } = {},
): UseMutationResult<Reply<Name>, ApiProblem, InputWords<Name>[0]> {
  return useWork<InputWords<Name>[0], Reply<Name>>(
    async (input) => await request(name, input ?? {}),
    options,
  );
}

/** The same, for a change that takes several requests, or the browser's help. */
export function useWork<Given, Done>(
  work: (given: Given) => Promise<Done>,
  options: { readonly onDone?: ((done: Done) => unknown) | undefined } = {},
): UseMutationResult<Done, ApiProblem, Given> {
  const client = useQueryClient();
  return useMutation<Done, ApiProblem, Given>({
    mutationFn: work,
    onSuccess: async (reply) => {
      // Whatever leaves the page has left it before it is asked for again: it may be gone.
      await options.onDone?.(reply);
      await client.invalidateQueries({
        predicate: ({ meta }) => meta?.["outlivesChanges"] !== true,
      });
    },
  });
}
