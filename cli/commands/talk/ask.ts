import { randomUUID } from 'node:crypto';
import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, formatLocalTime, localizeTimes, toPrintable } from '../../../engine/core/base/text.ts';
import { type Api, type Ask, connectToEngine, type WireValue } from '../../../engine/index.ts';
import { parseNumberId } from '../../arguments/number-id.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { createEngineLink } from '../../link.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import { findStateStyle } from '../../paint.ts';
import { formatFacts } from '../../print.ts';
import { getDaemonCommand } from '../../self.ts';

type AskView = WireValue<Ask>;

/** The result of a question, as the `ask` tool returns it. */
interface Outcome {
  id: number;
  status: 'answered' | 'timeout';
  answer: string | null;
  by: string | null;
  symbol_ref: { path: string; line: number | null } | null;
  note: string | null;
}

const idArg = { name: 'id', about: 'number of the ask', completes: 'question' } as const;

async function findAsk(context: Pick<CommandContext, 'engine'>, text: string | undefined): Promise<AskView> {
  const id = parseNumberId(text, 'ask', 'svc ask list --status all');
  const client = await context.engine();
  const {
    asks: [ask],
  } = await client.call('ask.list', { ids: [id] });
  if (ask) return ask;
  throw new SvcError('not_found', `no ask ${id}`, { hint: 'svc ask list --status all shows them' });
}

const formatPlace = (ref: Outcome['symbol_ref']): string | null =>
  ref === null ? null : `${ref.path}${ref.line === null ? '' : `:${ref.line}`}`;

const list = defineCommand({
  name: 'ask list',
  about: 'list questions that wait for an answer, oldest first',
  flags: {
    status: {
      type: 'string',
      short: 's',
      about: 'which questions (open)',
      choices: ['open', 'answered', 'timeout', 'all'],
    },
    ...definePageFlags(50),
  },
  examples: ['ask list', 'ask list --status answered'],
  async run(context) {
    const { status = 'open' } = context.flags;
    const client = await context.engine();
    let total = 0;
    await showPage(context, {
      standard: 50,
      async fetch(part) {
        const { asks, more = 0 } = await client.call('ask.list', { status, ...part });
        total = asks.length + more;
        return asks;
      },
      count: async () => total,
      getId: (each) => each.id,
      columns: [
        { head: 'id', value: (each) => each.id },
        { head: 'status', value: (each) => each.status, style: (each) => findStateStyle(each.status) },
        { head: 'from', value: (each) => each.from_session },
        { head: 'to', value: (each) => each.to_session },
        { head: 'age', value: (each) => formatAge(each.created_at), right: true },
        { head: 'until', value: (each) => formatLocalTime(each.expires_at) },
        { head: 'question', value: (each) => each.question, flexible: true },
      ],
      empty: status === 'open' ? 'no open questions' : 'no asks',
    });
  },
});

const show = defineCommand({
  name: 'ask show',
  about: 'show a question with its options, and its answer',
  args: [idArg],
  flags: outputFlags,
  examples: ['ask show 31'],
  async run(context) {
    const ask = await findAsk(context, context.args[0]);
    const splitLines = (text: string): string[] => toPrintable(text, { lines: true }).split('\n');
    context.result(ask, () =>
      [
        formatFacts(
          [
            ['ask', `${ask.id} ${ask.status}`, findStateStyle(ask.status)],
            ['from', ask.from_session],
            ['task', ask.task_id],
            ['to', ask.to_session],
            ['asked', formatLocalTime(ask.created_at)],
            ['until', ask.status === 'open' ? formatLocalTime(ask.expires_at) : null],
            [
              'answered',
              ask.answered_at === null ? null : `${formatLocalTime(ask.answered_at)} by ${ask.answered_by}`,
            ],
            ['place', formatPlace(ask.symbol_ref)],
          ],
          context.paint,
        ),
        '',
        ...splitLines(ask.question),
        ...(ask.context === null ? [] : ['', ...splitLines(ask.context)]),
        ...ask.options.map((option, index) => `  ${index + 1}. ${toPrintable(option)}`),
        ...(ask.answer === null
          ? []
          : ['', context.paint('strong', 'answer'), ...splitLines(ask.answer).map((line) => `  ${line}`)]),
      ].join('\n'),
    );
  },
});

