import { z } from 'zod';
import { cursor, parseNumberCursor } from '../../core/api/cursor.ts';
import { by, type Caller, chairOnly, ownWorkError } from '../../core/api/operation.ts';
import { sayMore, tool, UNLISTED } from '../../core/api/tool.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { Storage } from '../../storage/index.ts';
import type { SessionPeer, SessionPeers } from '../../workers/sessions/index.ts';
import {
  type MessageRecipient,
  type RecipientAddresses,
  ROLES,
  readName,
  type WantedRecipients,
} from './address.ts';
import type { TaskFamily } from './family.ts';
import type { MessageReader, Messages } from './index.ts';
import { MESSAGE_KINDS, type MessageRow, readRecipient } from './rows.ts';

export interface MessageToolDeps {
  storage: Storage;
  clock: Clock;
  paths: Pick<WorkspacePaths, 'statOf'>;
  callerPaths: Pick<CallerPaths, 'resolveShared'>;
  peers: SessionPeers;
  family: TaskFamily;
  addresses: RecipientAddresses;
  messages: Messages;
}

const BODY_MAX_BYTES = 256 * 1024;
/** Limit of an answer, since agents read all of it; the first message is always included. */
const ANSWER_MAX_CHARS = 1024 * 1024;

const name = z.string();
const rows = z.array(z.looseObject({}));

/** The recipient of a message: one of the three parameters that name it. */
const recipient = z.object({
  to_session: z.string().optional(),
  to_worker: z.string().optional(),
  to_agent: z.string().optional(),
});

function toRecipient(row: MessageRow): z.infer<typeof recipient> {
  const [kind, name] = readRecipient(row);
  return { [`to_${kind}`]: name };
}

const sayRecipient = ({ to_session, to_worker, to_agent }: z.infer<typeof recipient>): string =>
  to_session ?? to_worker ?? to_agent ?? '';

/** A message as agents read it. */
export const toMessageEntry = (row: MessageRow) => ({
  id: row.id,
  kind: row.kind,
  from_session: row.from_session,
  from_agent: row.from_agent,
  ...(row.from_name === null ? {} : { name: row.from_name }),
  ...toRecipient(row),
  body: row.body,
  parent_id: row.parent_id,
  payload_path: row.payload_path,
  at: rfc3339(row.created_at),
  acked_at: row.acked_at === null ? null : rfc3339(row.acked_at),
});

/** Formats a message with its sender and its full text. */
const sayMessage = (message: ReturnType<typeof toMessageEntry>): string => {
  const { id, kind, from_session, from_agent, body, parent_id, payload_path, at, acked_at } = message;
  const from = from_session ?? from_agent ?? 'an unknown sender';
  const head = [
    `${id} ${kind} from ${from} to ${sayRecipient(message)}, ${at}`,
    ...(acked_at === null ? [] : ['read']),
    ...(parent_id === null ? [] : [`answers ${parent_id}`]),
    ...(payload_path === null ? [] : [`file ${payload_path}`]),
  ];
  // Indented, so that no line of the text can pass for another message.
  return `${head.join(', ')}\n  ${toPrintable(body, { lines: true }).trimEnd().replaceAll('\n', '\n  ')}`;
};

/** Takes as many messages as fit into one answer. */
function takePage(all: readonly MessageRow[]) {
  let length = 0;
  const fitting = all.filter((row, index) => {
    length += row.body.length;
    return index === 0 || length <= ANSWER_MAX_CHARS;
  });
  return fitting.map(toMessageEntry);
}

/** Resolves the inbox of a call. A worker may take only its own agent's mail. */
export function resolveReader(
  { addresses, messages }: Pick<MessageToolDeps, 'addresses' | 'messages'>,
  input: { session?: string | undefined; agent?: string | undefined },
  caller: Caller,
): MessageReader {
  const session = addresses.acting(caller, input.session);
  // Mail is stored for sessions that have not been seen yet, and can be read.
  if (session !== null && session !== caller.sessionId && !messages.isAddressed(session))
    addresses.checkKnown(session);
  const agent = readName(input.agent) ?? null;
  const own = session === null ? null : (addresses.peer(session)?.agent ?? null);
  if (caller.seat === 'worker' && agent !== null && agent !== own) {
    throw new SvcError('holder_mismatch', `${session} runs ${own}, not ${agent}`, {
      hint: 'omit the agent',
    });
  }
  if (session === null && agent === null) {
    throw new SvcError('fields_invalid', 'session: the caller has none', {
      hint: 'name a session, or set SVC_SESSION',
    });
  }
  return { session, agent };
}

