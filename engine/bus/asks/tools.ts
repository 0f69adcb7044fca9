import { z } from 'zod';
import { cursor, parseNumberCursor } from '../../core/api/cursor.ts';
import {
  by,
  type Caller,
  type OperationCall,
  operation,
  ownWorkError,
  toWire,
} from '../../core/api/operation.ts';
import { sayMore, tool, UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import { isOwnSeat, projectOfAddress, type SessionPeers } from '../../workers/sessions/index.ts';
import { type AddresseeDeps, resolveAddressee } from './addressee.ts';
import {
  ASK_STATUSES,
  type Ask,
  type Asks,
  askClosedError,
  type SymbolRef,
  USUAL_TIMEOUT_SEC,
} from './index.ts';
import { resolveSymbolRef, type SymbolDeps } from './symbol-ref.ts';

export interface AskToolsDeps extends Omit<AddresseeDeps, 'peers'>, SymbolDeps {
  asks: Asks;
  peers: Pick<SessionPeers, 'find' | 'known' | 'chairOf'>;
}

const nonEmptyText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== '', 'is empty');
/** Limits that no agent comes near are checked but not listed with the tool: every agent pays for the list's bytes. */
const shortText = (max: number) =>
  z.string().refine((text) => text.trim() !== '' && text.length <= max, `is empty, or longer than ${max}`);
const name = shortText(200);
const id = z.int().min(1);

const askInput = z.strictObject({
  question: nonEmptyText(20_000).describe('Your question, answerable without your context.'),
  context: z.string().max(100_000).optional().describe('Facts needed to answer.'),
  options: z
    .array(shortText(1000))
    .max(100)
    .refine((all) => new Set(all).size === all.length, 'two options are the same')
    .optional()
    .describe('The answer will be exactly one of these.'),
  timeout_sec: z.int().min(1).max(86_400).default(USUAL_TIMEOUT_SEC).describe('How long to wait.'),
  to_project: name.optional().describe('Ask the Chair of this registered project.'),
  to_session: name.optional().describe('Ask this session; without it the Chair of your project.'),
});

const symbolRef = z
  .strictObject({
    line: z.int().min(1).optional(),
    path: shortText(4096).optional(),
    project: name.optional(),
    symbol: shortText(500).optional(),
  })
  .optional()
  .describe(
    'The code that the question is about; path is relative to the project, otherwise to the workspace.',
  );

/** A `SymbolRef` or null. */
const symbolOut = z.unknown();

/** How the wait on an ask ended, in wire form. */
const toAskOutcome = (ask: Ask) => ({
  id: ask.id,
  status: ask.status === 'answered' ? ('answered' as const) : ('timeout' as const),
  answer: ask.answer,
  by: ask.answeredBy,
  symbol_ref: ask.symbolRef,
  note:
    ask.status === 'answered'
      ? null
      : 'no one answered; do not treat silence as consent, and mention it in your report',
});

const formatSymbolRef = (ref: unknown): string => {
  if (ref === null) return '';
  const { path, line, symbol, project } = ref as SymbolRef;
  const place = `${path}${line === null ? '' : `:${line}`}${project === null ? '' : ` of project ${project}`}`;
  return ` (see ${symbol === null ? '' : `${symbol} in `}${place})`;
};

/** An ask as agents see it in a list. */
const listedAsk = z
  .object({
    id: z.int(),
    status: z.enum(ASK_STATUSES),
    from_session: z.string().nullable(),
    task: z.string().nullable(),
    to_session: z.string(),
    question: z.string(),
    options: z.array(z.string()),
    context: z.string().nullable(),
    created_at: z.string(),
    expires_at: z.string(),
    answer: z.string().nullable(),
    by: z.string().nullable(),
  })
  .meta(UNLISTED);

/** Formats an ask with everything needed to answer it. */
function sayAsk(ask: z.output<typeof listedAsk>): string {
  const { options, context, answer } = ask;
  const parts = [
    `ask ${ask.id} (${ask.status}) from ${ask.from_session ?? 'an unknown sender'} to ${ask.to_session}: ${ask.question}`,
    ...(options.length === 0 ? [] : [`options: ${options.map((each) => JSON.stringify(each)).join(', ')}`]),
    ...(context === null ? [] : [`context: ${context}`]),
    ...(answer === null ? [] : [`answered by ${ask.by}: ${answer}`]),
  ];
  return parts.map((part) => toPrintable(part, { lines: true }).replaceAll('\n', '\n  ')).join('\n  ');
}