export const answerCommand = defineCommand({
  name: 'ask answer',
  about: 'answer a question; the asker continues immediately',
  args: [
    { ...idArg, completes: 'question:open' },
    { name: 'answer', about: 'the answer, or the number of an option', rest: true },
  ],
  flags: {
    path: { type: 'string', value: 'file', about: 'the file that the answer is about' },
    line: { type: 'number', about: 'its line' },
    symbol: { type: 'string', about: 'a symbol in that file, instead of the line' },
    project: { type: 'string', about: 'registered project that the file is in' },
  },
  examples: ['ask answer 31 2', 'ask answer 31 use the second one --path src/ids.ts --line 12'],
  async run(context) {
    const { path, line, symbol, project } = context.flags;
    const ask = await findAsk(context, context.args[0]);
    const given = context.args.slice(1).join(' ');
    // Sends the text of the option that a number stands for.
    const numbered = /^\d+$/.test(given) ? ask.options[Number(given) - 1] : undefined;
    const text = ask.options.includes(given) ? given : (numbered ?? given);
    const ref = { path, line, symbol, project };
    const isPointed = Object.values(ref).some((value) => value !== undefined);
    const client = await context.engine();
    const answered = await client.call('ask.answer', {
      id: ask.id,
      answer: text,
      ...(isPointed ? { symbol_ref: ref } : {}),
    });
    context.result(answered, ({ id, by, symbol_ref }) => {
      const at = formatPlace(symbol_ref);
      return `ask ${id} is answered by ${by}: ${toPrintable(text)}${at === null ? '' : ` (${toPrintable(at)})`}`;
    });
  },
});

const open = defineCommand({
  name: 'ask open',
  about: 'ask the Chair, or a session, and print the answer once it is there',
  args: [{ name: 'question', about: 'the question', rest: true }],
  flags: {
    option: { type: 'string', short: 'o', multiple: true, about: 'one of the allowed answers' },
    context: { type: 'string', about: 'background needed to answer' },
    timeout: { type: 'number', value: 'seconds', about: 'how long to wait (600)' },
    toSession: { type: 'string', short: 't', value: 'session', about: 'ask this session' },
    toProject: { type: 'string', value: 'project', about: "ask this project's Chair" },
    noWait: { type: 'boolean', about: 'do not wait; svc ask show has the answer later' },
  },
  examples: ['ask open "Keep the old name?" -o yes -o no', 'ask open "Which port?" --timeout 3600'],
  async run(context) {
    const { flags } = context;
    const input = {
      question: context.args.join(' '),
      ...(flags.option.length === 0 ? {} : { options: flags.option }),
      context: flags.context,
      timeout_sec: flags.timeout,
      to_session: flags.toSession,
      to_project: flags.toProject,
    };
    if (flags.noWait) {
      const client = await context.engine();
      const ask = await client.call('ask.open', input);
      context.result(ask, ({ id, to_session }) => `ask ${id} waits for ${to_session}; svc ask show ${id}`);
      return 0;
    }
    const outcome = await waitForAnswer(context, input);
    const { id, status, by, symbol_ref } = outcome;
    context.result(outcome, () =>
      status === 'answered' ? toPrintable(outcome.answer ?? '', { lines: true }) : '',
    );
    const at = formatPlace(symbol_ref);
    context.note(
      status === 'answered'
        ? `ask ${id} was answered by ${by}${at === null ? '' : `, see ${toPrintable(at)}`}`
        : `ask ${id}: timeout, no answer`,
    );
    return status === 'answered' ? 0 : EXIT.failure;
  },
});

/** Asks and waits. If the engine stops in the meantime, the next engine gets the same key, which finds the same ask. */
async function waitForAnswer(
  { signal, cwd, env, note }: Pick<CommandContext, 'signal' | 'cwd' | 'env' | 'note'>,
  input: Api['ask']['input'],
): Promise<Outcome> {
  let told = '';
  const onProgress = (message: string): void => {
    if (message !== told) note(toPrintable(localizeTimes(message)));
    told = message;
  };
  const link = createEngineLink((start) =>
    // Waits for an engine that someone has stopped, instead of restarting it against their will.
    connectToEngine({ cwd, env, daemon: getDaemonCommand(), afterCrash: start === 'after_crash', signal }),
  );
  try {
    return await link.call('ask', input, { key: randomUUID(), signal, onProgress });
  } finally {
    await link.close();
  }
}

export const askCommands: readonly Command[] = [list, show, answerCommand, open];