/** Resolves the sender's names. Only the Chair may choose them; a worker could pose as another. */
function resolveSender(
  { from_agent, name: shownName }: { from_agent?: string | undefined; name?: string | undefined },
  { seat, env }: Caller,
  sender: SessionPeer | null,
): { fromAgent: string | null; fromName: string | null } {
  if (seat !== 'chair') return { fromAgent: sender?.agent ?? null, fromName: sender?.workerId ?? null };
  return {
    fromAgent: readName(from_agent) ?? readName(env.SVC_AGENT) ?? sender?.agent ?? null,
    fromName: readName(shownName) ?? readName(env.SVC_NAME) ?? null,
  };
}

function resolvePayload(
  { paths, callerPaths }: Pick<MessageToolDeps, 'paths' | 'callerPaths'>,
  path: string | undefined,
  caller: Caller,
): string | null {
  if (path === undefined || path === '') return null;
  const { absolute, key } = callerPaths.resolveShared(path, caller);
  if (paths.statOf(absolute)?.isFile()) return key;
  throw new SvcError('not_found', `payload_path: no file ${key}`, { hint: 'write the file first' });
}

/** A reply without a recipient goes back to the sender. Call inside `storage.write`. */
function resolveRecipients(
  { addresses, messages }: Pick<MessageToolDeps, 'addresses' | 'messages'>,
  wanted: WantedRecipients,
  parentId: number | undefined,
  from: string | null,
): MessageRecipient[] {
  const isReply =
    parentId !== undefined && Object.values(wanted).every((each) => readName(each) === undefined);
  if (!isReply) return addresses.recipients(wanted, from);
  const { from_session, from_agent } = messages.get(parentId);
  if (from_session !== null) return addresses.recipients({ to_session: from_session }, from);
  if (from_agent !== null) return addresses.recipients({ to_agent: from_agent }, from);
  throw new SvcError('fields_invalid', `message ${parentId} has no sender to reply to`, {
    hint: 'name a recipient',
  });
}

/** A reply reveals a message's sender: a worker on a task from an untrusted author only replies to messages to it. */
function checkSeesMessage(messages: Messages, row: MessageRow, caller: Caller): void {
  const own = caller.ownWork?.sessionId;
  if (own === undefined || row.from_session === own) return;
  if (!messages.isTo(row, { session: own, agent: null })) throw ownWorkError(`message ${row.id}`, caller);
}

const sendInput = z.strictObject({
  body: z.string().min(1).describe('Text, Markdown; at most 256 KiB'),
  kind: z.enum(MESSAGE_KINDS).optional().describe('note (default); handoff of work; alert that must be seen'),
  to_session: name.optional().describe('s-12, chair-3, a plain session, chair or chair@project'),
  to_agent: name.optional().describe('Preset; the first of its sessions to acknowledge takes it'),
  to_worker: name.optional().describe('Worker id, across its successive sessions'),
  to_role: z.enum(ROLES).optional().describe('Relative to your session; each live one gets a message'),
  to_project: name.optional().describe("Project id: to that project's Chair"),
  parent_id: z.int().optional().describe('Message that this answers; without a recipient, to its sender'),
  payload_path: z.string().optional().describe('Workspace file that belongs to it'),
  from_session: name.optional().describe('Default: your session'),
  from_agent: name.optional().describe('Only for the Chair; default: its agent'),
  name: name.optional().describe('Sender name shown to people; only for the Chair'),
});

function sendMessage(deps: MessageToolDeps, input: z.infer<typeof sendInput>, caller: Caller): MessageRow[] {
  const { peers, addresses, messages } = deps;
  if (Buffer.byteLength(input.body) > BODY_MAX_BYTES) {
    throw new SvcError('body_too_large', 'body: a message has at most 256 KiB', {
      hint: sentence`write it to a file and name the file as {input.payload_path}`,
    });
  }
  const from = addresses.acting(caller, input.from_session);
  if (from !== null && from !== caller.sessionId) addresses.checkKnown(from);
  const sender = from === null ? null : peers.find(from);
  const { to_session, to_agent, to_worker, to_role, to_project, parent_id } = input;
  if (parent_id !== undefined) checkSeesMessage(messages, messages.get(parent_id), caller);
  return messages.send(
    {
      kind: input.kind ?? 'note',
      body: input.body,
      payloadPath: resolvePayload(deps, input.payload_path, caller),
      fromSession: from,
      ...resolveSender(input, caller, sender),
      parentId: parent_id ?? null,
      taskId: sender?.taskId ?? null,
      origin: null,
    },
    resolveRecipients(deps, { to_session, to_agent, to_worker, to_role, to_project }, parent_id, from),
    by(caller),
  );
}

/** The tools for messages. */
export const messageTools = (deps: MessageToolDeps) => [
  sendTool(deps),
  inboxTool(deps),
  acknowledgeTool(deps),
  staleTool(deps),
];

