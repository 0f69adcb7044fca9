import type { Log } from '../../core/base/log.ts';
import { type JsonEdit, replaceBytes } from '../json-members.ts';
import type { GatewaySettings } from '../settings.ts';
import { sendBody, sendFailure } from './answer.ts';
import type { UsageBooks } from './books.ts';
import { type BudgetGuard, type BudgetRefusal, type BudgetReservation, isRefusal } from './budget.ts';
import { type AnswerCache, keyOfCall, MOST_ANSWER_BYTES } from './cache.ts';
import { estimateCall, type GatewayCall, readCallBody, settleCall } from './call.ts';
import { describeCall } from './describe-call.ts';
import { estimatePrompt } from './estimate-prompt.ts';
import { type ForwardLimits, type ForwardResult, forwardCall } from './forward.ts';
import type { HeldBytes } from './held-bytes.ts';
import { answerCount, answerStub } from './local.ts';
import { readRequestHabits } from './request-habits.ts';
import type { ProviderRouting, RouteCandidate } from './routing.ts';
import type { UpstreamClient } from './upstream.ts';

export interface AnswerCallDeps {
  settings(): GatewaySettings;
  books: UsageBooks;
  budget: BudgetGuard;
  routing: ProviderRouting;
  upstreams: UpstreamClient;
  cache: AnswerCache;
  /** The live zone: replacements in a passing request; null leaves it unchanged. */
  transform: ((call: GatewayCall) => JsonEdit[] | Promise<JsonEdit[]>) | null;
  limits: ForwardLimits;
  /** Resolves when the model lists are as recent as possible within a moment. */
  readLists(): Promise<void>;
  now(): number;
  log: Log;
}

/** Refuses a call with an error in the caller's protocol. */
export type RefuseCall = (
  status: number,
  code: string,
  message: string,
  headers?: Record<string, string>,
) => void;

export const IS_OFF = [
  503,
  'gateway_off',
  'ai.mode is off: no model calls are made; set it to stub or live',
] as const;

/** Creates the function that answers a call: from the cache, as a stub, or from its candidates within its budget. */
export function createCallAnswerer(
  deps: AnswerCallDeps,
  held: HeldBytes,
): (call: GatewayCall, refuse: RefuseCall) => Promise<void> {
  const { settings, books, budget, routing, now, log } = deps;

  /** Reserves the expected tokens of a call; undefined after a refusal. */
  function reserveBudget(call: GatewayCall): BudgetReservation | undefined {
    const expected = estimateCall(call);
    const reserved = budget.reserve(call.holder, expected);
    if (isRefusal(reserved)) {
      refuseForBudget(call, reserved, { books, now: now() });
      return undefined;
    }
    const { row } = call;
    row.reserved = expected;
    row.input = call.promptTokens;
    row.is_estimated = 1;
    books.note(row);
    return reserved;
  }

  /** Changes messages in transit; the only place where they may change. */
  async function transformMessages(call: GatewayCall): Promise<void> {
    if (deps.transform === null || call.route.kind !== 'generate') return;
    const edits = await deps.transform(call);
    if (edits.length === 0) return;
    call.body = replaceBytes(call.body, edits);
    call.members = readCallBody(call.body, call.route)?.members ?? [];
    call.promptTokens = estimatePrompt(call.body);
  }

  /** Forwards a call, and keeps a successful answer in the cache. */
  async function forwardCached(
    call: GatewayCall,
    candidates: readonly RouteCandidate[],
    cacheKey: string | null,
  ): Promise<ForwardResult> {
    const sent: Buffer[] = [];
    let size = 0;
    const keepSent = (chunk: Buffer | string): void => {
      size += chunk.length;
      if (size <= MOST_ANSWER_BYTES) sent.push(Buffer.from(chunk));
    };
    const ended = await forwardCall(call, candidates, {
      ...deps,
      held,
      onProgress: ({ row }) => books.note(row),
      onSent: cacheKey === null ? null : keepSent,
    });
    if (cacheKey !== null && ended.outcome === 'ok' && size <= MOST_ANSWER_BYTES)
      deps.cache.keep(cacheKey, { type: ended.type ?? 'application/json', bytes: Buffer.concat(sent) });
    return ended;
  }

  return async function answerCall(call, refuse) {
    const { row, route, response } = call;
    const { mode } = settings();
    if (mode === 'off') return refuse(...IS_OFF);
    const isFree = route.kind === 'count';
    if (mode === 'stub') {
      if (isFree) return answerCount(call);
      answerStub(call);
      settleCall(call, { books, reservation: null, now: now() }, { status: 200, outcome: 'stub' });
      return;
    }
    const candidates = await findCandidates(call, deps);
    if (candidates.length === 0) return isFree ? answerCount(call) : refuse(...explainNobody(call, routing));
    const cacheKey = deps.cache.isOn() && !isFree ? keyOfCall(call) : null;
    const known = cacheKey === null ? null : deps.cache.find(cacheKey);
    if (known !== null) {
      sendBody(response, 200, known.bytes, { 'content-type': known.type, 'x-svc-cache': 'hit' });
      settleCall(call, { books, reservation: null, now: now() }, { status: 200, outcome: 'cached' });
      return;
    }
    const reservation = isFree ? null : reserveBudget(call);
    if (reservation === undefined) return;
    await transformMessages(call);
    const ended = await forwardCached(call, candidates, cacheKey);
    if (isFree) return;
    if (route.kind === 'generate') Object.assign(row, readRequestHabits(call, settings().longToolBytes));
    settleCall(call, { books, reservation, now: now() }, ended);
    log.info(describeCall(call), 'call');
    if (!response.writableEnded && !response.destroyed && ended.outcome === 'client_gone') response.destroy();
  };
}