/** Opens an ask. Call inside the transaction of the call. */
function openAsk(deps: AskToolsDeps, input: z.infer<typeof askInput>, caller: Caller): Ask {
  const { asks, peers } = deps;
  const { options = [], timeout_sec: timeoutSec, question } = input;
  const context = input.context || null;
  const from = caller.sessionId;
  const taskId = (from === null ? null : peers.find(from)?.taskId) ?? null;
  const ask = { from, taskId, question, context, options, timeoutSec };
  return asks.open({ ...ask, ...resolveAddressee(input, caller, deps) }, by(caller));
}

function describeAddressee(peers: AskToolsDeps['peers'], { toSession, project }: Ask): string {
  if (projectOfAddress(toSession) === undefined) return toSession;
  const seat = project === null ? 'the Chair' : `the Chair of ${project}`;
  const live = peers.chairOf(project);
  return live === null ? seat : `${seat} (${live.sessionId})`;
}

function waitWithProgress(
  { asks, peers }: Pick<AskToolsDeps, 'asks' | 'peers'>,
  ask: Ask,
  call: OperationCall,
): Promise<Ask> {
  if (ask.status === 'open') {
    call.progress(
      `ask ${ask.id} waits for an answer from ${describeAddressee(peers, ask)}, until ${ask.expiresAt}`,
    );
  }
  return asks.wait(ask.id, call.signal);
}

function checkMayAnswer({ id: askId, fromSession, toSession }: Ask, caller: Caller): void {
  const mayNotAnswerError = (why: string, hint: string): SvcError =>
    new SvcError('holder_mismatch', why, { hint, data: { id: askId, to_session: toSession } });
  if (fromSession !== null && caller.sessionId === fromSession) {
    throw mayNotAnswerError(
      `ask ${askId} was asked by ${fromSession} itself`,
      'a session cannot answer its own question',
    );
  }
  if (caller.seat === 'chair' || (caller.sessionId !== null && caller.sessionId === toSession)) return;
  const who = caller.sessionId ?? `a ${caller.seat} session`;
  throw mayNotAnswerError(
    `ask ${askId} is addressed to ${toSession}; ${who} cannot answer it`,
    projectOfAddress(toSession) === undefined
      ? `the Chair or ${toSession} can answer it`
      : 'the Chair can answer it',
  );
}

/** A worker on a task from an untrusted author sees its own questions, and questions to it. */
const maySeeAsk = ({ fromSession, toSession }: Ask, { ownWork }: Caller): boolean =>
  ownWork == null || [fromSession, toSession].includes(ownWork.sessionId);

/** Throws `not_found`, and `chair_only` for an ask of others. */
function findSeenAsk(asks: Asks, askId: number, caller: Caller): Ask {
  const ask = asks.get(askId);
  if (!maySeeAsk(ask, caller)) throw ownWorkError(`ask ${askId}`, caller);
  return ask;
}

/** Resolves the answerer. Only the Chair may answer in another's name: a person's, or a known session's. */
function resolveAnswerer(peers: AskToolsDeps['peers'], by: string | undefined, caller: Caller): string {
  const own = caller.sessionId ?? caller.actor;
  if (by === undefined || by === own || isOwnSeat(by, caller)) return own;
  if (caller.seat === 'chair') {
    if (/^(?:s|chair)-\d+$/i.test(by)) peers.known(by.toLowerCase());
    return by;
  }
  throw new SvcError('holder_mismatch', `${own} cannot answer in the name of ${JSON.stringify(by)}`, {
    hint: sentence`omit {input.by}`,
  });
}

/** The tools and operations for asks. */
export const askTools = (deps: AskToolsDeps) => [
  ...askingTools(deps),
  ...answeringTools(deps),
  ...askListTools(deps),
];

function askingTools(deps: AskToolsDeps) {
  const { asks } = deps;
  return [
    tool({
      name: 'ask',
      about:
        'Ask the Chair, or another session, and wait for the answer. status is `answered` or `timeout`, which carries no answer.',
      seat: 'any',
      changes: true,
      input: askInput,
      output: z.object({
        id: z.int(),
        status: z.enum(['answered', 'timeout']),
        answer: z.string().nullable(),
        by: z.string().nullable(),
        symbol_ref: symbolOut,
        note: z.string().nullable(),
      }),
      say: ({ id: number, status, answer, by, symbol_ref, note }) =>
        status === 'answered'
          ? `ask ${number} was answered by ${by}: ${answer}${formatSymbolRef(symbol_ref)}`
          : `ask ${number} timed out: ${note}`,
      async run(input, caller, call) {
        const askId = await call.begin(() => openAsk(deps, input, caller).id);
        return toAskOutcome(await waitWithProgress(deps, asks.get(askId), call));
      },
    }),
    operation({
      name: 'ask.open',
      about: 'Ask without waiting; `ask.wait` does.',
      seat: 'any',
      changes: true,
      input: askInput,
      run: (input, caller, call) => call.finish(() => openAsk(deps, input, caller)),
    }),
    operation({
      name: 'ask.wait',
      about: 'Wait for the answer to an ask.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      run: async (input, caller, call) =>
        toAskOutcome(await waitWithProgress(deps, findSeenAsk(asks, input.id, caller), call)),
    }),
  ];
}