function sendTool(deps: MessageToolDeps) {
  const { addresses } = deps;
  return tool({
    name: 'msg.send',
    about:
      'Send a note, handoff or alert to exactly one kind of recipient. known: false means that it is kept for a recipient not seen yet.',
    seat: 'any',
    changes: true,
    input: sendInput,
    output: z.object({
      messages: z.array(recipient.extend({ id: z.int() }).meta(UNLISTED)),
      known: z.boolean(),
      delivery: z.string().describe('State of its notice'),
    }),
    run: (input, caller, call) =>
      call.finish(() => {
        const sent = sendMessage(deps, input, caller);
        return {
          messages: sent.map((row) => ({ id: row.id, ...toRecipient(row) })),
          known: sent.every((row) => addresses.isKnown(...readRecipient(row))),
          delivery: sent[0]?.delivery ?? 'none',
        };
      }),
    say({ messages: sent, known }) {
      const text = sent.map((each) => `message ${each.id} to ${sayRecipient(each)}`).join(', ');
      return known ? text : `${text}; no session of that name has been seen yet, so it is kept`;
    },
  });
}

function inboxTool(deps: MessageToolDeps) {
  const { messages } = deps;
  return tool({
    name: 'msg.inbox',
    about:
      'Read an inbox: unread messages, oldest first. Acknowledge each with msg_ack once you have handled it.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      session: name.optional().describe('Default: yours'),
      agent: name.optional().describe("Also the messages to this agent; default: your session's"),
      unread: z.boolean().optional().describe('Default true; false: read ones too'),
      limit: z.int().min(1).max(500).optional().describe('Default 50'),
      cursor: cursor.meta(UNLISTED),
    }),
    output: z.object({
      session: z.string().nullable(),
      messages: rows,
      unread: z.int(),
      read: z.int(),
      more: z.int(),
    }),
    say: ({ session, messages: shownOnes, unread, read, more }) =>
      [
        `${session ?? 'inbox'}: ${unread} unread, ${read} read`,
        ...shownOnes.map((each) => sayMessage(each as ReturnType<typeof toMessageEntry>)),
        ...sayMore(more),
      ].join('\n\n'),
    run(input, caller) {
      const reader = resolveReader(deps, input, caller);
      const onlyUnread = input.unread ?? true;
      const {
        rows: found,
        unread,
        read,
      } = messages.inbox(reader, {
        limit: input.limit ?? 50,
        unread: onlyUnread,
        cursor: parseNumberCursor(input.cursor),
      });
      const fitting = takePage(found);
      const last = fitting.at(-1);
      const more =
        last === undefined ? 0 : messages.countAfter(reader, { unread: onlyUnread, cursor: last.id });
      return { session: reader.session, messages: fitting, unread, read, more };
    },
  });
}

function acknowledgeTool(deps: MessageToolDeps) {
  const { clock, messages } = deps;
  return tool({
    name: 'msg.ack',
    about:
      'Acknowledge a message to you that you have handled. If several sessions could take it, the first one gets it.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({
      id: z.int().describe('Message id'),
      session: name.optional().describe('Recipient; default: yours'),
      agent: name.optional().describe("Recipient; default: your session's"),
      /** As a person, for any recipient; only for the Chair. */
      as_person: z.boolean().optional().meta(UNLISTED),
    }),
    output: z.object({ id: z.int(), acked_at: z.string(), acked_by: z.string() }),
    run: (input, caller, call) =>
      call.finish(() => {
        if (input.as_person && caller.seat !== 'chair')
          throw chairOnly('Acknowledges a message as a person', caller);
        const { id, acked_at, acked_by } = input.as_person
          ? messages.ackAs(input.id, caller.actor, by(caller))
          : messages.ack(input.id, resolveReader(deps, input, caller), by(caller));
        return { id, acked_at: rfc3339(acked_at ?? clock.now()), acked_by: acked_by ?? '' };
      }),
    say: ({ id, acked_by }) => `message ${id} acknowledged by ${acked_by}`,
  });
}

function staleTool({ clock, messages }: Pick<MessageToolDeps, 'clock' | 'messages'>) {
  return tool({
    name: 'msg.stale',
    about:
      'Alerts to or from you (the Chair: all) that have waited too long for an acknowledgement, oldest first.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      older_min: z.int().min(0).optional().describe('Minutes; default 15'),
    }),
    output: z.object({ messages: rows, more: z.int() }),
    say: ({ messages: found, more }) =>
      found.length === 0
        ? 'no alerts are waiting'
        : [
            ...found.map((each) => sayMessage(each as ReturnType<typeof toMessageEntry>)),
            ...(more === 0 ? [] : [`and ${more} newer: acknowledge these to see them`]),
          ].join('\n\n'),
    run({ older_min = 15 }, caller) {
      const at = clock.now() - older_min * 60_000;
      const whose = caller.seat === 'chair' ? null : { session: caller.sessionId, agent: null };
      const { rows: found, count } = messages.alertsBefore(at, { limit: 500, whose });
      const fitting = takePage(found);
      return { messages: fitting, more: count - fitting.length };
    },
  });
}
