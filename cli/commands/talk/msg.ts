import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import { type Api, type EngineClient, READING_WORDS } from '../../../engine/index.ts';
import { parseNumberId } from '../../arguments/number-id.ts';
import { readPrompt } from '../../arguments/prompt.ts';
import { type Command, type CommandContext, defineCommand, repeatArgument } from '../../command.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import type { PaintFunction } from '../../paint.ts';
import { formatFacts, formatRows } from '../../print.ts';

/** The recipient of a message: a session, a worker or an agent. */
interface Recipient {
  to_session?: string | undefined;
  to_worker?: string | undefined;
  to_agent?: string | undefined;
}

/** A message as `msg_inbox` returns it. */
interface Shown extends Recipient {
  id: number;
  kind: string;
  from_session: string | null;
  from_agent: string | null;
  body: string;
  parent_id: number | null;
  payload_path: string | null;
  at: string;
  acked_at: string | null;
}

interface Inbox {
  session: string | null;
  messages: readonly Shown[];
  unread: number;
  read: number;
  /** How many more there are. */
  more: number;
}

const nameRecipient = ({ to_session, to_worker, to_agent }: Recipient): string =>
  to_session ?? to_worker ?? to_agent ?? '-';

const send = defineCommand({
  name: 'msg send',
  about: 'send a message to a session, worker, agent, role or project',
  args: [{ name: 'body', about: 'the text; - reads standard input' }],
  flags: {
    toSession: {
      type: 'string',
      short: 't',
      value: 'session',
      about: 's-12, chair-3, a plain session, chair or chair@project',
    },
    toAgent: { type: 'string', value: 'preset', about: 'the first session of that agent to read it' },
    toWorker: { type: 'string', value: 'worker', about: 'a worker over its successive sessions' },
    toRole: {
      type: 'string',
      about: 'relative to the sender',
      choices: ['parent', 'child', 'sibling'],
    },
    toProject: { type: 'string', value: 'project', about: "that project's Chair" },
    kind: {
      type: 'string',
      short: 'k',
      about: 'kind of message (note)',
      choices: ['note', 'handoff', 'alert'],
    },
    replyTo: { type: 'number', short: 'r', value: 'id', about: 'message that this answers' },
    payload: { type: 'string', value: 'path', about: 'workspace file to attach' },
    session: { type: 'string', value: 'session', about: 'sender, if it is another session' },
  },
  examples: [
    'msg send "rebase on main first" --to-session s-12',
    'msg send "which port?" --to-role parent --kind alert',
    'msg send - --to-project api < notes.md',
  ],
  async run(context) {
    const { flags } = context;
    const { toSession, toAgent, toWorker, toRole, toProject, replyTo } = flags;
    if ([toSession, toAgent, toWorker, toRole, toProject, replyTo].every((each) => each === undefined)) {
      throw new SvcError('usage', 'missing recipient', {
        hint: 'one of --to-session, --to-agent, --to-worker, --to-role, --to-project, --reply-to; svc msg peers lists who is here',
      });
    }
    const body = await readPrompt(context.arg(0), context.stdin);
    const client = await context.engine();
    const sent = await client.call('msg.send', {
      body,
      to_session: flags.toSession,
      to_agent: flags.toAgent,
      to_worker: flags.toWorker,
      to_role: flags.toRole,
      to_project: flags.toProject,
      kind: flags.kind,
      parent_id: flags.replyTo,
      payload_path: flags.payload,
      from_session: flags.session,
    });
    context.result(sent, ({ messages }) =>
      messages.map((each) => `message ${each.id} to ${toPrintable(nameRecipient(each))}`).join('\n'),
    );
    if (!sent.known) context.note('no one with that name has been seen yet; the message is stored');
    await noteReading(context, client, sent.messages);
  },
});

/** Reports when each worker reads its message, and what to do instead for one that does not. */
async function noteReading(
  { note }: Pick<CommandContext, 'note'>,
  client: EngineClient,
  messages: readonly Recipient[],
): Promise<void> {
  const ids = messages.map(nameRecipient).filter((to) => /^s-\d+$/.test(to));
  if (ids.length === 0) return;
  for (const { session_id: id, reads_messages: reads } of await client.call('session.list', { ids }))
    note(
      reads === 'never'
        ? `${id} ${READING_WORDS.never}; svc worker follow-up ${id} "…" gives it more work`
        : `${id} ${READING_WORDS[reads]}`,
    );
}

