import { EXIT } from '../../../engine/core/base/errors.ts';
import { formatCount, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import type { ListedSource, SourceTrial, WireValue } from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';
import { definePageFlags, showPage } from '../../pages.ts';

type Source = WireValue<ListedSource>;
type Trial = WireValue<SourceTrial>;

const repositoryArg = [
  { name: 'repository', about: 'owner and name; all of sources by default', optional: true },
] as const;

const formatSource = ({ repository, label, polled_at, next_at, problem, ignored }: Source): string =>
  [
    `${toPrintable(repository)}  label ${toPrintable(label)}  ${polled_at === null ? 'not polled yet' : `polled ${formatLocalTime(polled_at)}`}${next_at === null ? '' : `, next ${formatLocalTime(next_at)}`}`,
    ...(problem === null ? [] : [`  fails: ${toPrintable(problem)}`]),
    ...ignored.map(({ ref, reason }) => `  no task: ${toPrintable(`${ref}: ${reason}`)}`),
  ].join('\n');

const formatSources = (sources: readonly Source[]): string => sources.map(formatSource).join('\n');

const list = defineCommand({
  name: 'source list',
  about: 'list the repositories that are polled for work, and why one fails',
  flags: definePageFlags(100),
  examples: ['source list'],
  async run(context) {
    const client = await context.engine();
    let found: readonly Source[] = [];
    await showPage(context, {
      standard: 100,
      async fetch(part) {
        found = await client.call('source.list', part);
        return found;
      },
      count: async () => (await client.call('source.list', {})).length,
      getId: ({ id }) => id,
      columns: [
        { head: 'repository', value: ({ repository }) => repository },
        { head: 'label', value: ({ label }) => label },
        {
          head: 'polled',
          value: ({ polled_at: at }) => (at === null ? null : formatLocalTime(at)),
        },
        { head: 'next', value: ({ next_at: at }) => (at === null ? null : formatLocalTime(at)) },
        { head: 'problem', value: ({ problem }) => problem, flexible: true },
      ],
      empty: () => 'no sources: docs/automate/receiver.md says how to add one',
    });
    for (const { ignored } of found)
      for (const { ref, reason } of ignored) context.note(`no task: ${toPrintable(`${ref}: ${reason}`)}`);
  },
});

const poll = defineCommand({
  name: 'source poll',
  about: 'poll the repositories now, all or one',
  args: repositoryArg,
  examples: ['source poll', 'source poll acme/shop'],
  async run(context) {
    const client = await context.engine();
    const [repository] = context.args;
    const polled = await client.call('source.poll', repository === undefined ? {} : { repository });
    context.result(polled, formatSources);
    return polled.some(({ problem }) => problem !== null) ? EXIT.conflict : 0;
  },
});

const formatTrial = ({ id, found, earlier }: Trial): string =>
  [
    `${toPrintable(id)}: ${found.length === 0 ? 'nothing new' : formatCount(found.length, 'new task')}`,
    ...found.map(({ kind, ref, title, author }) =>
      toPrintable(`  ${kind} ${ref} by ${author ?? 'an unknown author'}: ${title}`),
    ),
    ...(earlier.length === 0
      ? []
      : [
          `  not taken, since they had the label before: ${earlier.map((number) => `#${number}`).join(', ')}; remove the label and add it again`,
        ]),
  ].join('\n');

const test = defineCommand({
  name: 'source test',
  about: 'ask the code host what a poll would turn into tasks now; creates nothing',
  args: repositoryArg,
  examples: ['source test acme/shop'],
  async run(context) {
    const client = await context.engine();
    const [repository] = context.args;
    const tested = await client.call('source.test', repository === undefined ? {} : { repository });
    context.result(tested, (trials) => trials.map(formatTrial).join('\n'));
  },
});

export const sourceCommands: readonly Command[] = [list, poll, test];