/** Returns the providers that can answer a call, including those that have reported their only model by now. */
async function findCandidates(
  { route, asked }: GatewayCall,
  { routing, readLists }: Pick<AnswerCallDeps, 'routing' | 'readLists'>,
): Promise<RouteCandidate[]> {
  const find = (): RouteCandidate[] =>
    routing.findCandidates(route.protocol, asked).filter(({ provider, protocol }) => {
      if (route.kind === 'generate') return true;
      return route.kind === 'embed' ? protocol === 'chat' : provider.protocols.includes(route.protocol);
    });
  const found = find();
  // Tokens are counted here if no provider does.
  if (found.length > 0 || route.kind === 'count' || routing.providers().length === 0) return found;
  await readLists();
  return find();
}

function explainNobody(
  { route, asked }: GatewayCall,
  routing: ProviderRouting,
): [status: number, code: string, message: string] {
  if (routing.providers().length === 0)
    return [
      503,
      'no_provider',
      'no provider is configured: svc.yaml sets them in ai.providers, ai.ollama and ai.passthrough',
    ];
  if (routing.findCandidates(route.protocol, asked).length > 0)
    return [503, 'no_provider', 'no provider accepts embeddings: one that speaks chat is required'];
  return [404, 'model_not_found', routing.explainNobody(asked)];
}

function refuseForBudget(
  call: GatewayCall,
  { scope, subject, limit, spent, reserved, until }: BudgetRefusal,
  { books, now }: { books: UsageBooks; now: number },
): void {
  const { holder, response, face } = call;
  const isSpent = spent >= limit;
  const used =
    reserved === 0
      ? `${spent} of the ${limit} tokens`
      : `${spent} tokens spent and ${reserved} reserved for calls that are still being answered, of the ${limit} tokens`;
  const are = reserved === 0 ? ' are spent' : '';
  const resetAt = until === null ? '' : new Date(until).toISOString();
  const message =
    scope === 'day'
      ? `token budget exceeded: ${used} of ai.budget_tokens_day${are}; ${isSpent ? 'it resets at' : 'try again at'} ${resetAt}`
      : `token budget exceeded: ${used} of the task${are}; a larger SVC_TASK_TOKEN_BUDGET lets it continue`;
  const { sessionId, taskId } = holder.kind === 'run' ? holder : { sessionId: null, taskId: null };
  books.noteExhausted({ at: now, scope, subject, limitTokens: limit, isSpent, until, sessionId, taskId });
  settleCall(call, { books, reservation: null, now }, { status: 402, outcome: 'denied' });
  const headers = until === null ? undefined : { 'x-svc-reset': resetAt };
  sendFailure(response, face, { status: 402, code: 'budget_exceeded', message }, headers);
}