function formatInbox({ session, messages, unread, read }: Inbox, paint: PaintFunction): string {
  const blocks = messages.map((each) => {
    const from = [each.from_session, each.from_agent].filter((name) => name !== null).join(', ');
    const facts = [
      `${each.id} ${each.kind}${each.acked_at === null ? '' : ' (read)'}`,
      `from ${from || '-'} to ${nameRecipient(each)}`,
      `${formatAge(each.at)} ago`,
      ...(each.parent_id === null ? [] : [`answers ${each.parent_id}`]),
      ...(each.payload_path === null ? [] : [`with ${each.payload_path}`]),
    ];
    const lines = toPrintable(each.body, { lines: true }).trimEnd().split('\n');
    const style = each.kind === 'alert' ? 'bad' : 'strong';
    return [
      paint(each.acked_at === null ? style : 'dim', toPrintable(facts.join(', '))),
      ...lines.map((line) => `  ${line}`),
    ].join('\n');
  });
  return [`${toPrintable(session ?? '-')}: ${unread} unread, ${read} read`, ...blocks].join('\n\n');
}

const inbox = defineCommand({
  name: 'msg inbox',
  about: 'read an inbox (by default your session’s)',
  details: ['A handoff is the report about a run that has ended.'],
  args: [{ name: 'session', about: 'whose inbox', optional: true, completes: 'session' }],
  flags: {
    all: { type: 'boolean', about: 'include read messages' },
    agent: { type: 'string', short: 'a', about: 'include mail to this agent' },
    ...definePageFlags(50),
  },
  examples: ['msg inbox', 'msg inbox s-12 --all'],
  async run(context) {
    const { all, agent } = context.flags;
    const [session] = context.args;
    const client = await context.engine();
    const wanted = { unread: !all, session, agent };
    let inbox: Inbox = { session: null, messages: [], unread: 0, read: 0, more: 0 };
    let shown: readonly Shown[] = [];
    await showPage(context, {
      standard: 50,
      async fetch(part) {
        inbox = await readInbox(client, { ...wanted, ...part });
        return inbox.messages;
      },
      count: async () => inbox.messages.length + inbox.more,
      getId: ({ id }) => id,
      describe: (messages) => ({
        ...inbox,
        messages,
        more: inbox.more + inbox.messages.length - messages.length,
      }),
      format(messages, paint) {
        shown = messages;
        return formatInbox({ ...inbox, messages }, paint);
      },
      empty: () => null,
    });
    if (session === undefined)
      await readHandoffs(
        client,
        shown
          .filter((each) => each.kind === 'handoff' && each.acked_at === null)
          .map(({ id }) => ({ id, agent })),
      );
    if (shown.length > 0 && inbox.unread > 0) context.note('svc msg ack <id> when it is dealt with');
  },
});

/** How much of an inbox the engine returns at once, which may be less for long messages. */
const MOST_OF_INBOX = 500;

/** Reads the requested part of an inbox, in as many calls as needed. */
async function readInbox(
  client: EngineClient,
  { limit, ...wanted }: { limit: number; cursor?: string } & Api['msg.inbox']['input'],
): Promise<Inbox> {
  const messages: Shown[] = [];
  for (let cursor = wanted.cursor; ; cursor = String(messages.at(-1)?.id)) {
    const part = { limit: Math.min(MOST_OF_INBOX, limit - messages.length), cursor };
    const read = await client.call('msg.inbox', { ...wanted, ...part });
    messages.push(...read.messages);
    if (read.more === 0 || messages.length >= limit) return { ...read, messages };
  }
}

const ack = defineCommand({
  name: 'msg ack',
  about: 'acknowledge a message as its recipient',
  args: repeatArgument([{ name: 'id', about: 'number of the message', completes: 'message:unread' }]),
  repeats: true,
  flags: {
    session: { type: 'string', value: 'session', about: 'the recipient, when that is not you' },
    agent: { type: 'string', short: 'a', about: 'the recipient, when it was sent to an agent' },
  },
  examples: ['msg ack 31', 'msg ack 31 32 35'],
  async run(context) {
    const { session, agent } = context.flags;
    const client = await context.engine();
    const acked = await client.call('msg.ack', {
      id: parseNumberId(context.args[0], 'message', 'svc msg list'),
      session,
      agent,
    });
    context.result(acked, ({ id, acked_by }) => `message ${id} acknowledged by ${toPrintable(acked_by)}`);
  },
});

