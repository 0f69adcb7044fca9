import { randomUUID } from 'node:crypto';
import { EXIT } from '../../../engine/core/base/errors.ts';
import { formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import { VERIFICATION_WORDS, type Verification, type WireValue } from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import type { PaintFunction, TextStyle } from '../../paint.ts';
import { formatFacts } from '../../print.ts';

type View = WireValue<Verification>;

const STYLES: Readonly<Partial<Record<View['state'], TextStyle>>> = {
  verified: 'good',
  disagrees: 'bad',
  stale: 'warn',
};

const sessionArg = [
  { name: 'session', about: 'session id, or a unique prefix', completes: 'session' },
] as const;

/** Formats a worker's text, with further lines indented below the first. */
const indentLines = (text: string, indent: string): string =>
  toPrintable(text, { lines: true }).trimEnd().split('\n').join(`\n${indent}`);

const formatItem = (word: string, text: string, note: string | null): string =>
  `  ${word.padEnd(10)}  ${indentLines(text, ' '.repeat(14))}${note === null ? '' : `\n${' '.repeat(14)}(${indentLines(note, ' '.repeat(15))})`}`;

const formatSection = (title: string, items: readonly string[]): string[] =>
  items.length === 0 ? [] : ['', title, ...items];

function formatEvidence(view: View, paint: PaintFunction): string {
  const { rerun } = view;
  return [
    formatFacts(
      [
        [
          'session',
          `${view.session_id} ${view.state}: ${VERIFICATION_WORDS[view.state]}`,
          STYLES[view.state],
        ],
        ['task', view.task_id],
        [
          'reported',
          view.reported_at === null ? null : `${formatLocalTime(view.reported_at)} by ${view.reported_by}`,
        ],
        ['commit', view.head_commit?.slice(0, 10)],
        ['summary', view.summary],
        ['rerun hash', view.rerun_hash],
      ],
      paint,
    ),
    ...formatSection(
      'why not verified',
      view.reasons.map((reason) => `  ${indentLines(reason, '  ')}`),
    ),
    ...formatSection(
      'criteria',
      view.criteria.map((each) => formatItem(each.status.replace('_', ' '), each.criterion, each.note)),
    ),
    ...formatSection(
      'tests',
      view.tests.map((each) => formatItem(each.result, each.command, each.note)),
    ),
    ...formatSection(
      "the repository's own checks",
      view.checks.map((each) => `  ${indentLines(each, '  ')}`),
    ),
    ...formatSection(
      'symbols',
      view.symbols.map((each) =>
        formatItem(each.exists ? 'is there' : 'missing', `${each.path} ${each.symbol ?? ''}`, null),
      ),
    ),
    ...formatSection(
      rerun === null
        ? ''
        : `rerun ${formatLocalTime(rerun.at)} by ${toPrintable(rerun.by)}${rerun.on === null ? '' : ` on ${toPrintable(rerun.on)}`} at ${rerun.head?.slice(0, 10) ?? 'an unknown commit'}`,
      (rerun?.results ?? []).flatMap(({ agrees, command: line, exit_code, output }) => [
        formatItem(
          agrees ? 'agrees' : 'disagrees',
          line,
          exit_code === null ? 'no exit code' : `exit code ${exit_code}`,
        ),
        ...(agrees || output.trim() === '' ? [] : [`    ${indentLines(output, '    ')}`]),
      ]),
    ),
  ].join('\n');
}

const show = defineCommand({
  name: 'verify show',
  about: 'show the evidence of a session, and whether it still holds',
  args: sessionArg,
  flags: outputFlags,
  examples: ['verify show s-12'],
  async run(context) {
    const client = await context.engine();
    const view = await client.call('verify.status', { session: context.arg(0) });
    context.result(view, (shown) => formatEvidence(shown, context.paint));
  },
});

const rerun = defineCommand({
  name: 'verify rerun',
  about: 'rerun the tests that an ended session reported, in a clean checkout and the same sandbox',
  args: sessionArg,
  flags: {
    hash: {
      type: 'string',
      value: 'sha256',
      about: 'only if the rerun hash is still this; verify show prints it',
    },
    timeout: { type: 'number', value: 'seconds', about: 'time limit of each test (600)' },
  },
  examples: ['verify rerun s-12', 'verify rerun s-12 --timeout 1800'],
  async run(context) {
    const { hash, timeout } = context.flags;
    const client = await context.engine();
    const view = await client.run(
      'verify.rerun',
      { session: context.arg(0), hash, timeout_sec: timeout },
      {
        key: randomUUID(),
        signal: context.signal,
        onProgress: (message) => context.note(toPrintable(message)),
      },
    );
    context.result(view, (shown) => formatEvidence(shown, context.paint));
    return view.rerun?.agrees === false ? EXIT.conflict : 0;
  },
});

/** Reads a criterion by its number or its text, as `verify_report` takes it. */
const readCriterion = (status: 'met' | 'not_met') => (given: string) => ({
  ...(/^[1-9]\d{0,3}$/.test(given) ? { index: Number(given) } : { criterion: given }),
  status,
});

const report = defineCommand({
  name: 'verify report',
  about: 'report evidence for a session (your own)',
  args: [{ ...sessionArg[0], optional: true }],
  flags: {
    met: {
      type: 'string',
      value: 'criterion',
      multiple: true,
      about: 'number or text of a criterion that is met',
    },
    unmet: {
      type: 'string',
      value: 'criterion',
      multiple: true,
      about: 'number or text of a criterion that is not met',
    },
    passed: { type: 'string', value: 'command', multiple: true, about: 'a test that passed' },
    failed: { type: 'string', value: 'command', multiple: true, about: 'a test that failed' },
    skipped: { type: 'string', value: 'command', multiple: true, about: 'a test that was not run' },
    place: { type: 'string', value: 'file', multiple: true, about: 'where the work is' },
    summary: { type: 'string', short: 's', about: 'what was done, for the reviewer' },
  },
  examples: ['verify report --met 1 --met 2 --passed "npm test" --summary "the parser is new"'],
  async run(context) {
    const { args, flags } = context;
    const tests = (['passed', 'failed', 'skipped'] as const).flatMap((result) =>
      flags[result].map((line) => ({ command: line, result })),
    );
    const client = await context.engine();
    const told = await client.call('verify.report', {
      session: args[0],
      summary: flags.summary,
      criteria: [...flags.met.map(readCriterion('met')), ...flags.unmet.map(readCriterion('not_met'))],
      symbols: flags.place.map((path) => ({ path })),
      tests,
    });
    context.result(told, ({ session, state, reasons }) =>
      [
        `the evidence of ${session} is ${state}: ${VERIFICATION_WORDS[state]}`,
        ...reasons.map((reason) => `  ${indentLines(reason, '  ')}`),
      ].join('\n'),
    );
  },
});

export const verifyCommands: readonly Command[] = [show, report, rerun];