function answeringTools(deps: AskToolsDeps) {
  const { asks, peers } = deps;
  return [
    tool({
      name: 'ask.answer',
      about:
        'Answer an open ask; the session that asked continues immediately. Only the first answer is accepted.',
      seat: 'any',
      changes: true,
      idempotent: true,
      input: z.strictObject({
        answer: nonEmptyText(100_000).describe('Exactly one of the options, if the ask has any.'),
        id: id.describe('From ask_list.'),
        by: name.optional().describe('Who answers; default: you.'),
        symbol_ref: symbolRef,
      }),
      output: z.object({
        id: z.int(),
        status: z.enum(ASK_STATUSES),
        answer: z.string().nullable(),
        by: z.string().nullable(),
        symbol_ref: symbolOut,
      }),
      say: ({ id: number, answer, by, symbol_ref }) =>
        `ask ${number} is answered by ${by}: ${answer}${formatSymbolRef(symbol_ref)}`,
      async run(input, caller, call) {
        const ask = asks.get(input.id);
        checkMayAnswer(ask, caller);
        const { options, status } = ask;
        if (status === 'timeout') throw askClosedError(ask);
        if (status === 'open' && options.length > 0 && !options.includes(input.answer)) {
          const problem = `has to be one of ${options.map((each) => JSON.stringify(each)).join(', ')}`;
          throw new SvcError('fields_invalid', `answer: the answer of ask ${ask.id} ${problem}`, {
            data: { fields: [{ field: 'answer', problem }], options },
          });
        }
        const ref =
          status !== 'open' || input.symbol_ref === undefined
            ? null
            : await resolveSymbolRef(input.symbol_ref, caller, deps);
        const answer = { answer: input.answer, by: resolveAnswerer(peers, input.by, caller), symbolRef: ref };
        return call.finish(() => {
          const { note: _, ...answered } = toAskOutcome(asks.answer(input.id, answer, by(caller)));
          return answered;
        });
      },
    }),
  ];
}

function askListTools({ asks, peers }: Pick<AskToolsDeps, 'asks' | 'peers'>) {
  return [
    tool({
      name: 'ask.list',
      about:
        'List asks with their options: open ones oldest first, others newest first. Answer with ask_answer.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        limit: z.int().min(1).max(100_000).default(50),
        session: name.optional().describe('Only its own asks'),
        status: z.enum([...ASK_STATUSES, 'all']).default('open'),
        /** Exact ids, in any status; unknown ones are left out of the answer. */
        ids: z.array(id).max(1000).optional().meta(UNLISTED),
        cursor: cursor.meta(UNLISTED),
      }),
      output: z.object({ asks: z.array(listedAsk), more: z.int().optional() }),
      names: { task_id: 'task', answered_by: 'by' },
      say: ({ asks: found, more = 0 }) =>
        found.length === 0 ? 'no asks' : [...found.map(sayAsk), ...sayMore(more)].join('\n\n'),
      run({ limit: most, session, status, ids, cursor: last }, caller) {
        if (ids !== undefined)
          return { asks: toWire(asks.list({ ids }).filter((ask) => maySeeAsk(ask, caller))), more: 0 };
        const from =
          session === undefined
            ? undefined
            : isOwnSeat(session, caller) && caller.sessionId !== null
              ? caller.sessionId
              : peers.known(session).sessionId;
        const among = caller.ownWork?.sessionId;
        const filter = { limit: most, from, among, status: status === 'all' ? undefined : status };
        const listed = asks.list({ ...filter, cursor: parseNumberCursor(last) });
        return {
          asks: toWire(listed),
          more: last === undefined ? asks.count(filter) - listed.length : undefined,
        };
      },
    }),
    operation({
      name: 'ask.count',
      about: 'The number of asks, in all or in one status.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ status: z.enum(ASK_STATUSES).optional() }),
      run: (input) => asks.count(input),
    }),
    operation({
      name: 'ask.counts',
      about: 'The number of open asks, and when the next one expires.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => asks.counts(),
    }),
  ];
}