const list = defineCommand({
  name: 'msg list',
  about: 'list the messages of everyone, newest first',
  flags: {
    unread: { type: 'boolean', short: 'u', about: 'only unread messages' },
    ...definePageFlags(100),
  },
  examples: ['msg list', 'msg list --unread'],
  async run(context) {
    const { unread } = context.flags;
    const client = await context.engine();
    await showPage(context, {
      standard: 100,
      fetch: (part) => client.call('msg.list', { unread, ...part }),
      count: () => client.call('msg.count', { unread }),
      getId: (each) => each.id,
      columns: [
        { head: 'id', value: (each) => each.id, right: true },
        {
          head: 'kind',
          value: (each) => each.kind,
          style: (each) => (each.kind === 'alert' ? 'bad' : undefined),
        },
        { head: 'from', value: (each) => each.from_session ?? each.from_agent },
        { head: 'to', value: (each) => each.to_session ?? each.to_worker ?? each.to_agent },
        { head: 'age', value: (each) => formatAge(each.created_at), right: true },
        { head: 'read by', value: (each) => each.acked_by },
        { head: 'notice', value: (each) => each.delivery },
        { head: 'text', value: (each) => each.body.trim().split('\n', 1)[0], flexible: true },
      ],
      empty: 'no messages; svc msg send writes one',
    });
  },
});

const show = defineCommand({
  name: 'msg show',
  about: 'show a message with its full text and the state of its notice',
  args: [{ name: 'id', about: 'number of the message', completes: 'message' }],
  flags: outputFlags,
  examples: ['msg show 31'],
  async run(context) {
    const id = parseNumberId(context.args[0], 'message', 'svc msg list');
    const client = await context.engine();
    const [message] = await client.call('msg.list', { ids: [id] });
    if (message === undefined) {
      throw new SvcError('not_found', `no message ${id}`, {
        hint: 'svc msg list shows the stored messages; acknowledged ones are removed after a while',
      });
    }
    context.result(message, (each) =>
      [
        formatFacts(
          [
            ['message', `${each.id} ${each.kind}`, each.kind === 'alert' ? 'bad' : 'strong'],
            ['from', each.from_session ?? each.from_agent],
            ['to', each.to_session ?? each.to_worker ?? each.to_agent],
            ['sent', formatLocalTime(each.created_at)],
            ['answers', each.parent_id],
            ['with', each.payload_path],
            ['read by', each.acked_by],
            ['notice', each.last_error === null ? each.delivery : `${each.delivery}: ${each.last_error}`],
          ],
          context.paint,
        ),
        '',
        toPrintable(each.body, { lines: true }).trimEnd(),
      ].join('\n'),
    );
    if (message.kind === 'handoff' && message.acked_at === null && isToChair(message.to_session))
      await readHandoffs(client, [{ id, as_person: true }]);
  },
});

const isToChair = (address: string | null): boolean => address !== null && /^chair(?:$|[@-])/.test(address);

/** Handoffs report and ask for nothing: showing one marks it as read. */
async function readHandoffs(
  client: EngineClient,
  shown: readonly { id: number; agent?: string | undefined; as_person?: true }[],
): Promise<void> {
  // A caller who may change nothing, or is not the first, has still seen it.
  for (const each of shown) await client.call('msg.ack', each).catch(() => undefined);
}

const peers = defineCommand({
  name: 'msg peers',
  about: 'list the current participants, who can receive messages',
  examples: ['msg peers'],
  async run(context) {
    const client = await context.engine();
    const { peers: found } = await client.call('msg.peers', {});
    const text = await formatRows(
      found,
      [
        { head: 'session', value: (peer) => peer.session_id },
        { head: 'seat', value: (peer) => peer.seat },
        { head: 'agent', value: (peer) => peer.agent },
        { head: 'project', value: (peer) => peer.project },
        { head: 'worker', value: (peer) => peer.worker_id },
        { head: 'task', value: (peer) => peer.task_id },
        { head: 'since', value: (peer) => formatAge(peer.since), right: true },
        { head: 'title', value: (peer) => peer.title, flexible: true },
      ],
      context.stdout,
    );
    context.result(found, () => text);
    if (found.length === 0) context.note('no participants');
  },
});

export const msgCommands: readonly Command[] = [send, inbox, show, ack, list, peers];
