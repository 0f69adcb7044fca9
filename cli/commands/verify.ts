import { randomUUID } from 'node:crypto';
import { EXIT, localTime, printable, type Verification, type Wire } from '../../engine/index.ts';
import { type Command, command } from '../command.ts';
import { facts } from '../print.ts';

type View = Wire<Verification>;

const sessionArg = [
  { name: 'session', about: 'session id, or a unique prefix', completes: 'session' },
] as const;

/** A text of the worker's, each further line below the first. */
const lines = (text: string, indent: string): string =>
  printable(text, { lines: true }).trimEnd().split('\n').join(`\n${indent}`);

const item = (word: string, text: string, note: string | null): string =>
  `  ${word.padEnd(10)}  ${lines(text, ' '.repeat(14))}${note === null ? '' : `\n${' '.repeat(14)}(${lines(note, ' '.repeat(15))})`}`;

const section = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : ['', title, ...items];

function shown(view: View): string {
  const { rerun } = view;
  return [
    facts([
      ['session', `${view.session_id} ${view.state}`],
      ['task', view.task_id],
      [
        'reported',
        view.reported_at === null ? null : `${localTime(view.reported_at)} by ${view.reported_by}`,
      ],
      ['commit', view.head_commit?.slice(0, 10)],
      ['summary', view.summary],
    ]),
    ...section(
      'why not verified',
      view.reasons.map((reason) => `  ${lines(reason, '  ')}`),
    ),
    ...section(
      'criteria',
      view.criteria.map((each) => item(each.status.replace('_', ' '), each.criterion, each.note)),
    ),
    ...section(
      'tests',
      view.tests.map((each) => item(each.result, each.command, each.note)),
    ),
    ...section(
      'symbols',
      view.symbols.map((each) =>
        item(each.exists ? 'is there' : 'missing', `${each.path} ${each.symbol ?? ''}`, null),
      ),
    ),
    ...section(
      rerun === null ? '' : `run again ${localTime(rerun.at)} by ${printable(rerun.by)}`,
      (rerun?.results ?? []).flatMap(({ agrees, command: line, exit_code, output }) => [
        item(
          agrees ? 'agrees' : 'disagrees',
          line,
          exit_code === null ? 'no exit code' : `exit code ${exit_code}`,
        ),
        ...(agrees || output.trim() === '' ? [] : [`    ${lines(output, '    ')}`]),
      ]),
    ),
  ].join('\n');
}

const show = command({
  name: 'verify show',
  about: 'show the evidence of a session, and what it is worth now',
  args: sessionArg,
  async run(context) {
    const client = await context.engine();
    const view = await client.call<View>('verify.show', { session: context.args[0] });
    context.result(view, shown);
  },
});

const rerun = command({
  name: 'verify rerun',
  about: 'run the tests that an ended session reported again, in its worktree',
  args: sessionArg,
  flags: { timeout: { type: 'number', value: 'seconds', about: 'how long each may take; 600' } },
  examples: ['verify rerun s-12', 'verify rerun s-12 --timeout 1800'],
  async run(context) {
    const { timeout } = context.flags;
    const client = await context.engine();
    const view = await client.run<View>(
      'verify.rerun',
      { session: context.args[0], ...(timeout === undefined ? {} : { timeout_sec: timeout }) },
      {
        key: randomUUID(),
        signal: context.signal,
        onProgress: (message) => context.note(printable(message)),
      },
    );
    context.result(view, shown);
    return view.rerun?.agrees === false ? EXIT.conflict : 0;
  },
});

export const verifyCommands: readonly Command[] = [show, rerun];
