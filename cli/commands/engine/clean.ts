import { formatCount } from '../../../engine/core/base/text.ts';
import { parseOlder } from '../../arguments/older.ts';
import { type Command, defineCommand } from '../../command.ts';
import { formatRows } from '../../print.ts';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

function formatSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1000)));
  const amount = bytes / 1000 ** step;
  return `${step === 0 || amount >= 10 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
}

const formatAgeOf = (ms: number | null): string => {
  if (ms === null) return 'never';
  return ms < 86_400_000
    ? formatCount(Math.round(ms / 3_600_000), 'hour')
    : formatCount(Math.round(ms / 86_400_000), 'day');
};

const clean = defineCommand({
  name: 'clean',
  about: 'remove old finished data: events, ended tasks, logs, saved commits; never unmerged work',
  flags: {
    older: {
      type: 'string',
      value: 'age',
      about: 'minimum age, such as 90d (the retain keys)',
    },
    dryRun: { type: 'boolean', short: 'n', about: 'only print what would be removed' },
  },
  examples: ['clean --dry-run', 'clean --older 90d'],
  async run(context) {
    const { older, dryRun } = context.flags;
    const client = await context.engine();
    const cleaning = await client.call('data.clean', {
      ...(older === undefined ? {} : { older_sec: parseOlder(older) }),
      dry_run: dryRun,
    });
    const { kinds, database, shrinks } = cleaning;
    const text = await formatRows(
      kinds,
      [
        { head: 'what', value: ({ label }) => label },
        { head: 'older than', value: ({ age_ms }) => formatAgeOf(age_ms), right: true },
        { head: dryRun ? 'would be removed' : 'removed', value: ({ count }) => count, right: true },
        {
          head: 'about',
          value: ({ bytes, key }) => (/refs|discarded/.test(key) ? '-' : formatSize(bytes)),
          right: true,
        },
      ],
      context.stdout,
    );
    context.result(cleaning, () => text);
    if (database !== null && database.before !== database.after)
      context.note(
        `the database shrank from ${formatSize(database.before)} to ${formatSize(database.after)}`,
      );
    if (!shrinks)
      context.note(
        'the database was created by an earlier svc and cannot shrink; freed space in it is reused',
      );
  },
});

export const cleanCommands: readonly Command[] = [clean];
